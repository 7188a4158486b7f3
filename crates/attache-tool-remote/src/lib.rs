//! Remote A2A agents as a tool: the model gives them tasks with `invoke_agent`.
//!
//! [`AgentConnections`] knows the agents of a configuration and connects to one when it is needed. [`ConversationAgents`] is what
//! one conversation uses: it makes the tool. A call sends one message, shows what the agent says as it comes, and returns all
//! of it. What the call needs to go on after a restart is saved before anything depends on it. `attache-client` speaks A2A;
//! agent files are read by `attache-workspace`.

mod agent;
mod agent_call;
mod agent_output;
mod agents;
mod call_origins;
mod catalog;
mod invoke_agent;
mod kept_output;
mod message_id;
mod own_folder;
mod peer_text;
mod received_files;
mod remote_conversation;
mod result_text;
mod saved_call;
mod shown_words;
mod unusable_agents;

pub use agent::{AgentAccess, AgentOptions};
pub use agents::{AgentConnections, ConversationAgents, OwnOrigin};
pub use unusable_agents::WarnedAgents;
