//! A server in this process with the coding agent: a scripted Gemini model, the standard tools with their rules, a
//! workspace, and a SQLite file from which it can be started again.
//!
//! It is wired as the binary wires it, but from values instead of settings, and the sandbox is left out.

mod conversations;

use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use attache_agent::{CodingAgent, ConversationLimits};
use attache_server::{Server, ServerOptions};
use attache_session::{SessionOptions, SessionService};
use attache_store::Stores;
use attache_store_sql::{SqliteOptions, SqliteStore};
use attache_testkit::model_server::ModelServer;
use attache_testkit::{TestClient, WAIT_TIMEOUT};
use attache_tool::policy::PolicyMode;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use crate::world::{server_options, session_options};
use conversations::TestConversations;

type Change<T> = Arc<dyn Fn(&mut T) + Send + Sync>;

/// How to start a server. The same launch can be started again.
#[derive(Clone)]
pub(crate) struct AgentLaunch {
    /// Shared with the started servers, so that the folder exists as long as one of them may use it.
    folder: Arc<TempDir>,
    model: Model,
    mode: PolicyMode,
    limits: ConversationLimits,
    server: Vec<Change<ServerOptions>>,
    session: Vec<Change<SessionOptions>>,
}

#[derive(Clone)]
enum Model {
    /// At this address.
    Gemini(String),
    /// Plays this YAML text.
    Script(String),
}

/// A launch whose workspace is the folder `work`, with the file `hello.txt`.
pub(crate) fn launch_with(model: &ModelServer) -> AgentLaunch {
    launch_of(Model::Gemini(model.url()))
}

/// As [`launch_with`], but the model plays `script`.
pub(crate) fn launch_script(script: &str) -> AgentLaunch {
    launch_of(Model::Script(script.to_owned()))
}

fn launch_of(model: Model) -> AgentLaunch {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().join("work");
    fs::create_dir_all(&workspace).unwrap();
    fs::write(workspace.join("hello.txt"), "Hello, world.\nSecond line.\n").unwrap();
    AgentLaunch {
        folder: Arc::new(folder),
        model,
        mode: PolicyMode::Default,
        limits: ConversationLimits::default(),
        server: Vec::new(),
        session: Vec::new(),
    }
}

pub(crate) async fn start(model: &ModelServer) -> (AgentLaunch, AgentServer) {
    let launch = launch_with(model);
    let server = launch.start().await;
    (launch, server)
}

/// The workspace of a launch.
pub(crate) fn work(launch: &AgentLaunch) -> PathBuf {
    launch.folder().join("work")
}

impl AgentLaunch {
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The approval mode.
    pub(crate) fn mode(mut self, mode: PolicyMode) -> Self {
        self.mode = mode;
        self
    }

    pub(crate) fn limits(mut self, change: impl FnOnce(&mut ConversationLimits)) -> Self {
        change(&mut self.limits);
        self
    }

    pub(crate) fn options(mut self, change: impl Fn(&mut ServerOptions) + Send + Sync + 'static) -> Self {
        self.server.push(Arc::new(change));
        self
    }

    pub(crate) fn session(mut self, change: impl Fn(&mut SessionOptions) + Send + Sync + 'static) -> Self {
        self.session.push(Arc::new(change));
        self
    }

    /// Starts the server and waits until it listens.
    pub(crate) async fn start(&self) -> AgentServer {
        // As the binary on a small machine. Its own runtime, so that it can end as abruptly as a process.
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let url = runtime.spawn(self.clone().serve()).await.unwrap();
        AgentServer { url, runtime: Some(runtime), _folder: self.folder.clone() }
    }

    async fn serve(self) -> String {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mut options = server_options(&url);
        self.server.iter().for_each(|change| change(&mut options));
        let mut session = session_options(&options.card);
        self.session.iter().for_each(|change| change(&mut session));
        let store = SqliteStore::open(&self.folder().join("tasks.db"), SqliteOptions::default()).unwrap();
        let agent = CodingAgent::new(Arc::new(TestConversations::new(&self)));
        let session =
            SessionService::start(Stores::of(Arc::new(store)), Arc::new(agent), session).await.unwrap();
        #[expect(clippy::disallowed_methods, reason = "ends with the runtime of the server")]
        tokio::spawn(Server::new(listener, session, options).run());
        url
    }
}

/// A server that listens until it is dropped.
pub(crate) struct AgentServer {
    url: String,
    runtime: Option<Runtime>,
    _folder: Arc<TempDir>,
}

impl AgentServer {
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

    /// Ends all its work where it stands, as `kill -9` does: nothing is finished, and nothing is written any more.
    pub(crate) async fn kill(mut self) {
        let runtime = self.runtime.take().unwrap();
        tokio::task::spawn_blocking(move || runtime.shutdown_timeout(WAIT_TIMEOUT)).await.unwrap();
    }
}

impl Drop for AgentServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
