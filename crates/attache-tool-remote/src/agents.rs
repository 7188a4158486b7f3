//! The agents of a configuration, and what one conversation uses of them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use attache_client::Origin;
use attache_domain::IgnorePoison;
use attache_tool::{AgentState, AgentStatus, Tool};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::agent::{Agent, AgentOptions};
use crate::invoke_agent::InvokeAgent;
use crate::remote_conversation::BusyAgents;
use crate::unusable_agents::{self, Unusable, WarnedAgents};

/// Cards that are read at the same time in the background.
const MAX_READS: usize = 32;
/// The time for a card in the background. An agent that takes longer is reported, and tried again behind the others
/// without this limit.
const FIRST_READ_TIMEOUT: Duration = Duration::from_secs(5);

/// Scheme, host and port of this server, once they are known.
pub type OwnOrigin = Arc<OnceLock<String>>;

/// Connections to agents, shared by all conversations that have the same ones.
pub struct AgentConnections {
    agents: Vec<Arc<Agent>>,
    /// They get nothing but the cancel of what they do already.
    switched_off: Vec<Arc<Agent>>,
    /// Grows when a card was read.
    version: Arc<AtomicU64>,
    /// Where this server is, if it is one.
    own_origin: OwnOrigin,
    warned: WarnedAgents,
    /// Reads the cards. Ends when the agents are dropped.
    reading: Mutex<JoinSet<()>>,
}

impl AgentConnections {
    /// Connects to none of them.
    pub fn new(agents: Vec<AgentOptions>, own_origin: OwnOrigin, warned: WarnedAgents) -> Arc<Self> {
        Self::with_switched_off(agents, Vec::new(), own_origin, warned)
    }

    /// `switched_off` get nothing but the cancel of what they do already.
    pub fn with_switched_off(
        agents: Vec<AgentOptions>,
        switched_off: Vec<AgentOptions>,
        own_origin: OwnOrigin,
        warned: WarnedAgents,
    ) -> Arc<Self> {
        let [agents, switched_off] = [agents, switched_off]
            .map(|all| all.into_iter().map(|options| Arc::new(Agent::new(options))).collect());
        let reading = Mutex::new(JoinSet::new());
        Arc::new(Self { agents, switched_off, version: Arc::default(), own_origin, warned, reading })
    }

