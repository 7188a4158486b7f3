//! Remote agents. Conversations that have the same ones share their connections.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use attache_cli::{card_signatures, network};
use attache_client::{
    CardCache, CardSecurity, CardSource, Client, ClientError, ClientOptions, Origin, SignatureCheck,
};
use attache_credentials::{NoSignIn, SignIn, SignInLater};
use attache_domain::IgnorePoison;
use attache_net::{HttpClientOptions, NetworkSettings};
use attache_tool::{AgentStatus, Tool};
use attache_tool_remote::{
    AgentAccess, AgentConnections, AgentOptions, ConversationAgents, OwnOrigin, WarnedAgents,
};
use attache_workspace::agent_files::{self, AgentDefinition, AgentKind, AgentSource, SourceContext};
use attache_workspace::{AgentGroup, RemoteAgents};

use crate::environment::variable;

/// Agents may be silent for long while they work.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// Workspaces whose agents are kept at hand.
const MAX_GROUPS: usize = 16;

pub(crate) struct SharedAgents {
    /// The group that was used last is the last.
    known: Mutex<Vec<SharedGroup>>,
    cards: CardCache,
    network: NetworkSettings,
    own_origin: OwnOrigin,
    warned: WarnedAgents,
}

struct SharedGroup {
    group: AgentGroup,
    agents: Arc<AgentConnections>,
}

impl SharedAgents {
    pub(crate) fn new(network: NetworkSettings, own_origin: OwnOrigin) -> Self {
        let warned = WarnedAgents::default();
        Self { known: Mutex::default(), cards: CardCache::default(), network, own_origin, warned }
    }

    /// The connections to these agents. `anew`: all cards are read again.
    fn find(&self, group: AgentGroup, anew: bool) -> Arc<AgentConnections> {
        let mut known = self.known.lock().ignore_poison();
        let place = known.iter().position(|known| known.group == group);
        let is_known = place.is_some();
        let group = match place {
            Some(place) => known.remove(place),
            None => {
                let options = |agents: &[AgentDefinition]| -> Vec<AgentOptions> {
                    agents.iter().filter_map(|agent| self.options(agent, group.attended)).collect()
                };
                let (own_origin, warned) = (self.own_origin.clone(), self.warned.clone());
                let (agents, switched_off) = (options(&group.agents), options(&group.switched_off));
                let agents = AgentConnections::with_switched_off(agents, switched_off, own_origin, warned);
                SharedGroup { group, agents }
            }
        };
        let agents = group.agents.clone();
        match (anew, is_known) {
            (true, _) => agents.reconnect(),
            (false, false) => agents.read_cards(),
            (false, true) => {}
        }
        known.push(group);
        if known.len() > MAX_GROUPS {
            known.remove(0);
        }
        agents
    }

    fn options(&self, agent: &AgentDefinition, attended: bool) -> Option<AgentOptions> {
        let AgentKind::Remote(remote) = &agent.kind else { return None };
        let card = match &remote.card {
            agent_files::CardDefinition::Url(url) => CardSource::CardUrl(url.clone()),
            agent_files::CardDefinition::Inline(card) => CardSource::Inline(card.to_string()),
        };
        let sign_in: Arc<dyn SignIn> = if attended { Arc::new(SignInLater) } else { Arc::new(NoSignIn) };
        let source = source(agent, &self.network, &sign_in);
        let allowed_origins = remote.allowed_origins.iter().map(|text| Origin::parse(text)).collect();
        let access = FileAccess {
            definition: agent.clone(),
            source,
            allowed_origins: Result::map_err(allowed_origins, |error: ClientError| error.to_string()),
            cards: self.cards.clone(),
            network: self.network.clone(),
        };
        Some(AgentOptions {
            name: agent.name.clone(),
            display_name: agent.display_name.clone(),
            description: agent.description.clone(),
            card,
            access: Arc::new(access),
        })
    }
}

/// The credentials of an agent; `None` if its file has no `auth`.
fn source(
    agent: &AgentDefinition,
    network: &NetworkSettings,
    sign_in: &Arc<dyn SignIn>,
) -> Result<Option<AgentSource>, String> {
    // The certificate proves who we are to the agent, and not to a server of tokens.
    let net = network.client_options();
    AgentSource::of(agent, SourceContext { environment: &variable, net: &net, sign_in })
}

