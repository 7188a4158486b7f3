//! MCP servers that clients bring into sessions over their sockets. Every client of a session sees which client brought which server.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use attache_domain::{Fault, IgnorePoison, Scope, TaskId, TaskKey};
use attache_net::Url;
use attache_session::ToolsGuard;
use attache_wire::devtool::live_tools::BroughtServer;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender, channel};

/// Changes that a slow reader may be behind; then it reads all lists again.
const MAX_CHANGES: usize = 64;

/// The servers of all sessions.
pub(crate) struct LiveTools {
    sessions: Mutex<SessionTools>,
    changes: Sender<Arc<TaskKey>>,
}

#[derive(Default)]
struct SessionTools {
    servers: HashMap<TaskKey, Vec<(u64, BroughtServer)>>,
    /// Numbers what is brought.
    latest: u64,
}

/// One server in one session. It is taken away when this is dropped.
pub(crate) struct BroughtTool {
    all: Arc<LiveTools>,
    pub(crate) task: TaskKey,
    pub(crate) name: String,
    number: u64,
    /// Dropped with this.
    _tools: ToolsGuard,
}

impl LiveTools {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { sessions: Mutex::default(), changes: channel(MAX_CHANGES).0 })
    }

    /// Shows the server, which the session uses already.
    pub(crate) fn add(
        self: &Arc<Self>,
        task: TaskKey,
        server: BroughtServer,
        tools: ToolsGuard,
    ) -> BroughtTool {
        let name = server.name.clone();
        let mut sessions = self.lock();
        sessions.latest += 1;
        let number = sessions.latest;
        sessions.servers.entry(task.clone()).or_default().push((number, server));
        drop(sessions);
        self.announce(&task);
        BroughtTool { all: self.clone(), task, name, number, _tools: tools }
    }

    /// The servers of a session, in the order in which they came.
    pub(crate) fn of(&self, task: &TaskKey) -> Vec<BroughtServer> {
        let sessions = self.lock();
        let servers = sessions.servers.get(task).map(Vec::as_slice).unwrap_or_default();
        servers.iter().map(|(_, server)| server.clone()).collect()
    }

    /// The sessions of a caller that have any.
    pub(crate) fn sessions(&self, scope: &Scope) -> Vec<TaskId> {
        let sessions = self.lock();
        sessions.servers.keys().filter(|key| key.scope == *scope).map(|key| key.task.clone()).collect()
    }

    pub(crate) fn reader(&self) -> ToolsReader {
        ToolsReader(self.changes.subscribe())
    }

    fn announce(&self, task: &TaskKey) {
        // There may be no reader.
        let _ = self.changes.send(Arc::new(task.clone()));
    }

    fn lock(&self) -> MutexGuard<'_, SessionTools> {
        self.sessions.lock().ignore_poison()
    }
}

impl Drop for BroughtTool {
    fn drop(&mut self) {
        let mut sessions = self.all.lock();
        if let Some(servers) = sessions.servers.get_mut(&self.task) {
            servers.retain(|(number, _)| *number != self.number);
            if servers.is_empty() {
                sessions.servers.remove(&self.task);
            }
        }
        drop(sessions);
        self.all.announce(&self.task);
    }
}

/// Tells which sessions have other servers than before.
pub(crate) struct ToolsReader(Receiver<Arc<TaskKey>>);

impl ToolsReader {
    /// The session that has changed; none: any of them. Can be dropped and called again.
    pub(crate) async fn next(&mut self) -> Option<Arc<TaskKey>> {
        match self.0.recv().await {
            Ok(task) => Some(task),
            Err(RecvError::Lagged(_)) => None,
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

/// The address as every client of the session sees it. Refuses one with a user or a query, which may be a password or a key:
/// the question about the connection shows the whole address.
pub(crate) fn shown_address(name: &str, address: &str) -> Result<String, Fault> {
    // What is no address is refused with a better reason when the server is brought.
    let Ok(url) = Url::parse(address) else { return Ok(String::new()) };
    let has_user = !url.username().is_empty() || url.password().is_some();
    if has_user || url.query().is_some() || url.fragment().is_some() {
        let what = "must be an address without user, query and fragment: every client of the session sees it";
        return Err(Fault::invalid(format!("mcpServers.{name}.httpUrl"), what));
    }
    Ok(format!("{}{}", url.origin().ascii_serialization(), url.path()))
}
