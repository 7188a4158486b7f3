//! Confinement by the Linux kernel: commands that reach no more than their [`Access`](attache_tool::Access).
//!
//! The server starts a copy of its own program instead of the command ([`Sandbox`]). The copy makes namespaces, a file
//! tree that holds only what may be seen, resource limits, a Landlock domain and a system call filter, and starts the
//! command inside of them ([`enter`]). It needs no root and no setuid helper. Where the kernel offers less,
//! [`Sandbox::probe`] finds out what is missing; the rulings and the approval texts say so.
//!
//! A command without a process namespace of its own, for which everything is open or which only Landlock confines, has a
//! process beside it that kills all that it has started when the server dies ([`Supervisor`]).
//!
//! Network access goes through a proxy in the server that lets single hosts through (`egress`).
//!
//! Not here: which access a command gets (`attache_tool::ruling`).

mod egress;
mod enter;
mod git;
mod guard;
mod handles;
mod limits;
mod plan;
mod probe;
mod protected;
mod readable_paths;
mod sandbox;
mod supervisor;
mod workspace_scan;

pub use egress::EgressOptions;
pub use enter::{ENTER, enter};
pub use limits::CommandLimits;
pub use sandbox::{Sandbox, SandboxOptions};
pub use supervisor::Supervisor;
