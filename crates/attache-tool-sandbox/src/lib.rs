//! Confines commands with the Linux kernel to their [`Access`](attache_tool::Access).
//!
//! The server starts a copy of its own program instead of the command ([`Sandbox`]). The copy sets up namespaces, a
//! file tree, resource limits, a Landlock domain and a system call filter, and starts the command in them ([`enter`]).
//! It needs no root and no setuid helper. One copy is started ahead and waits for the next command (`ready`). Where the
//! kernel offers less, [`Sandbox::probe`] finds out what is missing; rulings and approval texts say so.
//!
//! A command without its own process namespace (level open, or Landlock alone) has a process beside it that kills
//! everything the command has started when the server dies ([`Supervisor`]).
//!
//! Network access goes through a proxy in the server that connects to approved hosts only (`egress`).
//!
//! The access of a command is decided in `attache_tool::ruling`.

mod confinement_plan;
mod egress;
mod enter;
mod git;
mod guard;
mod handles;
mod limits;
mod probe;
mod protected;
mod readable_paths;
mod ready;
mod sandbox;
mod supervisor;
mod workspace_scan;

pub use egress::EgressOptions;
pub use enter::{ENTER, enter};
pub use limits::CommandLimits;
pub use sandbox::{Sandbox, SandboxOptions};
pub use supervisor::Supervisor;
