//! The trait that sets up conversations: workspace, model, tools and rules.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use attache_command::WorkspaceInfo;
use attache_domain::{Content, ContextId, RequestedSettings, Scope};
use attache_model::ToolDeclaration;
use attache_session::ToolsGuard;
use attache_tool::{LeftoverProcesses, Tool, ToolContext, ToolRegistry, ToolSpec, Workspace};

use crate::compaction::DEFAULT_COMPACTION_THRESHOLD;
use crate::{AgentModel, Approver};

/// Everything a conversation works with. Files read, processes and approvals are not shared with other conversations.
#[derive(Clone)]
pub struct ConversationSetup {
    pub model: AgentModel,
    pub tool_source: Arc<dyn ToolSource>,
    pub approver: Arc<dyn Approver>,
    pub workspace: Arc<Workspace>,
    /// The system instructions of a language model.
    pub instructions: Arc<str>,
    /// The first message of the conversation.
    pub opening: Vec<Content>,
    pub context_files: Option<Arc<dyn ContextFiles>>,
    /// The values that commands show.
    pub info: Option<Arc<dyn WorkspaceInfo>>,
    /// Notices for people, shown once in a conversation.
    pub notices: Vec<String>,
    pub limits: ConversationLimits,
    /// Ends the processes that calls of a killed server have left.
    pub leftovers: Arc<dyn LeftoverProcesses>,
    /// Whether a person can answer questions.
    pub attended: bool,
}

#[derive(Debug, Clone)]
pub struct ConversationLimits {
    /// The maximum number of model answers in one turn; then a person is asked whether to continue.
    pub turn_requests: u32,
    /// The maximum number of model answers in one conversation.
    pub conversation_requests: Option<u32>,
    /// The share of the model's window that triggers compaction.
    pub compression_threshold: f64,
    /// Whether a model that repeats itself gets a warning and is then stopped.
    pub detects_loops: bool,
}

impl Default for ConversationLimits {
    fn default() -> Self {
        Self {
            turn_requests: 100,
            conversation_requests: None,
            compression_threshold: DEFAULT_COMPACTION_THRESHOLD,
            detects_loops: true,
        }
    }
}

#[async_trait]
pub trait Conversations: Send + Sync + 'static {
    /// Checks the settings as far as possible without opening a workspace. Called once for each message.
    fn check(&self, settings: &RequestedSettings) -> Result<(), SettingsRefusal>;

    /// The model of a conversation with these settings, or why there is none. Checks only the model.
    fn model(&self, settings: &RequestedSettings) -> Result<AgentModel, SettingsRefusal>;

    /// The setup of a conversation; the same one while its settings stay the same.
    async fn open(
        &self,
        scope: &Scope,
        context: &ContextId,
        settings: &RequestedSettings,
    ) -> Result<Arc<ConversationSetup>, SettingsRefusal>;

    /// The commands of a conversation with these settings.
    async fn commands(
        &self,
        settings: &RequestedSettings,
    ) -> Result<attache_command::CommandRegistry, SettingsRefusal>;

    /// Adds an MCP server of the client `by` to a conversation until the guard is dropped. `brought` contains only
    /// this server.
    async fn bring_server(
        &self,
        _scope: &Scope,
        _context: &ContextId,
        _settings: &RequestedSettings,
        _brought: &RequestedSettings,
        _by: &str,
    ) -> Result<ToolsGuard, SettingsRefusal> {
        Err(SettingsRefusal { field: "mcpServers", what: "cannot be added to this agent".to_owned() })
    }

    /// Reloads the context files for the next turn of the conversation.
    async fn refresh(&self, scope: &Scope, context: &ContextId);
}

/// Adds the client's own key to the settings. Without it the conversation waits for a credential.
pub const API_KEY: &str = "apiKey";

/// Why a requested setting is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct SettingsRefusal {
    /// The setting that is refused.
    pub field: &'static str,
    /// What was wrong, and what is allowed.
    pub what: String,
}

/// A conversation's current tools.
pub trait ToolSource: Send + Sync + 'static {
    fn tools(&self) -> ToolRegistry;

    /// The declarations of the same tools. The same list while its content stays the same, if possible.
    fn declarations(&self) -> Arc<[ToolDeclaration]> {
        declarations(&self.tools())
    }

    /// A version that changes with the tools.
    fn version(&self) -> u64 {
        0
    }

    /// MCP servers to which nothing is sent before a person agrees.
    fn unapproved_servers(&self) -> Vec<ClientServer> {
        Vec::new()
    }

    /// Connects to one of them; its input is the server's name and address. Models do not see this tool.
    fn connect_tool(&self) -> Option<Arc<dyn Tool>> {
        None
    }

    /// The tool of a call that began before: also one that is not offered any more, and then only ends what has begun.
    fn begun_tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.tools().find(name).ok().cloned()
    }

    /// A tool that only commands can use.
    fn command_tool(&self, _name: &str) -> Option<Arc<dyn Tool>> {
        None
    }
}

/// An MCP server that the client of a conversation named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientServer {
    pub name: String,
    pub address: String,
}

/// The declarations of `tools` for a model.
pub fn declarations(tools: &ToolRegistry) -> Arc<[ToolDeclaration]> {
    let declare = |spec: &ToolSpec| ToolDeclaration {
        name: spec.name.clone(),
        description: spec.description.clone(),
        parameters: spec.parameters.clone(),
    };
    tools.tools().map(|tool| declare(tool.spec())).collect()
}

/// Tools that do not change.
impl ToolSource for ToolRegistry {
    fn tools(&self) -> ToolRegistry {
        self.clone()
    }
}

/// Finds files of the workspace that the model should see.
#[async_trait]
pub trait ContextFiles: Send + Sync + 'static {
    /// The files that `text` mentions, for the model; empty if it mentions none.
    async fn referenced_by(&self, text: &str, context: &ToolContext) -> Vec<Content>;

    /// The context files near the paths that a call has touched; each file once.
    async fn nearby(&self, touched: &[PathBuf]) -> Option<String>;
}

/// One setup for all conversations.
#[async_trait]
impl Conversations for ConversationSetup {
    fn check(&self, _settings: &RequestedSettings) -> Result<(), SettingsRefusal> {
        Ok(())
    }

    fn model(&self, _settings: &RequestedSettings) -> Result<AgentModel, SettingsRefusal> {
        Ok(self.model.clone())
    }

    async fn open(
        &self,
        _: &Scope,
        _: &ContextId,
        _: &RequestedSettings,
    ) -> Result<Arc<ConversationSetup>, SettingsRefusal> {
        Ok(Arc::new(self.clone()))
    }

    async fn commands(
        &self,
        _settings: &RequestedSettings,
    ) -> Result<attache_command::CommandRegistry, SettingsRefusal> {
        Ok(attache_command::CommandRegistry::standard())
    }

    async fn refresh(&self, _scope: &Scope, _context: &ContextId) {}
}

impl ConversationSetup {
    pub(crate) fn roots(&self) -> &[PathBuf] {
        &self.workspace.roots
    }
}
