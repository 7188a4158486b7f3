//! What the server tells the confined copy of the program. It contains every decision; the copy makes none.

use std::path::PathBuf;

use attache_tool::AccessLevel;
use serde::{Deserialize, Serialize};

use crate::CommandLimits;

/// What a copy of the program has to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ChildRequest {
    Confine(Box<ConfinementPlan>),
    /// Run the command unconfined, keep its limits, and end it with the server.
    Supervise {
        /// The process id of the server. The command ends with it.
        server: i32,
        limits: CommandLimits,
        /// Whether the command gets the standard input of the copy.
        input: bool,
    },
    /// Prepare namespaces and a file tree with these read-only paths, and wait for a [`ReadyCommand`].
    Wait {
        /// The process id of the server. The copy ends with it.
        server: i32,
        reads: Vec<PathBuf>,
    },
}

/// What a waiting copy of the program is sent on its standard input, after the handles of the command's input and
/// output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReadyCommand {
    /// A [`ChildRequest::Confine`] as it would be the first argument of a new copy.
    pub(crate) request: String,
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    /// The folder that the command starts in, without links, and its device and inode.
    pub(crate) directory: PathBuf,
    pub(crate) identity: (u64, u64),
    /// Whether the output is a terminal.
    pub(crate) terminal: bool,
}

/// How to confine one command. All paths are absolute and contain no symbolic links, except those in `links`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ConfinementPlan {
    /// The process id of the server. The command ends with it.
    pub(crate) server: i32,
    pub(crate) isolation: Isolation,
    pub(crate) level: AccessLevel,
    /// Readable files and folders, mounted at their own paths.
    pub(crate) reads: Vec<PathBuf>,
    /// Writable folders, mounted at their own paths.
    pub(crate) writes: Vec<PathBuf>,
    /// Read-only paths inside the writable folders.
    pub(crate) protected: Vec<PathBuf>,
    /// Symbolic links of the file tree: path and target.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// The folder that is mounted at `/tmp`.
    pub(crate) temporary: PathBuf,
    /// The folder that is mounted at the user's home, and the path of the home.
    pub(crate) home: Option<(PathBuf, PathBuf)>,
    pub(crate) limits: CommandLimits,
    /// Paths that the command sees as empty.
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) network: NetworkAccess,
    /// Whether the command gets the standard input of the copy.
    pub(crate) input: bool,
    /// Instead of running the command, the copy reports by its exit code whether it can read this file.
    #[serde(default)]
    pub(crate) probe: Option<PathBuf>,
}

/// What isolates the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Isolation {
    /// Namespaces, a separate file tree, Landlock and a system call filter.
    Namespaces,
    /// Landlock and a system call filter, on a kernel without user namespaces.
    Landlock,
    /// Only the limits.
    None,
}

/// The network of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum NetworkAccess {
    None,
    /// A proxy of the server, at [`PROXY_PORT`].
    Proxy,
    /// All hosts, if approved on a kernel without namespaces.
    All,
}

/// The port of the proxy on the command's loopback device.
pub(crate) const PROXY_PORT: u16 = 3128;
