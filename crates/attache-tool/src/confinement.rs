//! The seam to confinement: how a program is started so that it reaches no more than it was given.
//!
//! Not here: which access a command gets (`ruling`) and how the kernel enforces it (an implementation of [`Confiner`]).

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
    /// Files outside those that are given can be neither read nor written.
    pub files: bool,
    /// Single paths inside a writable folder can be kept read-only.
    pub protected_paths: bool,
    /// The network can be closed, and opened for single hosts.
    pub network: bool,
    /// What is missing, and why; each in a few words.
    pub gaps: Vec<String>,
}

impl Confinement {
    /// Everything can be enforced.
    pub fn full() -> Self {
        Self { files: true, protected_paths: true, network: true, gaps: Vec::new() }
    }

    /// Whether a command can run at this level without anyone being asked.
    pub fn holds(&self, level: AccessLevel) -> bool {
        match level {
            AccessLevel::Look => self.files && self.network,
            AccessLevel::Work => self.files && self.network && self.protected_paths,
            AccessLevel::Open => true,
        }
    }

    /// What of `level` is not enforced, in words.
    pub fn gap(&self, level: AccessLevel) -> Option<String> {
        (level != AccessLevel::Open && !self.gaps.is_empty()).then(|| self.gaps.join("; "))
    }
}

/// Starts programs confined.
pub trait Confiner: fmt::Debug + Send + Sync + 'static {
    fn confinement(&self) -> &Confinement;

    /// How to start `program` so that it reaches no more than it may; at level open only limits are set. Fails rather
    /// than starting it with more.
    fn confine(&self, program: ConfinedProgram<'_>) -> io::Result<Launch>;

    /// How to start `program` without any confinement, so that it still keeps the limits and ends with the server where
    /// that can be done.
    fn supervise(&self, program: ConfinedProgram<'_>) -> io::Result<Launch> {
        Ok(Launch::plain(program))
    }
}

/// A program that is to be started.
#[derive(Debug, Clone)]
pub struct ConfinedProgram<'a> {
    pub name: &'a str,
    pub arguments: Vec<String>,
    pub workspace: &'a Workspace,
    pub access: &'a Access,
    pub input: ProgramInput,
}

/// What a confined program reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramInput {
    /// Nothing.
    Empty,
    /// What it is started with.
    Inherited,
}

/// What is started instead.
#[derive(Debug)]
pub struct Launch {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    /// Variables for the program besides its own, which they replace.
    pub environment: Vec<(String, String)>,
    /// Its standard input, where it has to be a certain one.
    pub input: Option<OwnedFd>,
    /// Has to be kept for as long as the program runs.
    pub guard: Option<Arc<dyn ConfinementGuard>>,
    /// A process of ours stays beside the program: it starts the session, and ends everything the program has started
    /// when the server dies.
    pub supervised: bool,
    /// A process that was started ahead and can run the program at once, instead of a new one.
    pub ready: Option<Box<dyn ReadyProcess>>,
}

impl Launch {
    /// The program as it is.
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

/// The name of the processes that stay beside supervised programs, as the kernel lists it.
pub const WATCHER_NAME: &str = "attache-watcher";

/// Serves a confined program while it runs; dropping it ends that.
pub trait ConfinementGuard: fmt::Debug + Send + Sync {
    /// What it was refused so far, each in a few words.
    fn blocked(&self) -> Vec<String>;
}

/// Confines nothing, and says so.
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
