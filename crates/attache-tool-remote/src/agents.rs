//! The agents of a configuration, and what one conversation uses of them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use attache_client::Origin;
use attache_domain::IgnorePoison;
use attache_tool::Tool;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::agent::{Agent, AgentOptions, AgentStatus};
use crate::invoke_agent::InvokeAgent;
use crate::remote_conversation::BusyAgents;

/// Cards that are read at the same time in the background.
const MAX_READS: usize = 8;

/// Scheme, host and port of this server, once they are known.
pub type OwnOrigin = Arc<OnceLock<String>>;

/// Warnings about single agents. With more, one warning tells about all.
const MAX_WARNINGS: usize = 3;

/// The agents whose cards could not be read, and why. Warns about them when the last card was tried.
#[derive(Default)]
struct UnreachableAgents(Mutex<Vec<(String, String)>>);

impl UnreachableAgents {
    fn add(&self, name: &str, why: String) {
        self.0.lock().ignore_poison().push((name.to_owned(), why));
    }
}

impl Drop for UnreachableAgents {
    fn drop(&mut self) {
        let agents = std::mem::take(&mut *self.0.lock().ignore_poison());
        if agents.len() <= MAX_WARNINGS {
            for (agent, error) in agents {
                tracing::warn!(agent, error, "an agent cannot be reached");
            }
            return;
        }
        let names: Vec<&str> = agents.iter().take(MAX_WARNINGS).map(|(name, _)| name.as_str()).collect();
        let (names, more) = (names.join(", "), agents.len() - MAX_WARNINGS);
        tracing::warn!(
            "{} agents cannot be reached: {names} and {more} more; /agents list says why",
            agents.len()
        );
    }
}

/// Connections to agents, shared by all conversations that have the same ones.
pub struct RemoteAgents {
    agents: Vec<Arc<Agent>>,
    /// Grows when a card was read.
    version: Arc<AtomicU64>,
    /// Where this server is, if it is one.
    own_origin: OwnOrigin,
    /// Reads the cards. Ends when the agents are dropped.
    reading: Mutex<JoinSet<()>>,
}

impl RemoteAgents {
    /// Connects to none of them.
    pub fn new(agents: Vec<AgentOptions>, own_origin: OwnOrigin) -> Arc<Self> {
        let agents = agents.into_iter().map(|options| Arc::new(Agent::new(options))).collect();
        Arc::new(Self { agents, version: Arc::default(), own_origin, reading: Mutex::new(JoinSet::new()) })
    }

    /// Begins to read the cards that were not read yet. The model gets their descriptions once they are there; nothing waits
    /// for them.
    pub fn read_cards(&self) {
        let limit = Arc::new(Semaphore::new(MAX_READS));
        let unreachable = Arc::new(UnreachableAgents::default());
        let mut reading = self.reading.lock().ignore_poison();
        for agent in self.agents.iter().filter(|agent| agent.connected().is_none()) {
            let (agent, version, limit) = (agent.clone(), self.version.clone(), limit.clone());
            let unreachable = unreachable.clone();
            reading.spawn(async move {
                let Ok(_permit) = limit.acquire().await else { return };
                match agent.client().await {
                    Ok(_) => _ = version.fetch_add(1, Ordering::Relaxed),
                    Err(failure) => unreachable.add(agent.name(), failure.why),
                }
            });
        }
    }

    /// Reads all cards anew.
    pub fn reconnect(&self) {
        self.agents.iter().for_each(|agent| agent.disconnect());
        self.read_cards();
    }

    pub fn statuses(&self) -> Vec<AgentStatus> {
        self.agents.iter().map(|agent| agent.status()).collect()
    }

    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Relaxed)
    }

    /// Reads the card of an agent anew and tells how it stands with it then. None: there is no such agent.
    pub async fn test(&self, name: &str) -> Option<AgentStatus> {
        let agent = self.find(name)?;
        agent.disconnect();
        // The status tells what went wrong.
        let _ = agent.client().await;
        self.version.fetch_add(1, Ordering::Relaxed);
        Some(agent.status())
    }

    fn find(&self, name: &str) -> Option<&Arc<Agent>> {
        self.agents.iter().find(|agent| agent.name() == name)
    }

    pub(crate) fn agents(&self) -> &[Arc<Agent>] {
        &self.agents
    }

    pub(crate) fn own_origin(&self) -> Option<String> {
        let origin = Origin::parse(self.own_origin.get()?).ok()?;
        Some(origin.to_string())
    }
}

/// The agents of one conversation.
pub struct ConversationAgents {
    agents: Arc<RemoteAgents>,
    busy: Arc<BusyAgents>,
    /// A person can answer what an agent asks.
    attended: bool,
    /// The tool as it was made last, and for which version.
    tool: Mutex<Option<(u64, Arc<dyn Tool>)>>,
}

impl ConversationAgents {
    pub fn new(agents: Arc<RemoteAgents>, attended: bool) -> Self {
        Self { agents, busy: Arc::default(), attended, tool: Mutex::default() }
    }

    pub fn agents(&self) -> &Arc<RemoteAgents> {
        &self.agents
    }

    /// The tool with the descriptions that are known now; none without agents.
    pub fn tool(&self) -> Option<Arc<dyn Tool>> {
        if self.agents.agents.is_empty() {
            return None;
        }
        let version = self.agents.version();
        let mut known = self.tool.lock().ignore_poison();
        match known.as_ref() {
            Some((made_for, tool)) if *made_for == version => Some(tool.clone()),
            _ => {
                let tool: Arc<dyn Tool> =
                    Arc::new(InvokeAgent::new(self.agents.clone(), self.busy.clone(), self.attended));
                *known = Some((version, tool.clone()));
                Some(tool)
            }
        }
    }
}
