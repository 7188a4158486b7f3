//! The trait every tool implements, and what it works with.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use attache_domain::{Base64, Content};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::{Proposal, ToolError, ToolSpec};

pub type ToolInput = Map<String, Value>;

#[async_trait]
pub trait Tool: Send + Sync + 'static {
    fn spec(&self) -> &ToolSpec;

    /// The mark of the processes that carry out a call: what is left of them after a crash is found by it. A tool that
    /// starts processes for each call gives another mark each time and puts [`ToolContext::mark`] on them.
    fn process_mark(&self) -> Option<String> {
        None
    }

    /// Checks `input` and says what it would do. Touches nothing.
    async fn propose(&self, input: &ToolInput, context: &ToolContext) -> Result<Proposal, ToolError>;

    /// Does what was proposed, exactly, or fails: what has changed since is refused. Stops soon after
    /// `context.cancel` is cancelled, leaving nothing behind that runs.
    async fn run(&self, proposal: Proposal, context: &ToolContext) -> Result<ToolOutput, ToolError>;
}

/// What a call may work with.
#[derive(Clone)]
pub struct ToolContext {
    pub workspace: Arc<Workspace>,
    pub cancel: CancellationToken,
    pub live: Arc<dyn LiveOutput>,
    /// What [`Tool::process_mark`] gave for this call.
    pub mark: Option<String>,
}

/// The variable that carries the mark, in the environment of every process that a call starts.
pub const MARK_VARIABLE: &str = "ATTACHE_COMMAND_ID";

/// Ends processes that a server left running when it was killed.
#[async_trait]
pub trait LeftoverProcesses: Send + Sync + 'static {
    /// Ends every process that carries `mark`, with everything it has started, and returns once none is left; or, after
    /// some seconds, with the process ids of those that could not be ended.
    async fn end(&self, mark: &str) -> Vec<i32>;
}

/// For tools that start no processes: there is nothing to end.
#[derive(Debug, Default)]
pub struct NoLeftoverProcesses;

#[async_trait]
impl LeftoverProcesses for NoLeftoverProcesses {
    async fn end(&self, _mark: &str) -> Vec<i32> {
        Vec::new()
    }
}

/// Where a conversation works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// Absolute and without links. Relative paths are below the first.
    pub roots: Vec<PathBuf>,
    /// For what is too long to hand over; absolute, readable by the tools, not part of the project.
    pub scratch: PathBuf,
    /// The environment of programs that are started: nothing else is passed on.
    pub environment: Vec<(String, String)>,
    /// Which files of the project are left alone.
    pub ignore: IgnoreSources,
}

/// Whose rules say which files are left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoreSources {
    pub git: bool,
    /// Those of `.geminiignore`.
    pub gemini: bool,
    /// Further files of rules, which beat the others; absolute.
    pub custom: Vec<PathBuf>,
}

impl Default for IgnoreSources {
    fn default() -> Self {
        Self { git: true, gemini: true, custom: Vec::new() }
    }
}

/// Takes what a call has to say while it runs.
pub trait LiveOutput: Send + Sync {
    fn show(&self, text: &str);
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolOutput {
    /// For the model.
    pub content: Vec<Content>,
    /// For people, in a line or a few; empty when the content says it all.
    pub summary: String,
    /// A unified diff of what was changed.
    pub diff: Option<String>,
    /// Files for the person, beside what is said.
    pub files: Vec<OutputFile>,
}

/// A file that is handed to the person.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputFile {
    pub name: String,
    pub media_type: String,
    pub bytes: Base64,
    pub description: Option<String>,
}
