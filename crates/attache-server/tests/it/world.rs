//! A server in this process: memory store, built-in script model, a loopback socket.
//!
//! It is set up as the binary sets it up, but from values instead of settings. Tests reach it with the same client as the
//! tests of the whole product.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use attache_agent::{
    AgentModel, ApprovalDecision, ApprovalRequest, Approver, CodingAgent, ConversationLimits,
    ConversationSetup,
};
use attache_domain::{
    AgentCard, AgentExtension, AgentInterface, AgentProvider, AgentSkill, AnswerLocation, Binding,
    CallAnswer, Capabilities, Rights, Scope, TaskEnding, TaskId,
};
use attache_model::script::ScriptModel;
use attache_net::SystemResolver;
use attache_server::{HttpPushSender, Limits, PushSenderOptions, Server, ServerHandle, ServerOptions};
use attache_session::{PushOptions, PushSetup, Reservation, SessionOptions, SessionService};
use attache_store::Stores;
use attache_store::memory::MemoryStore;
use attache_store_sql::{SqliteOptions, SqliteStore};
pub(crate) use attache_testkit::agent_client::{message, message_to};
use attache_testkit::{TestClient, WAIT_TIMEOUT};
use attache_tool::{LeftoverProcesses, ToolRegistry, Workspace};
use attache_wire::card::CardForm;
use attache_wire::devtool::Dialect;
use attache_wire::{devtool, extensions, replay};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::asking_agent::{AskAlways, Note, Notes};

/// The script that most tests play.
pub(crate) const SCRIPT: &str = include_str!("../../../../examples/scripts/interop.yaml");

type Change<T> = Box<dyn FnOnce(&mut T)>;

/// How to start a server.
pub(crate) struct Launch {
    script: String,
    durable: bool,
    server: Vec<Change<ServerOptions>>,
    session: Vec<Change<SessionOptions>>,
    session_id: Option<TaskId>,
    notes: Option<Notes>,
}

pub(crate) fn launch() -> Launch {
    Launch {
        script: SCRIPT.to_owned(),
        durable: false,
        server: Vec::new(),
        session: Vec::new(),
        session_id: None,
        notes: None,
    }
}

impl Launch {
    /// Plays `script`, a YAML text, as the model.
    pub(crate) fn script(mut self, script: &str) -> Self {
        self.script = script.to_owned();
        self
    }

    /// Offers the tool `note`, and asks a person about each of its calls.
    pub(crate) fn asking(mut self, notes: &Notes) -> Self {
        self.notes = Some(notes.clone());
        self
    }

    /// Stores tasks in a SQLite file instead of memory.
    pub(crate) fn durable(mut self) -> Self {
        self.durable = true;
        self
    }

    pub(crate) fn options(mut self, change: impl FnOnce(&mut ServerOptions) + 'static) -> Self {
        self.server.push(Box::new(change));
        self
    }

    pub(crate) fn limits(self, change: impl FnOnce(&mut Limits) + 'static) -> Self {
        self.options(|options| change(&mut options.limits))
    }

    pub(crate) fn card(self, change: impl FnOnce(&mut AgentCard) + 'static) -> Self {
        self.options(|options| change(&mut options.card))
    }

    pub(crate) fn session(mut self, change: impl FnOnce(&mut SessionOptions) + 'static) -> Self {
        self.session.push(Box::new(change));
        self
    }

    /// Has a session of this id that waits for its first message.
    pub(crate) fn session_id(mut self, id: TaskId) -> Self {
        self.session_id = Some(id);
        self
    }

    pub(crate) fn token(self, token: &str) -> Self {
        let token = token.to_owned();
        self.options(|options| options.bearer_token = Some(token))
    }

    /// Serves these tenants and no others.
    pub(crate) fn tenants(self, tenants: &[&str]) -> Self {
        let tenants: Vec<String> = tenants.iter().map(|tenant| (*tenant).to_owned()).collect();
        self.options(|options| options.tenants = tenants)
    }

