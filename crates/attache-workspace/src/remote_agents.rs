//! The remote agents of a conversation: the seam to their connections.

use std::sync::Arc;

use async_trait::async_trait;
use attache_tool::{AgentStatus, Tool};

use crate::agent_files::{AgentDefinition, AgentKind};

/// The remote agents of a workspace.
#[derive(Clone, PartialEq)]
pub struct AgentGroup {
    /// Those that count.
    pub agents: Vec<AgentDefinition>,
    /// Those that are switched off. They get nothing but the cancel of what they do already.
    pub switched_off: Vec<AgentDefinition>,
    /// A person can answer what an agent asks.
    pub attended: bool,
    /// Whether the agent that is built in can be asked, too.
    pub(crate) built_in: bool,
}

/// The remote ones of `agents`.
pub(crate) fn remote<'a>(agents: impl IntoIterator<Item = &'a AgentDefinition>) -> Vec<AgentDefinition> {
    agents.into_iter().filter(|agent| matches!(agent.kind, AgentKind::Remote(_))).cloned().collect()
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

    /// The same tool for calls that began before. It ends those of agents that are switched off.
    fn begun_tool(&self) -> Arc<dyn Tool>;

    /// From now on these agents count. Cards are read again.
    fn reload(&self, group: AgentGroup);

    /// Fetches the card of an agent again and returns the new status; `None` if the agent is unknown.
    async fn read_card(&self, name: &str) -> Option<AgentStatus>;

    /// The same, and gets the credential that calls would have, without a sign-in.
    async fn test(&self, name: &str) -> Option<AgentStatus>;

    /// Begins a sign-in to an agent with OAuth 2.0, and returns what the person is to do; `None` if there is nothing to do
    /// any more.
    async fn sign_in(&self, name: &str) -> Result<Option<String>, String>;
}
