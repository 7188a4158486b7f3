//! Shared by the read-only tools: their proposals, and access to the proposed paths.

use std::path::{Path, PathBuf};

use attache_domain::Content;
use attache_tool::{
    Effect, Preview, Proposal, ToolContext, ToolError, ToolErrorKind, ToolInput, ToolKind, ToolOutput,
    ToolSpec, Workspace,
};
use serde_json::Value;

use crate::workspace::locate;

/// A read-only tool can be repeated and run in parallel.
pub(crate) fn spec(
    name: &str,
    title: &str,
    kind: ToolKind,
    description: &str,
    parameters: Value,
) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        title: title.to_owned(),
        description: description.to_owned(),
        kind,
        parameters,
        repeatable: true,
        parallel: true,
        origin: None,
    }
}

pub(crate) fn proposal(input: &ToolInput, paths: Vec<PathBuf>, summary: String) -> Proposal {
    Proposal {
        input: input.clone(),
        effects: paths.into_iter().map(|path| Effect::Read { path }).collect(),
        shown: Preview::Plain { summary },
    }
}

/// The real paths in the proposal.
pub(crate) fn proposed_paths(proposal: &Proposal) -> Vec<PathBuf> {
    let path = |effect: &Effect| match effect {
        Effect::Read { path } => Some(path.clone()),
        _ => None,
    };
    proposal.effects.iter().filter_map(path).collect()
}

/// The single real path in the proposal.
pub(crate) fn proposed_path(proposal: &Proposal) -> Result<PathBuf, ToolError> {
    let path = proposed_paths(proposal).into_iter().next();
    path.ok_or_else(|| ToolError::new(ToolErrorKind::ExecutionFailed, "nothing was proposed to be read"))
}

/// Runs on this thread, because it takes less time than another thread.
pub(crate) fn resolve(context: &ToolContext, path: &str) -> Result<PathBuf, ToolError> {
    locate(&context.workspace, path)?.resolve()
}

/// The folders to search: `path`, or all roots.
pub(crate) fn resolve_search(context: &ToolContext, path: Option<&str>) -> Result<Vec<PathBuf>, ToolError> {
    let Some(path) = path else { return Ok(context.workspace.roots.clone()) };
    match resolve(context, path) {
        Ok(path) => Ok(vec![path]),
        Err(error) if error.kind == ToolErrorKind::FileNotFound => {
            Err(ToolError { kind: ToolErrorKind::SearchPathNotFound, ..error })
        }
        Err(error) => Err(error),
    }
}

/// The root of a real path. The scratch folder counts as a root.
pub(crate) fn root_of<'workspace>(workspace: &'workspace Workspace, path: &Path) -> &'workspace Path {
    workspace.roots.iter().find(|root| path.starts_with(root)).unwrap_or(&workspace.scratch)
}

/// A path as tools accept it: relative to the first root if possible.
pub(crate) fn shown_path(workspace: &Workspace, path: &Path) -> String {
    let first = workspace.roots.first().and_then(|root| path.strip_prefix(root).ok());
    match first {
        Some(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Some(below) => below.display().to_string(),
        None => path.display().to_string(),
    }
}

/// Runs blocking work on another thread.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let outcome = tokio::task::spawn_blocking(work).await;
    outcome.unwrap_or_else(|error| Err(ToolError::new(ToolErrorKind::UnhandledException, error.to_string())))
}

pub(crate) fn cancelled() -> ToolError {
    ToolError::new(ToolErrorKind::ExecutionFailed, "the call was cancelled")
}

pub(crate) fn text_output(text: String, summary: String) -> ToolOutput {
    ToolOutput { content: vec![Content::Text(text)], summary, diff: None, files: Vec::new() }
}
