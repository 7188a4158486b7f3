//! What the confined copy of the program is told: everything that was decided, so that it decides nothing.

use std::path::PathBuf;

use attache_tool::AccessLevel;
use serde::{Deserialize, Serialize};

use crate::CommandLimits;

/// What the copy of the program is to do with a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ChildRequest {
    Confine(Box<Plan>),
    /// Nothing but keep its limits and end it with the server.
    Supervise {
        /// The process that has to live for the command to go on.
        server: i32,
        limits: CommandLimits,
        /// Whether the command reads what it is started with.
        input: bool,
    },
}

/// All paths are absolute and, but for links, without symbolic links.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// The process that has to live for the command to go on.
    pub(crate) server: i32,
    pub(crate) walls: Isolation,
    pub(crate) level: AccessLevel,
    /// Files and folders that may be read, each at its own place.
    pub(crate) reads: Vec<PathBuf>,
    /// Folders that may be written, each at its own place.
    pub(crate) writes: Vec<PathBuf>,
    /// Paths inside of those that stay read-only.
    pub(crate) protected: Vec<PathBuf>,
    /// Symbolic links of the file tree: where each is, and where it leads.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// The folder that is `/tmp`.
    pub(crate) temporary: PathBuf,
    /// The folder that is the user's home, and the path of that home.
    pub(crate) home: Option<(PathBuf, PathBuf)>,
    pub(crate) limits: CommandLimits,
    /// Paths inside of what may be seen that are shown empty.
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) network: Network,
    /// Whether the command reads what it is started with.
    pub(crate) input: bool,
    /// Instead of running the command: says by its exit code whether this file can be read.
    #[serde(default)]
    pub(crate) probe: Option<PathBuf>,
}

/// What encloses the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Isolation {
    /// Namespaces, a file tree of its own, Landlock and a system call filter.
    Namespaces,
    /// Landlock and a system call filter: all there is without user namespaces.
    Landlock,
    /// Nothing but the limits: the command may do everything.
    None,
}

/// What the command reaches of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Network {
    None,
    /// A proxy of the server, at [`PROXY_PORT`].
    Proxy,
    /// All of it, where there are no namespaces and it was approved.
    All,
}

/// The port of the proxy on the command's own loopback device.
pub(crate) const PROXY_PORT: u16 = 3128;
