//! One remote agent: where it is, and the connection to it.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use attache_client::{
    CardCache, CardSecurity, CardSource, Client, ClientError, ClientOptions, CredentialError, Origin,
    RemoteCard,
};
use attache_domain::IgnorePoison;
use attache_tool::{AgentCardSummary, AgentState, AgentStatus, CallQuestion, QuestionKind};
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::{Instant, timeout};

use crate::agent_call::holds_words_of_peer;
use crate::call_origins::CallOrigins;
use crate::peer_text::TextCleaner;

/// What a configuration says about an agent.
#[derive(Clone)]
pub struct AgentOptions {
    /// The name for models and people.
    pub name: String,
    pub display_name: Option<String>,
    /// The words of the person who configured it.
    pub description: Option<String>,
    pub card: CardSource,
    pub access: Arc<dyn AgentAccess>,
}

/// How an agent is reached, and with which credential.
#[async_trait]
pub trait AgentAccess: Send + Sync + 'static {
    /// Called when the agent is first needed. The error says what is missing, and holds no secret.
    async fn client_options(&self) -> Result<ClientOptions, String>;

    /// Origins besides that of the card to which the card may lead.
    fn allowed_origins(&self) -> Vec<Origin> {
        Vec::new()
    }

    /// What the agent's card asks for and the configuration does not have, in a sentence.
    fn missing_authentication(&self, _security: &CardSecurity) -> Option<String> {
        None
    }

    /// Gets the credential of a call, sends nothing to the agent and begins no sign-in. The error says why there is none.
    async fn check_credential(&self, _client: &Client) -> Result<(), String> {
        Ok(())
    }

    /// Begins a sign-in, and returns what the person is to do; `None` if there is nothing to do any more.
    async fn sign_in(&self, _client: &Client) -> Result<Option<String>, String> {
        Err("there is nothing to sign in to".to_owned())
    }
}

pub(crate) struct Agent {
    pub(crate) options: AgentOptions,
    /// Where the card is, or why that cannot be told.
    pub(crate) origin: Result<Origin, String>,
    /// Removed from whatever the agent says.
    pub(crate) cleaner: TextCleaner,
    /// A permit for each call that may run.
    pub(crate) call_permits: Arc<Semaphore>,
    connection: Mutex<Connection>,
}

/// The time for a card before a person is asked about all origins to which it may lead.
const CARD_TIMEOUT: Duration = Duration::from_secs(3);

/// Calls to one agent that run at the same time. Agents that delegate to each other in a circle and do not pass on what the
/// message says about it come to an end here.
pub(crate) const MAX_RUNNING_CALLS: usize = 1_024;

struct Connection {
    client: Arc<OnceCell<Client>>,
    state: AgentState,
    latency: Option<Duration>,
    since: Option<Instant>,
    /// The agent is to be asked for its card, also if a cached one is fresh.
    ignores_cache: bool,
}

impl Agent {
    pub(crate) fn new(options: AgentOptions) -> Self {
        let origin = options.card.origin().map_err(|error| error.to_string());
        let cleaner = TextCleaner::default();
        let call_permits = Arc::new(Semaphore::new(MAX_RUNNING_CALLS));
        Self { options, origin, cleaner, call_permits, connection: Mutex::new(Connection::new()) }
    }

    pub(crate) fn name(&self) -> &str {
        &self.options.name
    }

    /// For people and records.
    pub(crate) fn origin_name(&self) -> String {
        self.origin.as_ref().map_or_else(|_| "unknown".to_owned(), ToString::to_string)
    }

    /// Where calls go: the interfaces of the card, or, while it is not known, all origins to which it may lead.
    pub(crate) fn call_origins(&self) -> CallOrigins {
        match self.connected() {
            Some(client) => self.origins_of(&client),
            None => {
                let card = self.origin.iter().cloned();
                CallOrigins::new(None, card.chain(self.options.access.allowed_origins()))
            }
        }
    }

    /// The same for an approval. Where the card decides between several origins, it is waited for.
    pub(crate) async fn origins_to_approve(&self) -> CallOrigins {
        let origins = self.call_origins();
        if origins.is_one() || timeout(CARD_TIMEOUT, self.client()).await.is_err() {
            return origins;
        }
        self.call_origins()
    }

    pub(crate) fn origins_of(&self, client: &Client) -> CallOrigins {
        CallOrigins::new(self.origin.as_ref().ok(), client.origins())
    }

    /// Whether the card, if it is known, leads to this origin.
    pub(crate) fn is_called_at(&self, origin: &str) -> bool {
        self.connected().is_some_and(|client| self.origins_of(&client).contains(origin))
    }

    /// The connection, which is made when it is first needed.
    pub(crate) async fn client(&self) -> Result<Client, ConnectFailure> {
        let cell = self.current();
        match cell.get_or_try_init(|| self.connect()).await {
            Ok(client) => Ok(client.clone()),
            Err(failure) => {
                self.note_failure(failure.why.clone());
                Err(failure)
            }
        }
    }

    /// Asks the agent for its card. The status tells what went wrong.
    pub(crate) async fn read_card(&self) -> Option<Client> {
        self.disconnect();
        self.client().await.ok()
    }

    /// The same, and why calls would have no credential now, if so.
    pub(crate) async fn test(&self) -> Option<String> {
        let client = self.read_card().await?;
        let why = self.options.access.check_credential(&client).await.err()?;
        Some(self.cleaner.clean(&why))
    }

