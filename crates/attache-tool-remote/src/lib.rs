//! Remote A2A agents as a tool: the model gives them tasks with `invoke_agent`.
//!
//! [`RemoteAgents`] knows the agents of a configuration and connects to one when it is needed. [`ConversationAgents`] is what
//! one conversation uses: it makes the tool. A call sends one message, shows what the agent says as it comes, and returns all
//! of it. What the call needs to go on after a restart is saved before anything depends on it. `attache-client` speaks A2A;
//! agent files are read by `attache-workspace`.

mod agent;
mod agent_call;
mod agent_output;
mod agents;
mod catalog;
mod invoke_agent;
mod kept_output;
mod message_id;
mod received_files;
mod remote_conversation;
mod result_text;
mod saved_call;

pub use agent::{AgentAccess, AgentOptions, AgentState, AgentStatus, CardSummary};
pub use agents::{ConversationAgents, OwnOrigin, RemoteAgents};
