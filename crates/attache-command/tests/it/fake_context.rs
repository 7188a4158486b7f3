//! A conversation that is made up.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use attache_command::{
    AgentDirectory, CommandContext, CommandError, CommandRegistry, CommandStep, ConversationStats,
    ExtensionEntry, LoadedMemory, MemoryFile, ServerEntry, ToolEntry, WorkspaceInfo,
};
use attache_domain::{CallId, Content, ToolResult, Usage};

#[derive(Default)]
pub(crate) struct FakeContext {
    pub(crate) workspace: PathBuf,
    pub(crate) memory: LoadedMemory,
    /// What stands in the files by now.
    pub(crate) refreshed: LoadedMemory,
    pub(crate) tools: Vec<ToolEntry>,
    pub(crate) servers: Vec<ServerEntry>,
    pub(crate) extensions: Vec<ExtensionEntry>,
    pub(crate) models: Vec<String>,
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) progress: Mutex<Vec<String>>,
    pub(crate) agents: Option<Arc<dyn AgentDirectory>>,
}

impl FakeContext {
    /// One of everything.
    pub(crate) fn full() -> Self {
        let tool = |name: &str, description: &str, server: Option<&str>| ToolEntry {
            name: name.into(),
            description: description.into(),
            server: server.map(str::to_owned),
        };
        Self {
            workspace: "nowhere".into(),
            memory: memory("Be brief.\n", 10),
            refreshed: memory("Be kind.", 8),
            tools: vec![
                tool("read_file", "Reads\n a file.", None),
                tool("mcp_db_query", "Asks the database.", Some("db")),
            ],
            servers: vec![
                ServerEntry {
                    name: "db".into(),
                    status: "connected".into(),
                    tools: vec!["mcp_db_query".into(), "mcp_db_hidden".into()],
                },
                ServerEntry { name: "web".into(), status: "refused".into(), tools: vec![] },
            ],
            extensions: vec![
                ExtensionEntry { name: "lint".into(), version: "1.2.0".into(), enabled: true },
                ExtensionEntry { name: "old".into(), version: "0.1.0".into(), enabled: false },
            ],
            models: vec!["fast".into(), "deep".into()],
            files: BTreeMap::from([("notes.md".into(), "the notes".into())]),
            progress: Mutex::default(),
            agents: None,
        }
    }

    /// The first step of what the line says, by the built-in commands.
    pub(crate) async fn give(&self, line: &str) -> Result<CommandStep, CommandError> {
        self.go_on(&CommandRegistry::standard(), line, &[]).await
    }

    /// The step after these results.
    pub(crate) async fn go_on(
        &self,
        registry: &CommandRegistry,
        line: &str,
        results: &[Vec<ToolResult>],
    ) -> Result<CommandStep, CommandError> {
        let found = registry.find(&registry.parse(line).unwrap())?;
        found.check()?;
        found.run(results, self).await
    }
}

fn memory(text: &str, bytes: usize) -> LoadedMemory {
    LoadedMemory { text: text.into(), files: vec![MemoryFile { path: "GEMINI.md".into(), bytes }] }
}

pub(crate) fn result(text: &str, failed: bool) -> ToolResult {
    ToolResult {
        call: CallId("call-1".into()),
        name: "a_tool".into(),
        output: vec![Content::Text(text.into())],
        failed,
    }
}

#[async_trait]
impl CommandContext for FakeContext {
    async fn progress(&self, text: &str) {
        self.progress.lock().unwrap().push(text.to_owned());
    }

    fn workspace(&self) -> &Path {
        &self.workspace
    }

    fn workspace_info(&self) -> &dyn WorkspaceInfo {
        self
    }

    async fn refresh_memory(&self) -> LoadedMemory {
        self.refreshed.clone()
    }

    fn tools(&self) -> Vec<ToolEntry> {
        self.tools.clone()
    }

    fn model(&self) -> String {
        "fast".into()
    }

    fn stats(&self) -> ConversationStats {
        let usage = Usage { input: 100, cached: 40, output: 20, thoughts: 5 };
        ConversationStats { tasks: 2, answers: 3, calls: 4, usage }
    }

    async fn read_file(&self, path: &str) -> Result<String, String> {
        self.files.get(path).cloned().ok_or_else(|| "there is no such file".to_owned())
    }
}

#[async_trait]
impl WorkspaceInfo for FakeContext {
    async fn memory(&self) -> LoadedMemory {
        self.memory.clone()
    }

    fn servers(&self) -> Vec<ServerEntry> {
        self.servers.clone()
    }

    fn extensions(&self) -> Vec<ExtensionEntry> {
        self.extensions.clone()
    }

    fn models(&self) -> Vec<String> {
        self.models.clone()
    }

    fn agents(&self) -> Option<Arc<dyn AgentDirectory>> {
        self.agents.clone()
    }

    fn about(&self) -> Vec<(String, String)> {
        vec![("Version".into(), "1.0".into()), ("Workspace".into(), "w".into())]
    }
}
