//! The tools of a conversation: the standard ones, and those of its MCP servers.

use std::sync::Arc;

use async_trait::async_trait;
use attache_agent::{Toolbox, declared};
use attache_config::WorkspaceSettings;
use attache_model::ToolDeclaration;
use attache_model_http::gemini::{GeminiSearch, Searched};
use attache_tool::{Confiner, ErrorKind, Registry, Tool, ToolError};
use attache_tool_mcp::McpServers;
use attache_tool_std::{
    AskUser, BackgroundProcesses, Found, Glob, GoogleWebSearch, GrepSearch, ListBackgroundProcesses,
    ListDirectory, ReadBackgroundOutput, ReadFile, Reads, Replace, RunShellCommand, SaveMemory, ShareFile,
    ShellOptions, Source, StopBackgroundProcess, Support, WebFetch, WebSearch, WriteFile, WriteTodos,
};

use crate::wiring::Attended;

/// What conversations share, because it keeps nothing of them.
pub(crate) struct SharedTools {
    /// Those that keep nothing of whoever uses them.
    tools: Vec<Arc<dyn Tool>>,
    ask_user: Arc<AskUser>,
    write_todos: Arc<WriteTodos>,
}

impl SharedTools {
    pub(crate) fn new(fetch: WebFetch, search: Option<GoogleWebSearch>) -> Self {
        let mut tools: Vec<Arc<dyn Tool>> = vec![
            Arc::new(ListDirectory::default()),
            Arc::new(Glob::default()),
            Arc::new(GrepSearch::default()),
            Arc::new(SaveMemory::default()),
            Arc::new(ShareFile::default()),
            Arc::new(fetch),
        ];
        if let Some(search) = search {
            tools.push(Arc::new(search));
        }
        Self { tools, ask_user: Arc::default(), write_todos: Arc::default() }
    }
}

/// One conversation's tools.
pub(crate) struct Kit {
    own: Registry,
    /// What models are told of the conversation's own.
    declared: Arc<[ToolDeclaration]>,
    servers: Vec<Arc<McpServers>>,
}

impl Kit {
    pub(crate) fn new(
        own: Registry,
        declared: Arc<[ToolDeclaration]>,
        servers: Vec<Arc<McpServers>>,
    ) -> Self {
        Self { own, declared, servers }
    }
}

impl Toolbox for Kit {
    fn tools(&self) -> Registry {
        let mut tools = self.own.clone();
        for tool in self.servers.iter().flat_map(|servers| servers.tools()) {
            tools.add(tool);
        }
        tools
    }

    fn declared(&self) -> Arc<[ToolDeclaration]> {
        if self.servers.is_empty() { self.declared.clone() } else { declared(&self.tools()) }
    }

    fn version(&self) -> u64 {
        self.servers.iter().map(|servers| *servers.changes().borrow()).sum()
    }
}

/// What a conversation has read and started is nothing to the others.
pub(crate) fn standard_tools(
    settings: &WorkspaceSettings,
    shared: &SharedTools,
    attended: Attended,
    confiner: &Arc<dyn Confiner>,
) -> Registry {
    let (reads, background) = (Arc::new(Reads::default()), Arc::new(BackgroundProcesses::default()));
    let keys = &settings.tools;
    let shell = ShellOptions {
        terminal: keys.shell.interactive,
        inactivity_limit: keys.shell.inactivity_timeout,
        max_output_bytes: keys.shell.max_output_bytes,
        longest_output: keys.truncate_output_threshold.unwrap_or(usize::MAX),
        ..ShellOptions::default()
    };
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(ReadFile::new(reads.clone())),
        Arc::new(WriteFile::new(reads.clone())),
        Arc::new(Replace::new(reads)),
        Arc::new(RunShellCommand::new(shell, background.clone(), confiner.clone())),
        Arc::new(ListBackgroundProcesses::new(background.clone())),
        Arc::new(ReadBackgroundOutput::new(background.clone())),
        Arc::new(StopBackgroundProcess::new(background)),
    ];
    tools.extend(shared.tools.iter().cloned());
    // A question that nobody can answer only stops the work.
    if attended == Attended::Yes {
        tools.push(shared.ask_user.clone());
    }
    if keys.write_todos {
        tools.push(shared.write_todos.clone());
    }
    let mut offered = Registry::default();
    for tool in tools.into_iter().filter(|tool| keys.offers(&tool.spec().name)) {
        offered.add(tool);
    }
    offered
}

/// Gemini's own search, as the tool wants it.
pub(crate) struct SearchByGemini(pub(crate) GeminiSearch);

#[async_trait]
impl WebSearch for SearchByGemini {
    async fn search(&self, query: &str) -> Result<Found, ToolError> {
        let Searched { text, sources, supports } = self
            .0
            .search(query)
            .await
            .map_err(|error| ToolError::new(ErrorKind::WebSearchFailed, error.to_string()))?;
        let source = |source: attache_model_http::gemini::SearchSource| Source {
            title: source.title,
            url: source.url,
        };
        let support = |support: attache_model_http::gemini::SearchSupport| Support {
            end: support.end,
            sources: support.sources,
        };
        Ok(Found {
            text,
            sources: sources.into_iter().map(source).collect(),
            supports: supports.into_iter().map(support).collect(),
        })
    }
}