/// Reaches an agent as its file says.
struct FileAccess {
    definition: AgentDefinition,
    /// Or why there can be none.
    source: Result<Option<AgentSource>, String>,
    allowed_origins: Result<Vec<Origin>, String>,
    cards: CardCache,
    network: NetworkSettings,
}

impl FileAccess {
    /// Certificates are read when the agent is needed, so files that are missing concern this agent only.
    fn net(&self) -> Result<HttpClientOptions, String> {
        let network = network::for_agent(self.network.clone(), self.definition.tls.as_ref(), &variable);
        let network = network.map_err(|error| format!("{error:#}"))?;
        Ok(HttpClientOptions { idle_timeout: IDLE_TIMEOUT, ..network.client_options() })
    }

    fn signatures(&self) -> Result<SignatureCheck, String> {
        let signatures = self.definition.signatures.as_ref();
        card_signatures::for_agent(signatures, &variable).map_err(|error| format!("{error:#}"))
    }
}

#[async_trait]
impl AgentAccess for FileAccess {
    async fn client_options(&self) -> Result<ClientOptions, String> {
        Ok(ClientOptions {
            credential: self.source.clone()?.map(|source| source.credential),
            allowed_origins: self.allowed_origins.clone()?,
            signatures: self.signatures()?,
            cards: self.cards.clone(),
            net: self.net()?,
            ..ClientOptions::default()
        })
    }

    fn allowed_origins(&self) -> Vec<Origin> {
        self.allowed_origins.clone().unwrap_or_default()
    }

    fn missing_authentication(&self, security: &CardSecurity) -> Option<String> {
        self.definition.missing_authentication(security)
    }

    async fn check_credential(&self, client: &Client) -> Result<(), String> {
        let no_sign_in: Arc<dyn SignIn> = Arc::new(NoSignIn);
        let credential =
            source(&self.definition, &self.network, &no_sign_in)?.map(|source| source.credential);
        client.check_credential(credential.as_deref()).await.map_err(|error| error.to_string())
    }

    async fn sign_in(&self, client: &Client) -> Result<Option<String>, String> {
        AgentSource::sign_in(self.source.clone()?.as_ref(), client.security()).await
    }
}

/// The agents of one conversation, as a workspace uses them.
pub(crate) struct AgentsOfConversation {
    shared: Arc<SharedAgents>,
    current: Mutex<LoadedAgents>,
}

struct LoadedAgents {
    agents: Arc<ConversationAgents>,
    /// Counts the reloads.
    generation: u64,
}

impl AgentsOfConversation {
    pub(crate) fn new(shared: Arc<SharedAgents>, group: AgentGroup) -> Self {
        let attended = group.attended;
        let agents = Arc::new(ConversationAgents::new(shared.find(group, false), attended));
        Self { shared, current: Mutex::new(LoadedAgents { agents, generation: 0 }) }
    }

    fn agents(&self) -> Arc<ConversationAgents> {
        self.current.lock().ignore_poison().agents.clone()
    }
}

#[async_trait]
impl RemoteAgents for AgentsOfConversation {
    fn statuses(&self) -> Vec<AgentStatus> {
        self.agents().agents().statuses()
    }

    fn version(&self) -> u64 {
        let current = self.current.lock().ignore_poison();
        (current.generation << 8).wrapping_add(current.agents.agents().version())
    }

    fn tool(&self) -> Option<Arc<dyn Tool>> {
        self.agents().tool()
    }

    fn begun_tool(&self) -> Arc<dyn Tool> {
        self.agents().begun_tool()
    }

    fn reload(&self, group: AgentGroup) {
        let attended = group.attended;
        let agents = self.shared.find(group, true);
        let mut current = self.current.lock().ignore_poison();
        current.agents = Arc::new(ConversationAgents::new(agents, attended));
        current.generation += 1;
    }

    async fn read_card(&self, name: &str) -> Option<AgentStatus> {
        self.agents().agents().read_card(name).await
    }

    async fn test(&self, name: &str) -> Option<AgentStatus> {
        self.agents().agents().test(name).await
    }

    async fn sign_in(&self, name: &str) -> Result<Option<String>, String> {
        self.agents().agents().sign_in(name).await
    }
}
