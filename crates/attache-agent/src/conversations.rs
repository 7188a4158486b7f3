//! The seam to whoever furnishes conversations: where each works, with what, and under which rules.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use attache_command::{ExtensionEntry, Memory, ServerEntry};
use attache_domain::{Content, ContextId, RequestedSettings, Scope};
use attache_model::ToolDeclaration;
use attache_tool::{LeftoverProcesses, ToolContext, ToolRegistry, ToolSpec, Workspace};

use crate::{AgentModel, Approver};

/// Everything a conversation works with. What one has read, started or been granted is nothing to the others.
#[derive(Clone)]
pub struct ConversationSetup {
    pub model: AgentModel,
    pub toolbox: Arc<dyn Toolbox>,
    pub approver: Arc<dyn Approver>,
    pub workspace: Arc<Workspace>,
    /// What a language model is told before everything else.
    pub instructions: Arc<str>,
    /// What it is told at the beginning of the conversation.
    pub opening: Vec<Content>,
    pub context_files: Option<Arc<dyn ContextFiles>>,
    /// What commands can tell about it.
    pub info: Option<Arc<dyn WorkspaceInfo>>,
    /// What people should know about the workplace, said once in a conversation.
    pub notices: Vec<String>,
    pub limits: ConversationLimits,
    /// Ends what a server that was killed has left running of its calls.
    pub leftovers: Arc<dyn LeftoverProcesses>,
    /// Whether somebody is there to say what comes next.
    pub attended: bool,
}

#[derive(Debug, Clone)]
pub struct ConversationLimits {
    /// Answers of the model in one turn; then the person is asked whether to go on.
    pub turn_requests: u32,
    /// Answers of the model in one conversation.
    pub conversation_requests: Option<u32>,
    /// The part of the model's window that may fill up before the conversation is summarised.
    pub compression_threshold: f64,
    /// A model that repeats itself is told, then stopped.
    pub detects_loops: bool,
}

impl Default for ConversationLimits {
    fn default() -> Self {
        Self {
            turn_requests: 100,
            conversation_requests: None,
            compression_threshold: 0.5,
            detects_loops: true,
        }
    }
}

#[async_trait]
pub trait Conversations: Send + Sync + 'static {
    /// Can these wishes be granted, as far as can be told without opening anything? Asked once for each message.
    fn check(&self, wishes: &RequestedSettings) -> Result<(), SettingsRefusal>;

    /// Who thinks in a conversation with these wishes; or why nobody can. Looks at nothing but the model.
    fn model(&self, wishes: &RequestedSettings) -> Result<AgentModel, SettingsRefusal>;

    /// The workplace of a conversation; the same one for as long as its wishes stay the same.
    async fn open(
        &self,
        scope: &Scope,
        context: &ContextId,
        wishes: &RequestedSettings,
    ) -> Result<Arc<ConversationSetup>, SettingsRefusal>;

    /// The commands that can be given in a conversation with these wishes.
    async fn commands(
        &self,
        wishes: &RequestedSettings,
    ) -> Result<attache_command::CommandRegistry, SettingsRefusal>;

    /// From its next turn on the conversation is told what people have left for the model by now.
    async fn refresh(&self, scope: &Scope, context: &ContextId);
}

/// What commands tell people about a workplace.
#[async_trait]
pub trait WorkspaceInfo: Send + Sync + 'static {
    /// What people have left for the model, as it is now.
    async fn memory(&self) -> Memory;

    fn servers(&self) -> Vec<ServerEntry>;

    fn extensions(&self) -> Vec<ExtensionEntry>;

    /// Models that may be chosen, as far as they are known.
    fn models(&self) -> Vec<String>;

    /// Name and value, line by line.
    fn about(&self) -> Vec<(String, String)>;
}

/// Why a wish cannot be granted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct SettingsRefusal {
    /// The member of the wishes that is at fault.
    pub field: &'static str,
    /// Says what was wrong and what would be right.
    pub what: String,
}

/// Hands out a conversation's tools as they are now.
pub trait Toolbox: Send + Sync + 'static {
    fn tools(&self) -> ToolRegistry;

    /// The same tools as models are told of them; the same list for as long as it says the same, where that is known.
    fn declarations(&self) -> Arc<[ToolDeclaration]> {
        declarations(&self.tools())
    }

    /// Another number: the tools have changed.
    fn version(&self) -> u64 {
        0
    }
}

/// What models are told of tools.
pub fn declarations(tools: &ToolRegistry) -> Arc<[ToolDeclaration]> {
    let declare = |spec: &ToolSpec| ToolDeclaration {
        name: spec.name.clone(),
        description: spec.description.clone(),
        parameters: spec.parameters.clone(),
    };
    tools.tools().map(|tool| declare(tool.spec())).collect()
}

/// Tools that stay as they are.
impl Toolbox for ToolRegistry {
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

/// One workplace for everybody.
#[async_trait]
impl Conversations for ConversationSetup {
    fn check(&self, _wishes: &RequestedSettings) -> Result<(), SettingsRefusal> {
        Ok(())
    }

    fn model(&self, _wishes: &RequestedSettings) -> Result<AgentModel, SettingsRefusal> {
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
        _wishes: &RequestedSettings,
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
