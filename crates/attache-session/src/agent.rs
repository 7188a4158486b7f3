//! The trait of agents that run turns.

use std::sync::Arc;

use async_trait::async_trait;
use attache_domain::{
    Artifact, CommandCall, CommandSpec, Fault, Message, ReplyShape, RequestedSettings, TaskView,
};
use attache_store::{StoreError, TaskIndex};

use serde_json::Value;

use crate::live_task::LiveTask;
use crate::{Journal, OtherTasks, conversation};

/// The journal takes nothing more from this turn: the task was cancelled, finished, or handed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the turn was stopped")]
pub struct TurnStopped;

/// A turn to run, or to continue after a restart.
pub struct TurnRequest {
    /// The task when the turn started or continued. `progress.turn.emitted` says what is already recorded.
    pub view: Arc<TaskView>,
    task: CurrentTask,
}

impl TurnRequest {
    pub(crate) fn new(live: Arc<LiveTask>, index: Arc<dyn TaskIndex>) -> Self {
        Self { view: live.view(), task: CurrentTask { live, index } }
    }

    /// With an earlier state of the task.
    pub(crate) fn at(view: Arc<TaskView>, live: Arc<LiveTask>, index: Arc<dyn TaskIndex>) -> Self {
        Self { view, task: CurrentTask { live, index } }
    }

    /// Drops the view, so that changes need not copy it, and keeps access to the current one.
    pub fn into_task(self) -> CurrentTask {
        self.task
    }
}

/// Access to the current task: everything that is durable, also what other processes appended.
pub struct CurrentTask {
    live: Arc<LiveTask>,
    index: Arc<dyn TaskIndex>,
}

impl CurrentTask {
    pub fn view(&self) -> Arc<TaskView> {
        self.live.view()
    }

    /// How often clients answered about calls, or cancelled one, in this turn.
    pub fn interventions(&self) -> u32 {
        self.live.with_progress(|progress| progress.work.interventions)
    }

    /// Waits until there are other answers and cancels than the first `seen` ones.
    pub async fn intervened(&self, seen: u32) {
        loop {
            let intervened = self.live.intervened.notified();
            if self.interventions() != seen {
                return;
            }
            intervened.await;
        }
    }

    /// The other tasks of the same conversation and caller.
    pub async fn other_tasks(&self) -> Result<OtherTasks, StoreError> {
        let view = self.view();
        let (scope, context) = (view.progress.scope.clone(), view.context.clone());
        let task = view.task.clone();
        drop(view);
        let (index, log) = (self.index.as_ref(), self.live.log().as_ref());
        let quarantine = self.live.quarantine();
        conversation::other_tasks(index, log, quarantine, &scope, &context, Some(&task)).await
    }
}

/// Keeps a client's tools in a conversation; dropping it takes them away.
pub type ToolsGuard = Box<dyn std::any::Any + Send + Sync>;

/// What a conversation works with, for people and programs who ask.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AvailableTools {
    pub model: String,
    pub servers: Vec<AvailableServer>,
    pub tools: Vec<AvailableTool>,
}

/// An MCP server.
#[derive(Debug, Clone, PartialEq)]
pub struct AvailableServer {
    pub name: String,
    pub status: String,
    pub tools: Vec<AvailableTool>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AvailableTool {
    pub name: String,
    pub description: String,
    /// JSON Schema of its input.
    pub parameters: Value,
    /// The MCP server that has it, and what that calls it.
    pub origin: Option<(String, String)>,
}

/// Why a command is not carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandRefusal {
    /// Nothing has that name.
    #[error("{0}")]
    Unknown(String),
    /// It is there, and cannot be given like this.
    #[error("{0}")]
    BadArguments(String),
}

#[async_trait]
pub trait Agent: Send + Sync + 'static {
    /// The task belongs to a conversation whose turns run one at a time.
    fn keeps_conversation(&self, view: &TaskView) -> bool;

    /// The name of the model that will answer, as far as that is known.
    fn model(&self, _view: &TaskView) -> Option<String> {
        None
    }

    /// May `message` be taken at all? What is refused here is never kept. `requested` is what counts of its settings.
    fn check(&self, _message: &Message, _requested: Option<&RequestedSettings>) -> Result<(), Fault> {
        Ok(())
    }

    /// The tools of `view`'s conversation with these settings.
    async fn available_tools(
        &self,
        _view: &TaskView,
        _requested: &RequestedSettings,
    ) -> Result<AvailableTools, Fault> {
        Ok(AvailableTools::default())
    }

    /// Adds an MCP server of the client `by` to the conversation of `view`, until the guard is dropped. `brought` names it and
    /// nothing else.
    async fn bring_server(
        &self,
        _view: &TaskView,
        _requested: &RequestedSettings,
        _brought: &RequestedSettings,
        _by: &str,
    ) -> Result<ToolsGuard, Fault> {
        Err(Fault::Unsupported { what: "this agent takes no tools from clients".into() })
    }

    /// The commands of a conversation with these settings.
    async fn commands(&self, _requested: &RequestedSettings) -> Result<Vec<CommandSpec>, Fault> {
        Ok(Vec::new())
    }

    /// The command under its exact name, if it can be given like this; or why not.
    async fn check_command(
        &self,
        call: &CommandCall,
        _requested: &RequestedSettings,
    ) -> Result<CommandCall, CommandRefusal> {
        Err(CommandRefusal::Unknown(format!("there is no command {}", call.line())))
    }

    /// What the caller will get back for `message`, which opens a task. Quick, and the same every time.
    fn reply_shape(&self, message: &Message) -> ReplyShape;

    /// What the turn under way has changed so far, to be shown with a task that is cancelled.
    async fn changes(&self, _request: TurnRequest) -> Option<Artifact> {
        None
    }

    /// The turn of the request was cancelled or stopped: tells the peers that work for its calls. Its time is limited. While
    /// a peer could not be reached, it is called again later, also after a restart.
    async fn abandon_calls(&self, _request: TurnRequest) -> AbandonedPeers {
        AbandonedPeers::default()
    }

    /// Runs one turn and records everything in `journal`, including the end of the turn.
    ///
    /// The future is dropped when the task is cancelled or the server stops. Recorded facts stay.
    async fn run_turn(&self, request: TurnRequest, journal: &Journal) -> Result<(), TurnStopped>;
}

/// The peers of cancelled calls that do not know of the cancel, each in a sentence for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AbandonedPeers {
    /// They may be reached later.
    pub unreached: Vec<String>,
    /// They cannot be told.
    pub lost: Vec<String>,
}