    pub(crate) fn without_push(self) -> Self {
        self.card(|card| card.capabilities.push_notifications = false).session(|options| options.push = None)
    }

    pub(crate) async fn start(self) -> TestServer {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let mut options = server_options(&url);
        self.server.into_iter().for_each(|change| change(&mut options));
        let mut session = session_options(&options.card);
        self.session.into_iter().for_each(|change| change(&mut session));
        let folder = tempfile::tempdir().expect("a temporary folder");
        let stores = if self.durable {
            let store = SqliteStore::open(&folder.path().join("tasks.db"), SqliteOptions::default());
            Stores::of(Arc::new(store.expect("a store")))
        } else {
            Stores::of(Arc::new(MemoryStore::default()))
        };
        let agent = Arc::new(agent(&self.script, self.notes.as_ref()));
        let session = SessionService::start(stores, agent, session).await.expect("a session");
        if let Some(id) = self.session_id {
            let (ending, rights) = (TaskEnding::Session, Rights::ALL);
            let wanted = Reservation { ending, rights, ..Reservation::default() };
            session.reserve_as(&Scope::new("", "operator"), id, wanted).await.expect("a session");
        }
        let server = Server::new(listener, session, options);
        let handle = server.handle();
        #[expect(clippy::disallowed_methods, reason = "ends when the server is dropped")]
        let running = tokio::spawn(server.run());
        TestServer { url, handle, running, folder }
    }
}

/// A server that listens until it is dropped.
pub(crate) struct TestServer {
    url: String,
    handle: ServerHandle,
    running: JoinHandle<()>,
    folder: TempDir,
}

impl TestServer {
    /// `http://127.0.0.1:PORT`
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// `127.0.0.1:PORT`
    pub(crate) fn address(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    pub(crate) fn client(&self) -> TestClient {
        TestClient::of(self.address())
    }

    /// The files of the store.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.folder.path()).expect("a folder");
        entries.map(|entry| entry.expect("a file").path()).collect()
    }

    pub(crate) fn stop(&self) {
        self.handle.stop();
    }

    /// Stops, and waits until nothing of it runs any more.
    pub(crate) async fn ended(mut self) {
        self.stop();
        timeout(WAIT_TIMEOUT, &mut self.running).await.expect("it ends").expect("it does not panic");
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.handle.stop();
    }
}

pub(crate) fn server_options(url: &str) -> ServerOptions {
    ServerOptions {
        card: card(url),
        extended_card: None,
        answers_card: None,
        card_form: CardForm::Superset,
        answers: AnswerLocation::Artifact,
        signed_card: None,
        tenants: Vec::new(),
        card_max_age: Duration::from_secs(300),
        bearer_token: None,
        clients: Vec::new(),
        local_user: Some(rustix::process::geteuid().as_raw()),
        allowed_hosts: vec![Ipv4Addr::LOCALHOST.to_string()],
        allowed_origins: Vec::new(),
        strict_version: false,
        default_dialect: Dialect::Plain,
        live: false,
        api_keys: Arc::default(),
        live_session: None,
        console: None,
        limits: Limits::default(),
    }
}

/// The card of a server at `url` that offers everything.
fn card(url: &str) -> AgentCard {
    let interface = |path: &str, binding, version: &str| AgentInterface {
        url: format!("{url}{path}"),
        binding,
        protocol_version: version.to_owned(),
        tenant: None,
    };
    let extension =
        |uri: &str| AgentExtension { uri: uri.to_owned(), description: None, required: false, params: None };
    AgentCard {
        name: "attache".into(),
        description: "A server under test".into(),
        version: "1".into(),
        interfaces: vec![
            interface("/", Binding::JsonRpc, "1.0"),
            interface("", Binding::HttpJson, "1.0"),
            interface("", Binding::Grpc, "1.0"),
            interface("/", Binding::JsonRpc, "0.3"),
            interface("/rest", Binding::HttpJson, "0.3"),
            interface("", Binding::Grpc, "0.3"),
        ],
        provider: Some(AgentProvider { organization: "attache".into(), url: format!("{url}/") }),
        documentation_url: None,
        icon_url: None,
        capabilities: Capabilities {
            streaming: true,
            push_notifications: true,
            extended_agent_card: false,
            extensions: vec![
                extension(devtool::URI),
                extension(replay::URI),
                extension(extensions::IDEMPOTENT_SEND),
            ],
        },
        security_schemes: Default::default(),
        security: Vec::new(),
        default_input_modes: texts(&["text/*", "application/json", "application/octet-stream", "image/*"]),
        default_output_modes: texts(&["text/*", "application/json", "application/octet-stream", "image/*"]),
        skills: vec![skill("code", "Code")],
    }
}

