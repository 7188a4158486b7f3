//! The trait for models, tools and connections, which the binary implements.
//!
//! Models, standard tools, MCP connections and remote agents are implementations, and only the binary depends on
//! those.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use attache_agent::{AgentModel, ClientServer, SettingsRefusal};
use attache_domain::{Content, Scope};
use attache_tool::ruling::FileLookup;
use attache_tool::{LeftoverProcesses, ServerStatus, Tool, ToolContext, ToolRegistry, Workspace};

use crate::{AgentGroup, McpServerSettings, ModelChoice, RemoteAgents, WorkspaceSettings};

#[async_trait]
pub trait Implementations: Send + Sync + 'static {
    /// The model of `choice`; the same one for the same choice. The error says why it cannot be used.
    fn model(&self, choice: &ModelChoice) -> Result<AgentModel, String>;

    /// The model of `choice` for one conversation, with the key of its client.
    fn own_model(&self, choice: &ModelChoice) -> Result<AgentModel, String>;

    /// New standard tools for one conversation, as far as the settings offer them.
    fn tools(&self, settings: &WorkspaceSettings) -> ToolRegistry;

    /// The files of a workspace, for rulings.
    fn files(&self, workspace: &Workspace) -> Arc<dyn FileLookup>;

    /// Ends processes that an earlier server process left.
    fn leftovers(&self) -> Arc<dyn LeftoverProcesses>;

    /// The content of the files that `text` mentions.
    async fn mentioned(&self, text: &str, context: &ToolContext) -> Vec<Content>;

    /// Starts to connect to the servers of `group`. Conversations of one scope share connections.
    fn connect(&self, scope: &Scope, group: ServerGroup) -> Result<Arc<dyn ToolServers>, SettingsRefusal>;

    /// The remote agents of one conversation. Does not wait for them.
    fn remote_agents(&self, group: AgentGroup) -> Arc<dyn RemoteAgents>;
}

/// MCP servers with the same working folder and origin.
pub struct ServerGroup {
    pub servers: Vec<(String, McpServerSettings)>,
    pub source: ServerSource,
    /// The folder that the servers work in.
    pub root: PathBuf,
}

/// The origin of a group of servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerSource {
    Settings {
        trusted: bool,
    },
    /// A client on this machine.
    LocalClient,
    RemoteClient,
}

/// A group of MCP servers that are connected or connecting. The connections end when the last conversation drops them.
#[async_trait]
pub trait ToolServers: Send + Sync + 'static {
    /// Waits until each server is connected or has failed.
    async fn settled(&self);

    fn statuses(&self) -> Vec<ServerStatus>;

    /// The current tools of the connected servers.
    fn tools(&self) -> Vec<Arc<dyn Tool>>;

    /// A number that grows when the tools change.
    fn version(&self) -> u64;

    /// Servers to which nothing is sent before a person agrees.
    fn unapproved(&self) -> Vec<ClientServer>;

    /// Connects to one of them; not a tool for models.
    fn connect_tool(&self) -> Option<Arc<dyn Tool>>;
}
