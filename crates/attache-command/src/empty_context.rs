//! A context without a conversation.

use std::path::{Path, PathBuf};

use async_trait::async_trait;

use crate::{CommandContext, ConversationStats, ExtensionEntry, Memory, ServerEntry, ToolEntry};

/// For commands that need no conversation, and for trying out one's own.
#[derive(Debug, Clone, Default)]
pub struct EmptyContext {
    pub workspace: PathBuf,
}

#[async_trait]
impl CommandContext for EmptyContext {
    async fn progress(&self, _text: &str) {}

    fn workspace(&self) -> &Path {
        &self.workspace
    }

    async fn memory(&self) -> Memory {
        Memory::default()
    }

    async fn refresh_memory(&self) -> Memory {
        Memory::default()
    }

    fn tools(&self) -> Vec<ToolEntry> {
        Vec::new()
    }

    fn servers(&self) -> Vec<ServerEntry> {
        Vec::new()
    }

    fn extensions(&self) -> Vec<ExtensionEntry> {
        Vec::new()
    }

    fn model(&self) -> String {
        String::new()
    }

    fn models(&self) -> Vec<String> {
        Vec::new()
    }

    fn stats(&self) -> ConversationStats {
        ConversationStats::default()
    }

    async fn read_file(&self, _path: &str) -> Result<String, String> {
        Err("there are no files here".into())
    }

    fn about(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}