pub(crate) fn session_options(card: &AgentCard) -> SessionOptions {
    SessionOptions {
        input_modes: card.default_input_modes.clone(),
        output_modes: card.default_output_modes.clone(),
        push: Some(push_with(|_, _| {})),
        ..SessionOptions::default()
    }
}

/// Pushes to receivers on this machine, too.
pub(crate) fn push_to_loopback() -> PushSetup {
    push_with(|sender, _| sender.allow.push("127.0.0.0/8".into()))
}

fn skill(id: &str, name: &str) -> AgentSkill {
    AgentSkill {
        id: id.into(),
        name: name.into(),
        description: name.into(),
        tags: vec![id.into()],
        examples: Vec::new(),
        input_modes: texts(&["text/plain"]),
        output_modes: texts(&["text/plain"]),
        security: Vec::new(),
    }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// Pushes with other options than usual.
pub(crate) fn push_with(change: impl FnOnce(&mut PushSenderOptions, &mut PushOptions)) -> PushSetup {
    let mut sender = PushSenderOptions {
        allow: Vec::new(),
        allow_http: false,
        timeout: Duration::from_secs(10),
        signing_key: None,
        resolver: Arc::new(SystemResolver),
    };
    let mut options = PushOptions::default();
    change(&mut sender, &mut options);
    let sender = HttpPushSender::new(sender).expect("a push sender");
    PushSetup { sender: Arc::new(sender), options }
}

fn agent(script: &str, notes: Option<&Notes>) -> CodingAgent {
    let model = ScriptModel::from_yaml(script).expect("the script can be read");
    let workspace = Workspace {
        roots: vec!["work".into()],
        scratch: "scratch".into(),
        environment: Vec::new(),
        ignore: Default::default(),
    };
    let mut tools = ToolRegistry::default();
    let mut approver: Arc<dyn Approver> = Arc::new(AllowAll);
    if let Some(notes) = notes {
        tools.add(Arc::new(Note::new(notes)));
        approver = Arc::new(AskAlways);
    }
    CodingAgent::new(Arc::new(ConversationSetup {
        model: AgentModel::BuiltIn(Arc::new(model)),
        tool_source: Arc::new(tools),
        approver,
        workspace: Arc::new(workspace),
        instructions: "".into(),
        opening: Vec::new(),
        context_files: None,
        info: None,
        notices: Vec::new(),
        limits: ConversationLimits::default(),
        leftovers: Arc::new(NoLeftoverProcesses),
        attended: true,
    }))
}

struct AllowAll;

impl Approver for AllowAll {
    fn rule(&self, _: ApprovalRequest<'_>) -> ApprovalDecision {
        ApprovalDecision::Allow { why: "a test".into(), access: None }
    }

    fn remember_answer(&self, _: ApprovalRequest<'_>, _: &CallAnswer) {}

    fn restore_answer(&self, _: ApprovalRequest<'_>, _: &CallAnswer) {}
}

/// The tools of the tests start no processes.
struct NoLeftoverProcesses;

#[async_trait]
impl LeftoverProcesses for NoLeftoverProcesses {
    async fn end(&self, _mark: &str) -> Vec<i32> {
        Vec::new()
    }
}
