//! The seams to the conversation that a command is given in, and to its workspace.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use attache_domain::Usage;
use serde::Serialize;

use crate::AgentDirectory;

/// What a command can see and do. Whatever is missing in a surface is empty, never an error.
#[async_trait]
pub trait CommandContext: Send + Sync {
    /// Something to show while the command runs.
    async fn progress(&self, text: &str);

    fn workspace(&self) -> &Path;

    /// What there is to know about the workspace.
    fn workspace_info(&self) -> &dyn WorkspaceInfo;

    /// Reads the context files again; the model gets them from the next turn on.
    async fn refresh_memory(&self) -> LoadedMemory;

    fn tools(&self) -> Vec<ToolEntry>;

    /// The name of the model that answers here.
    fn model(&self) -> String;

    fn stats(&self) -> ConversationStats;

    /// The text of a file in the workspace, below a bound, or why not.
    async fn read_file(&self, path: &str) -> Result<String, String>;
}

/// What commands show about a workspace, whichever conversation asks.
#[async_trait]
pub trait WorkspaceInfo: Send + Sync {
    /// The current context files.
    async fn memory(&self) -> LoadedMemory;

    fn servers(&self) -> Vec<ServerEntry>;

    fn extensions(&self) -> Vec<ExtensionEntry>;

    /// The agents that tasks can be given to.
    fn agents(&self) -> Option<Arc<dyn AgentDirectory>> {
        None
    }

    /// Models that may be chosen, as far as they are known.
    fn models(&self) -> Vec<String>;

    /// Name and value, line by line: version, system, workspace and the like.
    fn about(&self) -> Vec<(String, String)>;
}

/// For a surface without a workspace: everything is empty.
#[derive(Debug, Clone, Copy)]
pub struct NoWorkspaceInfo;

#[async_trait]
impl WorkspaceInfo for NoWorkspaceInfo {
    async fn memory(&self) -> LoadedMemory {
        LoadedMemory::default()
    }

    fn servers(&self) -> Vec<ServerEntry> {
        Vec::new()
    }

    fn extensions(&self) -> Vec<ExtensionEntry> {
        Vec::new()
    }

    fn models(&self) -> Vec<String> {
        Vec::new()
    }

    fn about(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoadedMemory {
    /// All of it.
    pub text: String,
    /// Where it comes from, in order.
    pub files: Vec<MemoryFile>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MemoryFile {
    pub path: PathBuf,
    pub bytes: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolEntry {
    pub name: String,
    pub description: String,
    /// The MCP server it comes from.
    pub server: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerEntry {
    pub name: String,
    /// Such as `connected`, or what is wrong.
    pub status: String,
    pub tools: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExtensionEntry {
    pub name: String,
    pub version: String,
    pub enabled: bool,
}

/// What a conversation has come to so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConversationStats {
    pub tasks: u32,
    pub answers: u32,
    pub calls: u32,
    pub usage: Usage,
}
