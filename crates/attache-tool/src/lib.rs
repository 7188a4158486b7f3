//! The seam to tools: proposals, rulings, and the tools themselves.
//!
//! A tool first proposes a call and changes nothing. Rules and people decide on exactly this proposal, and exactly this
//! runs, or nothing. Tools know no model and no client.

mod confinement;
pub mod diff;
mod error;
pub mod failpoint;
mod file_stamp;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod glob_limit;
pub mod policy;
mod protected;
mod registry;
pub mod ruling;
pub mod shell;
mod spec;
mod tool;
mod untrusted;

/// Stored in the log, so they are types of the domain.
pub use attache_domain::{Access, AccessLevel, Effect, Preview, Proposal};
pub use confinement::{
    ConfinedProgram, Confinement, ConfinementGuard, Confiner, Launch, NoConfinement, ProgramInput,
    ReadyProcess, ReadyStart, WATCHER_NAME,
};
pub use error::{ToolError, ToolErrorKind};
pub use file_stamp::FileStamp;
pub use glob_limit::check_glob;
pub use protected::{is_protected, protected_files};
pub use registry::ToolRegistry;
pub use spec::{ToolKind, ToolOrigin, ToolSpec};
pub use tool::{
    IgnoreSources, LeftoverProcesses, LiveOutput, MARK_VARIABLE, NoLeftoverProcesses, OutputFile, Tool,
    ToolContext, ToolInput, ToolOutput, Workspace,
};
pub use untrusted::untrusted;
