//! The coding agent: runs turns with a model and tools; implements the session's `Agent`.
//!
//! [`CodingAgent`] asks a model, proposes its calls, waits for approvals, runs the calls, and asks again with their
//! results. It knows no HTTP, SQL or A2A: it reads a task and records facts in the journal. [`Conversations`] provides
//! the setup of each conversation.

mod abandon_calls;
mod agent_model;
mod approver;
mod ask_person;
mod built_in;
mod call_state;
mod calls;
mod changes;
mod coding_agent;
mod command_context;
mod command_turn;
mod compaction;
mod connect_servers;
mod conversations;
mod instructions;
mod live_output;
mod model_request;
mod output_recorder;
mod policy_approver;
mod prompt;
mod reason;
mod repeat_detector;
mod run_call;
mod run_concurrently;
mod tokens;
mod totals;
mod turn_output;
mod turn_runner;
mod wording;

pub use agent_model::AgentModel;
pub use approver::{ApprovalDecision, ApprovalRequest, Approver};
pub use attache_session::ToolsGuard;
pub use coding_agent::CodingAgent;
pub use compaction::DEFAULT_COMPACTION_THRESHOLD;
pub use conversations::{
    API_KEY, ClientServer, ContextFiles, ConversationLimits, ConversationSetup, Conversations,
    SettingsRefusal, ToolSource, declarations,
};
pub use instructions::instructions;
pub use policy_approver::{PolicyApprover, PolicyOptions, RuleStore};
