//! Tasks in the union of A2A 1.0 and the REST API: the members of A2A, and `state`, `timestamp` and more beside them.
//!
//! A2A leaves members without content out; the REST API has them always.

use attache_domain::TaskView;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::call::PendingConfirmation;
use super::responses::{TaskState, format_time};
use crate::JsonForm;
use crate::encode::text::{write_array, write_integer, write_text};
use crate::encode::{self, IncludeArtifacts, TaskPage, TaskShape};

/// The members of a task besides those of A2A.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestMembers<'a> {
    state: TaskState,
    /// When the task entered its state.
    timestamp: String,
    /// The calls that wait for an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pending_confirmations: Option<Vec<PendingConfirmation<'a>>>,
}

/// A task: the members of A2A 1.0 and those of this API.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Task<'a> {
    id: String,
    context_id: String,
    status: TaskStatus,
    #[serde(flatten)]
    rest: RestMembers<'a>,
    /// Absent in lists of tasks without artifacts.
    #[serde(skip_serializing_if = "Option::is_none")]
    artifacts: Option<Vec<Artifact>>,
    /// Absent in lists of tasks without history.
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<Vec<Message>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Map<String, Value>>,
}

/// The status of a task in A2A.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TaskStatus {
    /// Such as `TASK_STATE_WORKING`.
    state: String,
    timestamp: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
}

/// A message of A2A.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    message_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
    /// `ROLE_USER` or `ROLE_AGENT`.
    role: String,
    parts: Vec<Part>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extensions: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference_task_ids: Option<Vec<String>>,
}

/// An artifact of A2A.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    artifact_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    parts: Vec<Part>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extensions: Option<Vec<String>>,
}

/// A part of A2A: one of `text`, `raw`, `url` and `data`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Bytes in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// Any JSON value.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Map<String, Value>>,
}

/// One page of tasks, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskList<'a> {
    tasks: Vec<Task<'a>>,
    /// For the next page; empty on the last one.
    next_page_token: String,
    page_size: usize,
    total_size: u64,
}

/// Adds the members of this API to the task that `out` ends with, in the form of A2A 1.0.
pub fn add_members(view: &TaskView, shape: TaskShape, out: &mut Vec<u8>) {
    let has_artifacts = match shape.artifacts {
        IncludeArtifacts::WhenAny => {
            view.shown_artifacts(shape.dialect != crate::devtool::Dialect::Plain).next().is_some()
        }
        IncludeArtifacts::Never => false,
        IncludeArtifacts::Always => true,
    };
    out.pop();
    if !has_artifacts {
        out.extend_from_slice(b",\"artifacts\":[]");
    }
    if view.shown_history(shape.history_length).is_empty() {
        out.extend_from_slice(b",\"history\":[]");
    }
    if view.metadata.is_none() {
        out.extend_from_slice(b",\"metadata\":{}");
    }
    write_members(view, true, out);
}

/// The response to list.
pub fn write_list(page: &TaskPage, shape: TaskShape, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"tasks\":");
    write_array(&page.tasks, out, |view, out| {
        encode::write_task(JsonForm::V1_0, view, shape, out);
        out.pop();
        write_members(view, false, out);
    });
    out.extend_from_slice(b",\"nextPageToken\":");
    write_text(&page.next_page_token, out);
    out.extend_from_slice(b",\"pageSize\":");
    write_integer(page.page_size, out);
    out.extend_from_slice(b",\"totalSize\":");
    write_integer(page.total_size, out);
    out.push(b'}');
}

/// Continues an object whose last brace is missing. `whole`: with the calls that wait for an answer.
fn write_members(view: &TaskView, whole: bool, out: &mut Vec<u8>) {
    let members = RestMembers {
        state: TaskState::of_view(view),
        timestamp: format_time(view.status.at),
        pending_confirmations: whole.then(|| PendingConfirmation::of_view(view)),
    };
    let start = out.len();
    serde_json::to_writer(&mut *out, &members).expect("memory takes every write");
    // The object of the members continues that of the task.
    out[start] = b',';
}
