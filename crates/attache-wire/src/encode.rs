//! Encodes domain words as JSON, straight into bytes.
//!
//! Every function appends one compact JSON value on a single line to `out`. Members are written without a tree
//! because events and tasks are most of the traffic.

use std::sync::Arc;

use attache_domain::{ContextId, Message, PushConfigPage, StoredPushConfig, TaskId, TaskView, Update};

use crate::JsonForm;
use crate::devtool::Dialect;

pub(crate) mod event;
pub(crate) mod message;
pub(crate) mod part;
pub(crate) mod push;
mod task;
pub(crate) mod text;

pub(crate) use task::status_with_pending_calls;
pub use text::write_integer;

/// How much of a task is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskShape {
    /// At most this many of the most recent messages; `None` is all of them.
    pub history_length: Option<usize>,
    pub artifacts: IncludeArtifacts,
    /// Some dialects see the calls that wait for an answer.
    pub dialect: Dialect,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IncludeArtifacts {
    /// Left out when there are none.
    WhenAny,
    Never,
    /// An empty list when there are none.
    Always,
}

/// One page of a listing.
#[derive(Debug, Clone)]
pub struct TaskPage {
    pub tasks: Vec<Arc<TaskView>>,
    /// Empty on the last page.
    pub next_page_token: String,
    /// The page size in force, not the number of tasks on this page.
    pub page_size: usize,
    /// How many tasks match in total.
    pub total_size: u64,
}

/// A bare task: the response to get and cancel.
pub fn write_task(json_form: JsonForm, view: &TaskView, shape: TaskShape, out: &mut Vec<u8>) {
    task::write(json_form, view, shape, out);
}

/// A task as the response to send, or as an item of a stream.
pub fn write_task_item(json_form: JsonForm, view: &TaskView, shape: TaskShape, out: &mut Vec<u8>) {
    write_item(json_form, b"{\"task\":", out, |out| task::write(json_form, view, shape, out));
}

/// A bare message as the response to send, or as the only item of a stream.
pub fn write_message_item(json_form: JsonForm, message: &Message, out: &mut Vec<u8>) {
    write_item(json_form, b"{\"message\":", out, |out| message::write(json_form, message, out));
}

/// One event of a stream.
pub fn write_update(
    json_form: JsonForm,
    task: &TaskId,
    context: &ContextId,
    update: &Update<'_>,
    out: &mut Vec<u8>,
) {
    match update {
        Update::Status { status, closes, usage } => {
            write_item(json_form, b"{\"statusUpdate\":", out, |out| {
                event::write_status_update(json_form, task, context, status, *closes, *usage, out);
            })
        }
        Update::Artifact { artifact, append, last_chunk } => {
            write_item(json_form, b"{\"artifactUpdate\":", out, |out| {
                event::write_artifact_update(json_form, task, context, artifact, *append, *last_chunk, out);
            });
        }
        Update::Replied(message) => write_message_item(json_form, message, out),
    }
}

/// The response to list, which only 1.0 has. Always writes all four members.
pub fn write_list(page: &TaskPage, shape: TaskShape, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"tasks\":");
    text::write_array(&page.tasks, out, |view, out| task::write(JsonForm::V1_0, view, shape, out));
    out.extend_from_slice(b",\"nextPageToken\":");
    text::write_text(&page.next_page_token, out);
    out.extend_from_slice(b",\"pageSize\":");
    text::write_integer(page.page_size, out);
    out.extend_from_slice(b",\"totalSize\":");
    text::write_integer(page.total_size, out);
    out.push(b'}');
}

/// The response to setting or getting a push configuration.
pub fn write_push_config(json_form: JsonForm, kept: &StoredPushConfig, out: &mut Vec<u8>) {
    push::write(json_form, kept, out);
}

pub fn write_push_configs(json_form: JsonForm, page: &PushConfigPage, out: &mut Vec<u8>) {
    push::write_page(json_form, page, out);
}

/// 0.3 on JSON-RPC distinguishes objects by `kind`; the other forms wrap them.
pub(crate) fn write_item(
    json_form: JsonForm,
    open: &[u8],
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>),
) {
    if json_form == JsonForm::V0_3Rpc {
        return write(out);
    }
    out.extend_from_slice(open);
    write(out);
    out.push(b'}');
}