    /// Begins to read the cards that were not read yet. The model gets their descriptions once they are there; nothing waits
    /// for them.
    pub fn read_cards(&self) {
        let limit = Arc::new(Semaphore::new(MAX_READS));
        let (unusable, failures) = unusable_agents::channel();
        let mut reading = self.reading.lock().ignore_poison();
        // Replaces what still reads.
        *reading = JoinSet::new();
        reading.spawn(unusable_agents::report(failures, self.warned.clone()));
        for agent in self.agents.iter().filter(|agent| agent.connected().is_none()) {
            let (agent, version, limit) = (agent.clone(), self.version.clone(), limit.clone());
            let (unusable, warned) = (unusable.clone(), self.warned.clone());
            reading.spawn(async move {
                if read_card(&agent, &limit, unusable, &warned).await {
                    version.fetch_add(1, Ordering::Relaxed);
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

    /// Fetches the card of an agent again and returns the new status; `None` if the agent is unknown.
    pub async fn read_card(&self, name: &str) -> Option<AgentStatus> {
        let agent = self.find(name)?;
        agent.read_card().await;
        if agent.status().state == AgentState::Ready {
            self.warned.remove(name);
        }
        self.version.fetch_add(1, Ordering::Relaxed);
        Some(agent.status())
    }

    /// The same, and gets the credential that calls would have.
    pub async fn test(&self, name: &str) -> Option<AgentStatus> {
        let agent = self.find(name)?;
        let no_credential = agent.test().await;
        self.version.fetch_add(1, Ordering::Relaxed);
        let mut status = agent.status();
        // Kept nowhere: a person can sign in or set a variable at any time.
        if let (AgentState::Ready, Some(why)) = (&status.state, no_credential) {
            status.state = AgentState::Failed { why };
        }
        Some(status)
    }

    /// Begins a sign-in to an agent, and returns what the person is to do; `None` if there is nothing to do any more.
    pub async fn sign_in(&self, name: &str) -> Result<Option<String>, String> {
        match self.find(name) {
            Some(agent) => agent.sign_in().await,
            None => Err(format!("there is no agent {name:?}")),
        }
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Arc<Agent>> {
        self.agents.iter().find(|agent| agent.name() == name)
    }

    pub(crate) fn agents(&self) -> &[Arc<Agent>] {
        &self.agents
    }

    /// An agent that may be told that its work is over.
    pub(crate) fn find_any(&self, name: &str) -> Option<&Arc<Agent>> {
        self.find(name).or_else(|| self.switched_off.iter().find(|agent| agent.name() == name))
    }

    pub(crate) fn own_origin(&self) -> Option<String> {
        let origin = Origin::parse(self.own_origin.get()?).ok()?;
        Some(origin.to_string())
    }
}

/// Reads the card of an agent, and tells `unusable` of it at most once. True if the card was read.
async fn read_card(
    agent: &Agent,
    limit: &Semaphore,
    unusable: mpsc::Sender<Unusable>,
    warned: &WarnedAgents,
) -> bool {
    let failed = |why: String| async { _ = unusable.send((agent.name().to_owned(), why)).await };
    let Ok(permit) = limit.acquire().await else { return false };
    match timeout(FIRST_READ_TIMEOUT, agent.client()).await {
        Ok(Ok(client)) => {
            match agent.missing_authentication(&client) {
                Some(missing) => failed(missing).await,
                None => warned.remove(agent.name()),
            }
            return true;
        }
        Ok(Err(failure)) => {
            failed(failure.why).await;
            return false;
        }
        Err(_) => {}
    }
    let why = format!("its card did not come within {} seconds", FIRST_READ_TIMEOUT.as_secs());
    agent.note_failure(why.clone());
    failed(why).await;
    drop(unusable);
    drop(permit);
    let Ok(_permit) = limit.acquire().await else { return false };
    agent.client().await.is_ok()
}

/// The agents of one conversation.
pub struct ConversationAgents {
    agents: Arc<AgentConnections>,
    busy: Arc<BusyAgents>,
    /// A person can answer what an agent asks.
    attended: bool,
    /// The tool as it was made last, and for which version.
    tool: Mutex<Option<(u64, Arc<dyn Tool>)>>,
}

impl ConversationAgents {
    pub fn new(agents: Arc<AgentConnections>, attended: bool) -> Self {
        Self { agents, busy: Arc::default(), attended, tool: Mutex::default() }
    }

    pub fn agents(&self) -> &Arc<AgentConnections> {
        &self.agents
    }

    /// The tool with the descriptions that are known now; none without agents.
    pub fn tool(&self) -> Option<Arc<dyn Tool>> {
        if self.agents.agents.is_empty() {
            return None;
        }
        Some(self.begun_tool())
    }

    /// The tool for calls that began before. Without agents it only ends them.
    pub fn begun_tool(&self) -> Arc<dyn Tool> {
        let version = self.agents.version();
        let mut known = self.tool.lock().ignore_poison();
        match known.as_ref() {
            Some((made_for, tool)) if *made_for == version => tool.clone(),
            _ => {
                let tool: Arc<dyn Tool> =
                    Arc::new(InvokeAgent::new(self.agents.clone(), self.busy.clone(), self.attended));
                *known = Some((version, tool.clone()));
                tool
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use attache_client::{CardSource, ClientOptions};
    use attache_tool::{
        AgentState, CallKey, CallStart, Delegation, IgnoreSources, LiveOutput, NoCallState, ToolContext,
        ToolInput, Workspace,
    };
    use tokio::time::Instant;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::AgentAccess;

    /// Cannot be reached: at once, or after an endless time.
    struct NoAccess {
        hangs: bool,
    }

    #[async_trait]
    impl AgentAccess for NoAccess {
        async fn client_options(&self) -> Result<ClientOptions, String> {
            if self.hangs {
                std::future::pending::<()>().await;
            }
            Err("refused".to_owned())
        }
    }

    fn agent(number: usize, hangs: bool) -> AgentOptions {
        AgentOptions {
            name: format!("agent-{number}"),
            display_name: None,
            description: None,
            card: CardSource::Address("http://127.0.0.1:9".to_owned()),
            access: Arc::new(NoAccess { hangs }),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn agents_that_do_not_answer_delay_the_others_little_and_are_reported_soon() {
        let mut options: Vec<_> = (0..2 * MAX_READS).map(|number| agent(number, true)).collect();
        options.push(agent(2 * MAX_READS, false));
        let agents = AgentConnections::new(options, OwnOrigin::default(), WarnedAgents::default());
        let begun = Instant::now();
        agents.read_cards();
        let failed =
            || agents.statuses().into_iter().filter(|it| it.state != AgentState::NotConnected).count();
        while failed() < 2 * MAX_READS + 1 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert!(begun.elapsed() <= 2 * FIRST_READ_TIMEOUT + Duration::from_secs(1), "{:?}", begun.elapsed());
        let why = "its card did not come within 5 seconds".to_owned();
        assert_eq!(agents.statuses()[0].state, AgentState::Failed { why });
        let why = "refused".to_owned();
        assert_eq!(agents.statuses()[2 * MAX_READS].state, AgentState::Failed { why });
    }

    struct Silent;

    impl LiveOutput for Silent {
        fn show(&self, _text: &str) {}
    }

    fn context() -> ToolContext {
        let workspace = Workspace {
            roots: vec!["/".into()],
            scratch: "/nowhere".into(),
            environment: Vec::new(),
            ignore: IgnoreSources::default(),
        };
        ToolContext {
            workspace: Arc::new(workspace),
            cancel: CancellationToken::new(),
            live: Arc::new(Silent),
            mark: None,
            call: CallKey::none(),
            state: Arc::new(NoCallState),
            delegation: Arc::new(Delegation::default()),
        }
    }

    /// Agents in a circle may not pass on that they are one.
    #[tokio::test]
    async fn an_agent_with_very_many_running_calls_gets_no_more() {
        let agents =
            AgentConnections::new(vec![agent(0, false)], OwnOrigin::default(), WarnedAgents::default());
        let all = agents.agents()[0].call_permits.clone().try_acquire_many_owned(1_024);
        let tool = ConversationAgents::new(agents, true).tool().unwrap();
        let input = ToolInput::from_iter([
            ("agent_name".to_owned(), "agent-0".into()),
            ("prompt".to_owned(), "Work!".into()),
        ]);
        let proposal = tool.propose(&input, &context()).await.unwrap();
        let run = || async {
            let (start, context) = (CallStart::first(CallKey::none().call), context());
            let ended = tool.resumable().unwrap().run_from(proposal.clone(), start, &context).await;
            ended.unwrap_err().message
        };
        assert!(run().await.contains("1024 calls to it are running"), "{}", run().await);
        drop(all);
        assert!(run().await.contains("refused"), "{}", run().await);
    }
}
