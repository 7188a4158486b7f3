//! The seam to tools: proposals, rulings, and the tools themselves.
//!
//! A tool first proposes a call and changes nothing. Rules and people decide on exactly this proposal, and exactly this
//! runs, or nothing. Tools know no model and no client.

mod agent_status;
mod confinement;
mod delegation;
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
mod resumable;
pub mod ruling;
mod server_status;
pub mod shell;
mod shorten;
mod spec;
mod tool;
mod tool_names;

pub use agent_status::{AgentCardSummary, AgentState, AgentStatus, INVOKE_AGENT, invoke_agent_spec};
/// Stored in the log, so they are types of the domain.
pub use attache_domain::{Access, AccessLevel, Effect, Preview, Proposal, QuestionKind, untrusted};
pub use confinement::{
    ConfinedProgram, Confinement, ConfinementGuard, Confiner, Launch, NoConfinement, ProgramInput,
    ReadyProcess, ReadyStart, WATCHER_NAME,
};
pub use delegation::{BETWEEN_ORIGINS, DELEGATION, Delegation, MAX_DELEGATION_DEPTH, agent_state_key};
pub use error::{ToolError, ToolErrorKind};
pub use file_stamp::FileStamp;
pub use glob_limit::check_glob;
pub use protected::{is_protected, protected_files};
pub use registry::ToolRegistry;
pub use resumable::{
    CANCEL_TIMEOUT, CallEnd, CallKey, CallQuestion, CallStart, CallState, MAX_STATE_BYTES, NoCallState,
    PeerNotice, QuestionAnswer, ResumableTool,
};
pub use server_status::{ServerState, ServerStatus};
pub use shorten::{MAX_OUTPUT_CHARACTERS, shorten, shorten_blocking};
pub use spec::{ToolKind, ToolOrigin, ToolSpec};
pub use tool::{
    IgnoreSources, LeftoverProcesses, LiveOutput, MARK_VARIABLE, OutputFile, Tool, ToolContext, ToolInput,
    ToolOutput, Workspace,
};
pub use tool_names::is_tool_name;
