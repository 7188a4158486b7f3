//! The status of an agent that can be delegated to, and the declaration of the tool that delegates.

use std::time::Duration;

use serde_json::json;

use crate::{ToolKind, ToolSpec};

/// The tool with which models give tasks to agents.
pub const INVOKE_AGENT: &str = "invoke_agent";

/// The state of the connection to an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentStatus {
    pub name: String,
    pub display_name: Option<String>,
    /// The description in the configuration.
    pub description: Option<String>,
    /// Scheme, host and port; what a call is sent to.
    pub origin: String,
    pub state: AgentState,
    /// What its card says, once it was read.
    pub card: Option<AgentCardSummary>,
    /// How long it took to read the card.
    pub latency: Option<Duration>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentState {
    /// Its card was not read yet.
    NotConnected,
    Ready,
    Failed {
        why: String,
    },
}

/// The words of an agent about itself: data, not instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCardSummary {
    pub name: String,
    pub description: String,
    pub version: String,
    /// Name and description.
    pub skills: Vec<(String, String)>,
    /// Such as `JSONRPC 1.0`.
    pub protocol: String,
    pub streams: bool,
    /// Notices about the card: origins that were not followed, signatures that are not valid.
    pub notices: Vec<String>,
}

/// The declaration of [`INVOKE_AGENT`] for agents of these names.
pub fn invoke_agent_spec(names: &[&str], description: String) -> ToolSpec {
    ToolSpec {
        name: INVOKE_AGENT.to_owned(),
        title: "Agent".to_owned(),
        description,
        kind: ToolKind::Communicate,
        parameters: json!({
            "type": "object",
            "properties": {
                "agent_name": {"type": "string", "enum": names, "description": "The name of the agent."},
                "prompt": {"type": "string", "description": "The task, with all that the agent needs to know."},
            },
            "required": ["agent_name", "prompt"],
        }),
        repeatable: false,
        parallel: true,
        origin: None,
    }
}
