//! The responses of the REST API besides tasks.

use attache_domain::{CommandCall, PromptState, TaskView, Timestamp, TurnResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::call::PendingConfirmation;

/// The state of a task in the REST API. `running`: it waits for its first message, works, or waits for a confirmation.
/// `completed`: the latest prompt is settled. `error`: it failed, was canceled or rejected, or needs a credential. The
/// `status` of a task has the state of A2A besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    Running,
    Completed,
    Error,
}

impl TaskState {
    pub(super) const ALL: [Self; 3] = [Self::Running, Self::Completed, Self::Error];

    /// `ended`: how the turn has ended.
    pub(super) fn of(state: attache_domain::TaskState, ended: Option<TurnResult>) -> Self {
        PromptState::of(state, ended).into()
    }

    pub fn of_view(view: &TaskView) -> Self {
        PromptState::of_view(view).into()
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Error => "error",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

impl From<PromptState> for TaskState {
    fn from(state: PromptState) -> Self {
        match state {
            PromptState::Running => Self::Running,
            PromptState::Completed => Self::Completed,
            PromptState::Failed => Self::Error,
        }
    }
}

impl From<TaskState> for PromptState {
    fn from(state: TaskState) -> Self {
        match state {
            TaskState::Running => Self::Running,
            TaskState::Completed => Self::Completed,
            TaskState::Error => Self::Failed,
        }
    }
}

/// The response to `POST /tasks`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Created")]
pub struct CreatedTask<'a> {
    task_id: &'a str,
    /// The same as `taskId`.
    id: &'a str,
    /// The same as `taskId`, on a server with the live endpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    context_id: &'a str,
    /// `running`; on a server with the live endpoint `submitted`.
    state: &'static str,
}

impl<'a> CreatedTask<'a> {
    pub fn of(view: &'a TaskView) -> Self {
        let task = view.task.as_str();
        Self {
            task_id: task,
            id: task,
            session_id: None,
            context_id: view.context.as_str(),
            state: "running",
        }
    }
}

/// The response to a confirmation that was taken.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Delivered")]
pub struct DeliveredAnswer<'a> {
    pub task_id: &'a str,
    pub tool_call_id: &'a str,
    pub option_id: &'a str,
    pub state: TaskState,
}

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandResult<'a> {
    success: bool,
    /// The result for people, or why there is none.
    output: String,
    /// The task of the command; absent when the command was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
    /// `running` while the command asks for a confirmation, or works in its task; absent when it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<TaskState>,
    /// The calls that wait for an answer, at `/tasks/{taskId}/confirmations`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pending_confirmations: Vec<PendingConfirmation<'a>>,
    /// The data of the command, where it has any: `extensions` for `list-extensions`.
    #[serde(flatten)]
    data: Map<String, Value>,
}

/// Time as in A2A.
pub(super) fn format_time(at: Timestamp) -> String {
    format!("{at:.3}")
}

/// The result of the command whose task is `view`.
pub fn command_result<'a>(command: &CommandCall, view: &'a TaskView) -> CommandResult<'a> {
    let state = TaskState::of_view(view);
    let success = state == TaskState::Completed;
    let text = view.answer_text();
    let output = match text.is_empty() || !success {
        true => view.status.message.as_ref().map(|message| message.text()).unwrap_or_default(),
        false => text,
    };
    let data = match view.command_result() {
        Some(Value::Object(data)) => data.clone(),
        _ => Map::new(),
    };
    CommandResult {
        success,
        output,
        task_id: Some(view.task.to_string()),
        state: Some(state),
        pending_confirmations: PendingConfirmation::of_view(view),
        data: named(command, data),
    }
}

/// The response to a command that the model works on: its task goes on.
pub fn command_started(view: &TaskView) -> CommandResult<'_> {
    CommandResult {
        success: true,
        output: "The command works in its task.".to_owned(),
        task_id: Some(view.task.to_string()),
        state: Some(TaskState::of_view(view)),
        pending_confirmations: PendingConfirmation::of_view(view),
        data: Map::new(),
    }
}

/// The response to a command that there is not, or that takes other arguments.
pub fn command_refused(why: String) -> CommandResult<'static> {
    CommandResult {
        success: false,
        output: why,
        task_id: None,
        state: None,
        pending_confirmations: Vec::new(),
        data: Map::new(),
    }
}

/// Only data that cannot be confused with the members of the response.
fn named(command: &CommandCall, mut data: Map<String, Value>) -> Map<String, Value> {
    if command.path.join(" ") == "list-extensions" {
        data.retain(|name, _| name == "extensions");
        return data;
    }
    match data.is_empty() {
        true => data,
        false => Map::from_iter([("data".to_owned(), json!(data))]),
    }
}

/// The response to `GET /commands`. Sub-commands have the same members.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CommandList {
    commands: Vec<Command>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Command {
    name: String,
    description: String,
    arguments: Vec<CommandArgument>,
    sub_commands: Vec<Command>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct CommandArgument {
    name: String,
    description: String,
    is_required: bool,
}

/// The response to `GET /health`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// `healthy` or `unhealthy`.
    pub status: &'static str,
    /// Seconds since the start.
    pub uptime: f64,
    pub active_tasks: u64,
    /// Absent while the store cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_tasks: Option<u64>,
    /// Why the server is unhealthy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The tasks whose work cannot be recorded, while the server is unhealthy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_tasks: Option<u64>,
    /// What the operator should look at although the server works.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// An error, as in A2A 1.0.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ErrorBody {
    error: ErrorStatus,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ErrorStatus {
    /// The HTTP status.
    code: u16,
    /// Such as `INVALID_ARGUMENT`.
    status: String,
    message: String,
    /// Reason, wrong members and delay of a retry, for programs.
    details: Vec<Map<String, Value>>,
}
