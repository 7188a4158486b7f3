//! All MCP servers of a conversation.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use attache_domain::IgnorePoison;
use attache_tool::Tool;
use futures_util::future::join_all;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::connect_server::ConnectServer;
use crate::resources::{ListResources, ReadResource};
use crate::server::Server;
use crate::{ConnectContext, McpServerOptions, ServerState, ServerStatus};

/// The servers of one conversation. Dropping it ends all connections and all started programs.
pub struct McpServers {
    servers: Arc<[Arc<Server>]>,
    resource_tools: Vec<Arc<dyn Tool>>,
    changes: Arc<watch::Sender<u64>>,
    attending: Mutex<JoinSet<()>>,
}

/// A server that needs a person's approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnapprovedServer {
    pub name: String,
    pub address: String,
}

impl McpServers {
    /// Connects to all at once and waits until each is connected or has failed. [`McpServers::statuses`] reports
    /// unreachable servers.
    pub async fn connect(options: Vec<McpServerOptions>, context: ConnectContext) -> Self {
        let servers = Self::start(options, context);
        servers.settled().await;
        servers
    }

    /// Connects without waiting. Requires a runtime.
    pub fn start(options: Vec<McpServerOptions>, context: ConnectContext) -> Self {
        let (context, changes) = (Arc::new(context), Arc::new(watch::Sender::new(0)));
        let server = |options| Arc::new(Server::new(options, context.clone(), changes.clone()));
        let servers: Arc<[Arc<Server>]> = options.into_iter().map(server).collect();
        let mut attending = JoinSet::new();
        for server in servers.iter() {
            attending.spawn(server.clone().watch());
        }
        let known = Arc::downgrade(&servers);
        let resource_tools: Vec<Arc<dyn Tool>> =
            vec![Arc::new(ListResources::new(known.clone())), Arc::new(ReadResource::new(known))];
        Self { servers, resource_tools, changes, attending: Mutex::new(attending) }
    }

    /// Returns when every first connection attempt has ended.
    pub async fn settled(&self) {
        let mut changes = self.changes.subscribe();
        while self.servers.iter().any(|server| server.is_connecting()) {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// Servers to which nothing is sent before a person agrees.
    pub fn unapproved(&self) -> Vec<UnapprovedServer> {
        let unapproved =
            self.servers.iter().filter(|server| server.status().state == ServerState::Unapproved);
        let address = |server: &Arc<Server>| {
            let name = server.options.name.clone();
            Some(UnapprovedServer { name, address: server.options.approval_address()? })
        };
        unapproved.filter_map(address).collect()
    }

    /// The tool that connects to a server that needs approval. Not for models.
    pub fn connect_tool(&self) -> Option<Arc<dyn Tool>> {
        let needed = self.servers.iter().any(|server| server.options.needs_approval);
        needed.then(|| Arc::new(ConnectServer::new(Arc::downgrade(&self.servers))) as Arc<dyn Tool>)
    }

    /// The status of each server, in the order of the settings.
    pub fn statuses(&self) -> Vec<ServerStatus> {
        self.servers.iter().map(|server| server.status()).collect()
    }

    /// The current tools. If two have the same name, the server that comes first in the settings wins.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let mut names = BTreeSet::new();
        let mut tools: Vec<Arc<dyn Tool>> = self.servers.iter().flat_map(|server| server.tools()).collect();
        tools.retain(|tool| {
            let name = &tool.spec().name;
            let new = names.insert(name.clone());
            if !new {
                tracing::debug!(name, "two MCP servers offer a tool of this name; the second is left out");
            }
            new
        });
        if self.servers.iter().any(|server| !server.resources().is_empty()) {
            tools.extend(self.resource_tools.iter().cloned());
        }
        tools
    }

    /// A version that grows with every change of a status or a list of tools.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Ends all connections and programs. Calls of tools that are still in use return an error.
    pub async fn close(&self) {
        join_all(self.servers.iter().map(|server| server.close())).await;
        let mut attending = std::mem::take(&mut *self.attending.lock().ignore_poison());
        attending.shutdown().await;
    }
}

impl Drop for McpServers {
    fn drop(&mut self) {
        self.servers.iter().for_each(|server| server.close_now());
    }
}
