//! A server: its connection, which is restored after a loss, and its lists.

#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;
mod lists;
mod watcher;

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use attache_domain::{IgnorePoison, excerpt_in_bytes};
use attache_tool::Tool;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::connection::{Connection, RequestOptions};
use crate::error::{CallError, ConnectError};
use crate::mcp_tool::McpTool;
use crate::tool_list::ToolList;
use crate::{ConnectContext, McpServerOptions, ServerState, ServerStatus, Transport};
use lists::ServerLists;

/// The delay before a failed server is tried again, because a model may call in a loop.
const RECONNECT_DELAY: Duration = Duration::from_secs(2);
const MAX_INSTRUCTIONS_LENGTH: usize = 10_000;

pub(crate) struct Server {
    pub(crate) options: McpServerOptions,
    context: Arc<ConnectContext>,
    current: watch::Sender<Option<Arc<Connection>>>,
    /// Locked while a connection is made, so that only one is made. Holds the latest failure and its time.
    opening: tokio::sync::Mutex<Option<(Instant, ConnectError)>>,
    closed: CancellationToken,
    approved: watch::Sender<bool>,
    view: Mutex<ServerView>,
    /// Counts visible changes.
    changes: Arc<watch::Sender<u64>>,
}

struct ServerView {
    state: ServerState,
    tools: Vec<Arc<dyn Tool>>,
    resources: Vec<Resource>,
    notes: Vec<String>,
    instructions: Option<String>,
}

/// A resource of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resource {
    pub(crate) uri: String,
    pub(crate) name: String,
    pub(crate) media_type: String,
    pub(crate) description: String,
}

impl Server {
    /// The mark of the started program.
    pub(crate) fn process_mark(&self) -> Option<String> {
        self.context.mark.clone().filter(|_| matches!(self.options.transport, Transport::Stdio { .. }))
    }

    pub(crate) fn new(
        options: McpServerOptions,
        context: Arc<ConnectContext>,
        changes: Arc<watch::Sender<u64>>,
    ) -> Self {
        let view = ServerView {
            state: if options.needs_approval { ServerState::Unapproved } else { ServerState::Connecting },
            tools: Vec::new(),
            resources: Vec::new(),
            notes: Vec::new(),
            instructions: None,
        };
        Self {
            approved: watch::Sender::new(!options.needs_approval),
            options,
            context,
            current: watch::Sender::new(None),
            opening: tokio::sync::Mutex::default(),
            closed: CancellationToken::new(),
            view: Mutex::new(view),
            changes,
        }
    }

    /// The connection; reconnects if it is lost.
    pub(crate) async fn connection(self: &Arc<Self>) -> Result<Arc<Connection>, ConnectError> {
        if let Some(connection) = self.live_connection() {
            return Ok(connection);
        }
        let mut last_failure = self.opening.lock().await;
        if self.closed.is_cancelled() {
            return Err(ConnectError::Closed);
        }
        if !*self.approved.borrow() {
            return Err(ConnectError::Unapproved);
        }
        if let Some(connection) = self.live_connection() {
            return Ok(connection);
        }
        if let Some((at, error)) = &*last_failure
            && at.elapsed() < RECONNECT_DELAY
        {
            return Err(error.clone());
        }
        self.change(|view| view.state = ServerState::Connecting);
        let given_up = ConnectGuard(self);
        let opened = tokio::select! {
            opened = self.open() => opened,
            () = self.closed.cancelled() => Err(ConnectError::Closed),
        };
        std::mem::forget(given_up);
        match opened {
            Ok((connection, listed)) => {
                *last_failure = None;
                self.current.send_replace(Some(connection.clone()));
                self.publish(&connection, listed);
                if self.closed.is_cancelled() {
                    connection.close_now();
                }
                Ok(connection)
            }
            Err(error) => {
                *last_failure = Some((Instant::now(), error.clone()));
                self.change(|view| view.state = ServerState::Failed { why: error.to_string() });
                Err(error)
            }
        }
    }

