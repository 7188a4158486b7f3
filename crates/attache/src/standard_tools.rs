//! The standard tools of a conversation.

use std::sync::Arc;

use async_trait::async_trait;
use attache_model_http::gemini::{GeminiSearch, SearchAnswer};
use attache_tool::{Confiner, Tool, ToolError, ToolErrorKind, ToolRegistry};
use attache_tool_std::{
    AskUser, BackgroundProcesses, Citation, Glob, GoogleWebSearch, GrepSearch, ListBackgroundProcesses,
    ListDirectory, ReadBackgroundOutput, ReadDigests, ReadFile, Replace, RunShellCommand, SaveMemory,
    ShareFile, ShellOptions, StopBackgroundProcess, WebFetch, WebSearch, WebSearchResult, WebSource,
    WriteFile, WriteTodos,
};
use attache_workspace::{Interactivity, WorkspaceSettings};

/// The tools that conversations share, because they keep no state.
pub(crate) struct SharedTools {
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

/// The tools of one conversation. What it has read and started is its own.
pub(crate) fn standard_tools(
    settings: &WorkspaceSettings,
    shared: &SharedTools,
    interactivity: Interactivity,
    confiner: &Arc<dyn Confiner>,
) -> ToolRegistry {
    let (reads, background) = (Arc::new(ReadDigests::default()), Arc::new(BackgroundProcesses::default()));
    let keys = &settings.tools;
    let shell = ShellOptions {
        terminal: keys.shell.interactive,
        inactivity_limit: keys.shell.inactivity_timeout,
        max_output_bytes: keys.shell.max_output_bytes,
        max_output_characters: keys.truncate_output_threshold.unwrap_or(usize::MAX),
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
    // Without a person, a question would only stop the work.
    if interactivity == Interactivity::Interactive {
        tools.push(shared.ask_user.clone());
    }
    if keys.write_todos {
        tools.push(shared.write_todos.clone());
    }
    let mut offered = ToolRegistry::default();
    for tool in tools.into_iter().filter(|tool| keys.offers(&tool.spec().name)) {
        offered.add(tool);
    }
    offered
}

/// Gemini's own search, as the tool wants it.
pub(crate) struct GeminiWebSearch(pub(crate) GeminiSearch);

#[async_trait]
impl WebSearch for GeminiWebSearch {
    async fn search(&self, query: &str) -> Result<WebSearchResult, ToolError> {
        let SearchAnswer { text, sources, supports } = self
            .0
            .search(query)
            .await
            .map_err(|error| ToolError::new(ToolErrorKind::WebSearchFailed, error.to_string()))?;
        let source = |source: attache_model_http::gemini::SearchSource| WebSource {
            title: source.title,
            url: source.url,
        };
        let support = |support: attache_model_http::gemini::SearchSupport| Citation {
            end: support.end,
            sources: support.sources,
        };
        Ok(WebSearchResult {
            text,
            sources: sources.into_iter().map(source).collect(),
            supports: supports.into_iter().map(support).collect(),
        })
    }
}