    /// Begins a sign-in, and returns what the person is to do; `None` if there is nothing to do any more.
    pub(crate) async fn sign_in(&self) -> Result<Option<String>, String> {
        let text = match self.client().await {
            Ok(client) => self.options.access.sign_in(&client).await?,
            // A card for known callers only.
            Err(ConnectFailure { sign_in: Some(question), .. }) => Some(question.text),
            Err(failure) => return Err(failure.why),
        };
        Ok(text.map(|text| self.cleaner.clean(&text)))
    }

    /// What the card asks for and the configuration does not have. The names of schemes are the agent's.
    pub(crate) fn missing_authentication(&self, client: &Client) -> Option<String> {
        let missing = self.options.access.missing_authentication(client.security())?;
        Some(self.cleaner.clean(&missing))
    }

    /// The last attempt to reach the agent had no success.
    pub(crate) fn note_failure(&self, why: String) {
        self.lock().state = AgentState::Failed { why };
    }

    /// The client if there is one.
    pub(crate) fn connected(&self) -> Option<Client> {
        self.lock().client.get().cloned()
    }

    /// Asks the agent for its card with the next call, whatever is cached.
    pub(crate) fn disconnect(&self) {
        *self.lock() = Connection { ignores_cache: true, ..Connection::new() };
    }

    fn current(&self) -> Arc<OnceCell<Client>> {
        let mut connection = self.lock();
        if connection.since.is_some_and(|since| since.elapsed() > CardCache::MAX_AGE) {
            *connection = Connection::new();
        }
        connection.client.clone()
    }

    async fn connect(&self) -> Result<Client, ConnectFailure> {
        let mut options = self.options.access.client_options().await?;
        let origin = self.origin.clone()?;
        if std::mem::take(&mut self.lock().ignores_cache) {
            options.cards.forget(&self.options.card);
        }
        options.sent_secrets = self.cleaner.secrets();
        let begun = Instant::now();
        let client = Client::connect_to(&self.options.card, options).await;
        let client = client.map_err(|error| ConnectFailure {
            why: self.cleaner.clean(&explain_connection(&error, &origin.to_string())),
            quotes_peer: holds_words_of_peer(&error),
            sign_in: self.sign_in_question(&error),
        })?;
        let missing = self.missing_authentication(&client);
        let mut connection = self.lock();
        // Calls are sent nevertheless: the agent may want less than its card says.
        connection.state = missing.map_or(AgentState::Ready, |why| AgentState::Failed { why });
        connection.latency = Some(begun.elapsed());
        connection.since = Some(Instant::now());
        Ok(client)
    }

    pub(crate) fn status(&self) -> AgentStatus {
        let connection = self.lock();
        let card = connection.client.get().map(|client| self.card_summary(client));
        AgentStatus {
            name: self.options.name.clone(),
            display_name: self.options.display_name.clone(),
            description: self.options.description.clone(),
            origin: self.origin_name(),
            state: match &self.origin {
                Err(why) => AgentState::Failed { why: why.clone() },
                Ok(_) => connection.state.clone(),
            },
            card,
            latency: connection.latency,
        }
    }

    /// What a person is asked if signing in would help. The card may have named the address.
    pub(crate) fn sign_in_question(&self, error: &ClientError) -> Option<CallQuestion> {
        match error {
            ClientError::Credential(CredentialError::SignInRequired { what, url }) => {
                let text = self.cleaner.clean(what);
                Some(CallQuestion { kind: QuestionKind::Auth, text, url: url.clone() })
            }
            _ => None,
        }
    }

    fn card_summary(&self, client: &Client) -> AgentCardSummary {
        let RemoteCard { name, description, version, skills, capabilities, .. } = client.card();
        let clean = |text: &String| self.cleaner.clean(text);
        AgentCardSummary {
            name: clean(name),
            description: clean(description),
            version: clean(version),
            skills: skills.iter().map(|skill| (clean(&skill.name), clean(&skill.description))).collect(),
            protocol: client.protocol().name(),
            streams: capabilities.streaming,
            notices: client.notices().iter().map(clean).collect(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().ignore_poison()
    }
}

impl Connection {
    fn new() -> Self {
        Self {
            client: Arc::default(),
            state: AgentState::NotConnected,
            latency: None,
            since: None,
            ignores_cache: false,
        }
    }
}

/// Why there is no connection.
#[derive(Debug)]
pub(crate) struct ConnectFailure {
    pub(crate) why: String,
    /// The text may hold words of the agent.
    pub(crate) quotes_peer: bool,
    /// A person can help by signing in.
    pub(crate) sign_in: Option<CallQuestion>,
}

impl From<String> for ConnectFailure {
    fn from(why: String) -> Self {
        Self { why, quotes_peer: false, sign_in: None }
    }
}

/// A failure to reach the agent, in a sentence that says what to look at.
pub(crate) fn explain_connection(error: &ClientError, origin: &str) -> String {
    match error {
        ClientError::NoCard { .. } | ClientError::Status { status: 404 | 410, .. } => {
            format!(
                "no agent card was found at {origin}; check agent_card_url, which is fetched as it is: most agents have \
                 their card at {origin}/.well-known/agent-card.json ({error})"
            )
        }
        error if error.is_refused_credential() => {
            format!("authentication failed at {origin}; check the auth block of its file ({error})")
        }
        ClientError::OtherOrigin { named, .. } | ClientError::UnnamedOrigin { named } => {
            format!("{error}; if you trust it, add the line `allowed_origins: [{named}]` to the agent's file")
        }
        ClientError::NoInterface { .. }
        | ClientError::UnusableInterface { .. }
        | ClientError::Address { .. } => error.to_string(),
        _ => format!("the connection to {origin} failed: {error}"),
    }
}