    /// Sends a request, over a new connection if necessary. A request that never reached the server is repeated once.
    pub(crate) async fn request(
        self: &Arc<Self>,
        method: &str,
        params: Value,
        terms: RequestOptions<'_>,
    ) -> Result<Value, ServerRequestError> {
        match self.request_once(method, params.clone(), terms.clone()).await {
            Err(ServerRequestError::Call(CallError::Unsent(_))) => {
                self.request_once(method, params, terms).await
            }
            decided => decided,
        }
    }

    async fn request_once(
        self: &Arc<Self>,
        method: &str,
        params: Value,
        terms: RequestOptions<'_>,
    ) -> Result<Value, ServerRequestError> {
        let connection = tokio::select! {
            biased;
            () = terms.cancel.cancelled() => return Err(ServerRequestError::Call(CallError::Cancelled)),
            connection = self.connection() => connection.map_err(ServerRequestError::Connect)?,
        };
        connection.request(method, params, terms).await.map_err(ServerRequestError::Call)
    }

    pub(crate) fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.view().tools.clone()
    }

    pub(crate) fn resources(&self) -> Vec<Resource> {
        self.view().resources.clone()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.is_cancelled()
    }

    pub(crate) fn is_connecting(&self) -> bool {
        self.view().state == ServerState::Connecting
    }

    /// Makes the first connection, after a person has agreed.
    pub(crate) fn approve(&self) {
        if !*self.approved.borrow() {
            self.change(|view| view.state = ServerState::Connecting);
            self.approved.send_replace(true);
        }
    }

    /// Returns when no connection attempt is running.
    pub(crate) async fn settled(&self) {
        let mut changes = self.changes.subscribe();
        while self.is_connecting() {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    pub(crate) fn status(&self) -> ServerStatus {
        let view = self.view();
        ServerStatus {
            name: self.options.name.clone(),
            description: self.options.description.clone(),
            state: view.state.clone(),
            tools: view.tools.iter().map(|tool| tool.spec().name.clone()).collect(),
            notes: view.notes.clone(),
            instructions: view.instructions.clone(),
        }
    }

    pub(crate) async fn close(&self) {
        self.closed.cancel();
        let connection = self.current.send_replace(None);
        if let Some(connection) = connection {
            connection.close().await;
        }
        self.change(|view| view.state = ServerState::Failed { why: ConnectError::Closed.to_string() });
    }

    pub(crate) fn close_now(&self) {
        self.closed.cancel();
        if let Some(connection) = self.current.send_replace(None) {
            connection.close_now();
        }
    }

    fn live_connection(&self) -> Option<Arc<Connection>> {
        self.current.borrow().clone().filter(|connection| !connection.is_over())
    }

    async fn open(self: &Arc<Self>) -> Result<(Arc<Connection>, ServerLists), ConnectError> {
        let connection = Connection::open(&self.options, &self.context).await?;
        let listed = lists::read(self, &connection).await?;
        Ok((Arc::new(connection), listed))
    }

    fn publish(self: &Arc<Self>, connection: &Connection, listed: ServerLists) {
        let ServerLists { offer: ToolList { tools, notes, .. }, resources } = listed;
        let tool = |spec| Arc::new(McpTool::new(spec, Arc::downgrade(self))) as Arc<dyn Tool>;
        let tools = tools.into_iter().map(tool).collect();
        let instructions =
            connection.instructions().map(|text| excerpt_in_bytes(&text, MAX_INSTRUCTIONS_LENGTH));
        let state = ServerState::Connected;
        self.change(|view| *view = ServerView { state, tools, resources, notes, instructions });
    }

    fn change(&self, change: impl FnOnce(&mut ServerView)) {
        change(&mut self.view());
        self.changes.send_modify(|count| *count += 1);
    }

    fn view(&self) -> MutexGuard<'_, ServerView> {
        self.view.lock().ignore_poison()
    }
}

/// Records a failure if the connection attempt is dropped.
struct ConnectGuard<'a>(&'a Server);

impl Drop for ConnectGuard<'_> {
    fn drop(&mut self) {
        let why = "connecting was given up".to_owned();
        self.0.change(|view| view.state = ServerState::Failed { why });
    }
}

/// The reason for a failed request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServerRequestError {
    #[error("the server cannot be used: {0}")]
    Connect(ConnectError),
    #[error("{0}")]
    Call(CallError),
}
