//! The seam to confinement: starts a program with limited access to files and network.
//!
//! `ruling` decides which access a command gets; an implementation of [`Confiner`] enforces it.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use attache_domain::{Access, AccessLevel};
use tokio::process::Child;

use crate::Workspace;

/// What the system can enforce around a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Confinement {
    /// Files outside the granted ones can be neither read nor written.
    pub files: bool,
    /// Single paths inside a writable folder can be kept read-only.
    pub protected_paths: bool,
    /// The network can be closed, and opened for single hosts.
    pub network: bool,
    /// What is missing and why, each in a few words.
    pub gaps: Vec<String>,
}

impl Confinement {
    /// Everything can be enforced.
    pub fn full() -> Self {
        Self { files: true, protected_paths: true, network: true, gaps: Vec::new() }
    }

    /// Whether a command can run at this level without approval.
    pub fn holds(&self, level: AccessLevel) -> bool {
        match level {
            AccessLevel::Look => self.files && self.network,
            AccessLevel::Work => self.files && self.network && self.protected_paths,
            AccessLevel::Open => true,
        }
    }

    /// The part of `level` that is not enforced, in words.
    pub fn gap(&self, level: AccessLevel) -> Option<String> {
        (level != AccessLevel::Open && !self.gaps.is_empty()).then(|| self.gaps.join("; "))
    }
}

/// Starts programs confined.
pub trait Confiner: fmt::Debug + Send + Sync + 'static {
    fn confinement(&self) -> &Confinement;

    /// How to start `program` within its access; at level open only resource limits are set. Fails rather than grants more.
    fn confine(&self, program: ConfinedProgram<'_>) -> io::Result<Launch>;

    /// How to start `program` unconfined, with resource limits, and so that it ends with the server where possible.
    fn supervise(&self, program: ConfinedProgram<'_>) -> io::Result<Launch> {
        Ok(Launch::plain(program))
    }
}

/// A program to start.
#[derive(Debug, Clone)]
pub struct ConfinedProgram<'a> {
    pub name: &'a str,
    pub arguments: Vec<String>,
    pub workspace: &'a Workspace,
    pub access: &'a Access,
    pub input: ProgramInput,
}

/// The standard input of a confined program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramInput {
    /// Nothing.
    Empty,
    /// That of the server.
    Inherited,
}

/// The command to start in its place.
#[derive(Debug)]
pub struct Launch {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    /// Additional variables, which replace the program's own.
    pub environment: Vec<(String, String)>,
    /// Its standard input, where a specific one is needed.
    pub input: Option<OwnedFd>,
    /// Keep it while the program runs.
    pub guard: Option<Arc<dyn ConfinementGuard>>,
    /// A watcher process stays beside the program: it starts the session, and ends all of the program's processes when the
    /// server dies.
    pub supervised: bool,
    /// A process that was started ahead and can run the program at once, instead of a new one.
    pub ready: Option<Box<dyn ReadyProcess>>,
}

impl Launch {
    /// The program, unchanged.
    pub fn plain(program: ConfinedProgram<'_>) -> Self {
        Self {
            program: program.name.into(),
            arguments: program.arguments.into_iter().map(OsString::from).collect(),
            environment: Vec::new(),
            input: None,
            guard: None,
            supervised: false,
            ready: None,
        }
    }
}

/// A process that waits for the one program it will run.
pub trait ReadyProcess: fmt::Debug + Send {
    /// Runs the program of `launch`. After an error the program has not started; start it as `launch` says.
    fn run(self: Box<Self>, launch: &Launch, start: ReadyStart<'_>) -> io::Result<Child>;
}

/// What a waiting process needs to know besides the [`Launch`].
#[derive(Debug, Clone, Copy)]
pub struct ReadyStart<'a> {
    pub directory: &'a Path,
    /// The program's environment, without that of the [`Launch`].
    pub environment: &'a [(String, String)],
    /// Where the program writes its output and its errors.
    pub output: BorrowedFd<'a>,
    /// Whether the output is a terminal, which becomes the controlling one of the program.
    pub terminal: bool,
}

/// The name of watcher processes in the kernel's list.
pub const WATCHER_NAME: &str = "attache-watcher";

/// Serves a confined program until it is dropped.
pub trait ConfinementGuard: fmt::Debug + Send + Sync {
    /// What was blocked so far, each in a few words.
    fn blocked(&self) -> Vec<String>;
}

/// Confines nothing, and reports that.
#[derive(Debug, Default)]
pub struct NoConfinement(Confinement);

impl NoConfinement {
    pub fn because(why: impl Into<String>) -> Self {
        Self(Confinement { gaps: vec![why.into()], ..Confinement::default() })
    }
}

impl Confiner for NoConfinement {
    fn confinement(&self) -> &Confinement {
        &self.0
    }

    fn confine(&self, program: ConfinedProgram<'_>) -> io::Result<Launch> {
        Ok(Launch::plain(program))
    }
}
