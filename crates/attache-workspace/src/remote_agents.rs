//! The remote agents of a conversation: the seam to their connections.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use attache_tool::Tool;

use crate::agent_files::{AgentDefinition, AgentKind};

/// The remote agents that count in a workspace.
#[derive(Clone)]
pub struct AgentGroup {
    /// Remote ones only.
    pub agents: Vec<AgentDefinition>,
    /// A person can answer what an agent asks.
    pub attended: bool,
    /// Whether the agent that is built in can be asked, too.
    pub(crate) built_in: bool,
}

impl AgentGroup {
    pub(crate) fn new(agents: &[AgentDefinition], attended: bool, built_in: bool) -> Self {
        let remote = agents.iter().filter(|agent| matches!(agent.kind, AgentKind::Remote(_)));
        Self { agents: remote.cloned().collect(), attended, built_in }
    }
}

/// The agents of one conversation. Connections are made when they are needed, and never waited for before.
#[async_trait]
pub trait RemoteAgents: Send + Sync + 'static {
    /// In the order of the files.
    fn statuses(&self) -> Vec<AgentStatus>;

    /// A number that changes when the tool does.
    fn version(&self) -> u64;

    /// `invoke_agent`, with the descriptions that are known now; none without agents.
    fn tool(&self) -> Option<Arc<dyn Tool>>;

    /// From now on these agents count. Cards are read again.
    fn reload(&self, group: AgentGroup);

    /// Reads the card of an agent anew, and tells how it stands with it then. None: there is no such agent.
    async fn test(&self, name: &str) -> Option<AgentStatus>;
}

/// How it stands with an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentStatus {
    pub name: String,
    pub display_name: Option<String>,
    /// The description in its file.
    pub description: Option<String>,
    /// Scheme, host and port; what a call is sent to.
    pub origin: String,
    pub state: AgentState,
    /// What its card says, once it was read. Not trusted.
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

/// The words of an agent about itself.
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
    /// What should be known about the card: origins that were not followed, signatures that do not hold.
    pub notices: Vec<String>,
}
