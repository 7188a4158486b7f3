//! The seam to tools: what a call would do, whether it may, and who does it.
//!
//! A tool first proposes (touching nothing), and a proposal is what rules are applied to, what a person is asked
//! about, and what is then done: exactly that, or nothing. Tools know no model, and no client.

mod confinement;
pub mod diff;
mod error;
pub mod failpoint;
pub mod fuzz;
mod glob_limit;
pub mod policy;
mod protected;
mod registry;
pub mod ruling;
pub mod shell;
mod spec;
mod stamp;
mod tool;
mod untrusted;

/// Words that the log holds too, so they live with the others.
pub use attache_domain::{Access, Effect, Level, Proposal, Shown};
pub use confinement::{Confinement, Confiner, Guard, Input, Launch, NoConfinement, Program, WATCHER_NAME};
pub use error::{ErrorKind, ToolError};
pub use glob_limit::check_glob;
pub use protected::{is_protected, protected_files};
pub use registry::Registry;
pub use spec::{ToolKind, ToolOrigin, ToolSpec};
pub use stamp::Stamp;
pub use tool::{
    HandedFile, IgnoreSources, Leftovers, LiveOutput, MARK_VARIABLE, NoLeftovers, Tool, ToolContext,
    ToolInput, ToolOutput, Workspace,
};
pub use untrusted::untrusted;
