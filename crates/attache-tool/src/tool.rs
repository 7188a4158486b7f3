//! The trait of all tools, and the context of a call.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use attache_domain::{Base64, Content};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::{CallKey, CallState, Delegation, Proposal, ResumableTool, ToolError, ToolSpec};

pub type ToolInput = Map<String, Value>;

#[async_trait]
pub trait Tool: Send + Sync + 'static {
    fn spec(&self) -> &ToolSpec;

    /// A mark by which the processes of a call are found after a crash. A tool that starts processes returns a new mark for
    /// each call and puts [`ToolContext::mark`] on them.
    fn process_mark(&self) -> Option<String> {
        None
    }

    /// Checks `input` and describes what the call would do. Changes nothing.
    async fn propose(&self, input: &ToolInput, context: &ToolContext) -> Result<Proposal, ToolError>;

    /// Does exactly what was proposed, or fails when the files have changed since. Stops soon after `context.cancel` is
    /// cancelled and leaves no process running.
    async fn run(&self, proposal: Proposal, context: &ToolContext) -> Result<ToolOutput, ToolError>;

    /// For tools whose calls outlive this process or ask a person while they run. Their calls are run through this only.
    fn resumable(&self) -> Option<&dyn ResumableTool> {
        None
    }
}

/// The context of a call.
#[derive(Clone)]
pub struct ToolContext {
    pub workspace: Arc<Workspace>,
    pub cancel: CancellationToken,
    pub live: Arc<dyn LiveOutput>,
    /// The value of [`Tool::process_mark`] for this call.
    pub mark: Option<String>,
    /// The call; the same after a restart.
    pub call: CallKey,
    /// Saves what the call needs in order to go on after a restart.
    pub state: Arc<dyn CallState>,
    /// The agents that delegated before this one.
    pub delegation: Arc<Delegation>,
}

/// The environment variable with the mark, set for every process of a call.
pub const MARK_VARIABLE: &str = "ATTACHE_COMMAND_ID";

/// Ends the processes that a killed server left running.
#[async_trait]
pub trait LeftoverProcesses: Send + Sync + 'static {
    /// Ends every process with `mark` and its descendants. Returns when none is left, or after some seconds with the ids of
    /// those that could not be ended.
    async fn end(&self, mark: &str) -> Vec<i32>;
}

/// Where a conversation works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// Absolute and without links. Relative paths are below the first.
    pub roots: Vec<PathBuf>,
    /// A folder for long output; absolute, readable by the tools, outside the project.
    pub scratch: PathBuf,
    /// The whole environment of started programs.
    pub environment: Vec<(String, String)>,
    /// Which files of the project are ignored.
    pub ignore: IgnoreSources,
}

/// The sources of ignore rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoreSources {
    pub git: bool,
    /// Those of `.geminiignore`.
    pub gemini: bool,
    /// Further rule files, which override the others; absolute.
    pub custom: Vec<PathBuf>,
}

impl Default for IgnoreSources {
    fn default() -> Self {
        Self { git: true, gemini: true, custom: Vec::new() }
    }
}

/// Receives the output of a running call.
pub trait LiveOutput: Send + Sync {
    fn show(&self, text: &str);
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolOutput {
    /// For the model.
    pub content: Vec<Content>,
    /// For people, in a few lines; empty when the content is enough.
    pub summary: String,
    /// A unified diff of the changes.
    pub diff: Option<String>,
    /// Files for the person.
    pub files: Vec<OutputFile>,
}

/// A file for the person.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputFile {
    pub name: String,
    pub media_type: String,
    pub bytes: Base64,
    pub description: Option<String>,
}
