//! The interface that sets conversations up: workspace, model, tools and rules.

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

/// Everything a conversation works with. What one has read, started or been granted is nothing to the others.
#[derive(Clone)]
pub struct ConversationSetup {
    pub model: AgentModel,
    pub tool_source: Arc<dyn ToolSource>,
    pub approver: Arc<dyn Approver>,
    pub workspace: Arc<Workspace>,
    /// The system instructions of a language model.
    pub instructions: Arc<str>,
    /// What the model gets at the beginning of the conversation.
    pub opening: Vec<Content>,
    pub context_files: Option<Arc<dyn ContextFiles>>,
    /// What commands show about it.
    pub info: Option<Arc<dyn WorkspaceInfo>>,
    /// Notices for people, shown once in a conversation.
    pub notices: Vec<String>,
    pub limits: ConversationLimits,
    /// Ends what a server that was killed has left running of its calls.
    pub leftovers: Arc<dyn LeftoverProcesses>,
    /// Whether a person can answer questions.
    pub attended: bool,
}

#[derive(Debug, Clone)]
pub struct ConversationLimits {
    /// Answers of the model in one turn; then a person is asked whether to continue.
    pub turn_requests: u32,
    /// Answers of the model in one conversation.
    pub conversation_requests: Option<u32>,
    /// The part of the model's window that may fill up before the conversation is summarised.
    pub compression_threshold: f64,
    /// A model that repeats itself gets a warning, then its turn stops.
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
    /// Whether the settings are allowed, as far as this is known without opening anything. Called once for each
    /// message.
    fn check(&self, settings: &RequestedSettings) -> Result<(), SettingsRefusal>;

    /// The model of a conversation with these settings, or why there is none. Checks nothing but the model.
    fn model(&self, settings: &RequestedSettings) -> Result<AgentModel, SettingsRefusal>;

    /// The setup of a conversation; the same one for as long as its settings stay the same.
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

    /// Adds an MCP server of the client `by` to a conversation, until the guard is dropped. `brought` names it and nothing else.
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

    /// From its next turn on the conversation uses the current context files.
    async fn refresh(&self, scope: &Scope, context: &ContextId);
}

/// The setting with the client's own key. Without it the conversation waits for a credential.
pub const API_KEY: &str = "apiKey";

/// Why a requested setting is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct SettingsRefusal {
    /// The setting that is refused.
    pub field: &'static str,
    /// Says what was wrong and what would be right.
    pub what: String,
}

/// A conversation's current tools.
pub trait ToolSource: Send + Sync + 'static {
    fn tools(&self) -> ToolRegistry;

    /// The declarations of the same tools. Where possible, the same list for as long as it has the same content.
    fn declarations(&self) -> Arc<[ToolDeclaration]> {
        declarations(&self.tools())
    }

    /// Another number: the tools have changed.
    fn version(&self) -> u64 {
        0
    }

    /// MCP servers to which nothing is sent before a person agrees.
    fn unapproved_servers(&self) -> Vec<ClientServer> {
        Vec::new()
    }

    /// Connects to one of them; its input is the server's name and address. Models are not told of it.
    fn connect_tool(&self) -> Option<Arc<dyn Tool>> {
        None
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

/// Knows what lies around in a workspace that the model should know of.
#[async_trait]
pub trait ContextFiles: Send + Sync + 'static {
    /// What `text` refers to, for the model to read; empty when it refers to nothing.
    async fn referenced_by(&self, text: &str, context: &ToolContext) -> Vec<Content>;

    /// What was left for the model near the paths that a call has touched; each thing once.
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
