//! Domain words to protobuf, written once and straight into bytes.
//!
//! The two versions number most fields alike; where they do not, the number is chosen where it is written.

use attache_domain::{
    Artifact, ContextId, Message, Metadata, PushConfigPage, Role, StoredPushConfig, TaskId, TaskState,
    TaskStatus, TaskView, Timestamp, Update,
};
use serde_json::json;

use super::value::write_struct;
use crate::Version;
use crate::devtool::Profile;
use crate::encode::{IncludeArtifacts, TaskPage, TaskShape, status_with_pending_calls};
use field_writer::{FieldWriter, write_nested};

pub(super) mod field_writer;
mod part;
mod push;

/// A bare task: the answer to get and cancel.
pub fn write_task(version: Version, view: &TaskView, shape: TaskShape, out: &mut Vec<u8>) {
    out.text(1, view.task.as_str());
    out.text(2, view.context.as_str());
    let with_calls = status_with_pending_calls(view, shape.profile);
    write_nested(3, out, |out| write_status(version, with_calls.as_ref().unwrap_or(&view.status), out));
    if shape.artifacts != IncludeArtifacts::Never {
        for artifact in view.shown_artifacts(shape.profile != Profile::Plain) {
            write_nested(4, out, |out| write_artifact(version, artifact, out));
        }
    }
    for message in view.shown_history(shape.history_length) {
        write_nested(5, out, |out| write_message(version, message, out));
    }
    write_metadata(6, view.metadata.as_ref(), out);
}

/// A task as the answer to send, or as an item of a stream.
pub fn write_task_item(version: Version, view: &TaskView, shape: TaskShape, out: &mut Vec<u8>) {
    write_nested(1, out, |out| write_task(version, view, shape, out));
}

/// A bare message as the answer to send, or as the only item of a stream.
pub fn write_message_item(version: Version, message: &Message, out: &mut Vec<u8>) {
    write_nested(2, out, |out| write_message(version, message, out));
}

/// One event of a stream.
pub fn write_update(
    version: Version,
    task: &TaskId,
    context: &ContextId,
    update: &Update<'_>,
    out: &mut Vec<u8>,
) {
    match update {
        Update::Status { status, closes, usage } => write_nested(3, out, |out| {
            write_ids(task, context, out);
            write_nested(3, out, |out| write_status(version, status, out));
            // 1.0 has no `final`; the end of the stream says it.
            let metadata = match version {
                Version::V0_3 => {
                    out.boolean(4, *closes);
                    5
                }
                Version::V1_0 => 4,
            };
            if let Some(usage) = usage {
                let usage = json!({ "usage": {
                    "inputTokens": usage.input,
                    "cachedTokens": usage.cached,
                    "outputTokens": usage.output,
                    "thoughtTokens": usage.thoughts,
                }});
                write_metadata(metadata, usage.as_object(), out);
            }
        }),
        Update::Artifact { artifact, append, last_chunk } => write_nested(4, out, |out| {
            write_ids(task, context, out);
            write_nested(3, out, |out| write_artifact(version, artifact, out));
            out.boolean(4, *append);
            out.boolean(5, *last_chunk);
        }),
        Update::Replied(message) => write_message_item(version, message, out),
    }
}

/// The answer to list, which only 1.0 has.
pub fn write_list(page: &TaskPage, shape: TaskShape, out: &mut Vec<u8>) {
    for view in &page.tasks {
        write_nested(1, out, |out| write_task(Version::V1_0, view, shape, out));
    }
    out.text(2, &page.next_page_token);
    out.number(3, page.page_size as u64);
    // The field is a signed one of 32 bits.
    out.number(4, page.total_size.min(i32::MAX as u64));
}

/// The answer to setting or getting a push configuration.
pub fn write_push_config(version: Version, kept: &StoredPushConfig, out: &mut Vec<u8>) {
    push::write(version, kept, out);
}

pub fn write_push_configs(version: Version, page: &PushConfigPage, out: &mut Vec<u8>) {
    for kept in &page.configs {
        write_nested(1, out, |out| push::write(version, kept, out));
    }
    out.text(2, &page.next_page_token);
}

fn write_ids(task: &TaskId, context: &ContextId, out: &mut Vec<u8>) {
    out.text(1, task.as_str());
    out.text(2, context.as_str());
}

fn write_status(version: Version, status: &TaskStatus, out: &mut Vec<u8>) {
    out.number(1, number_of_state(status.state));
    if let Some(message) = &status.message {
        write_nested(2, out, |out| write_message(version, message, out));
    }
    write_nested(3, out, |out| write_time(status.at, out));
}

fn write_message(version: Version, message: &Message, out: &mut Vec<u8>) {
    out.text(1, message.id.as_str());
    out.optional_text(2, message.context.as_ref().map(ContextId::as_str));
    out.optional_text(3, message.task.as_ref().map(TaskId::as_str));
    out.number(
        4,
        match message.role {
            Role::User => 1,
            Role::Agent => 2,
        },
    );
    for part in &message.parts {
        write_nested(5, out, |out| part::write(version, part, out));
    }
    write_metadata(6, message.metadata.as_ref(), out);
    out.texts(7, message.extensions.iter().map(String::as_str));
    // The definitions of 0.3 have no place for references.
    if version == Version::V1_0 {
        out.texts(8, message.reference_tasks.iter().map(TaskId::as_str));
    }
}

fn write_artifact(version: Version, artifact: &Artifact, out: &mut Vec<u8>) {
    // 0.3 leaves the number two out.
    let first = match version {
        Version::V0_3 => 3,
        Version::V1_0 => 2,
    };
    out.text(1, artifact.id.as_str());
    out.optional_text(first, artifact.name.as_deref());
    out.optional_text(first + 1, artifact.description.as_deref());
    for part in &artifact.parts {
        write_nested(first + 2, out, |out| part::write(version, part, out));
    }
    write_metadata(first + 3, artifact.metadata.as_ref(), out);
    out.texts(first + 4, artifact.extensions.iter().map(String::as_str));
}

fn write_metadata(number: u32, metadata: Option<&Metadata>, out: &mut Vec<u8>) {
    if let Some(metadata) = metadata {
        write_nested(number, out, |out| write_struct(metadata, out));
    }
}

/// To the millisecond, as JSON has it.
fn write_time(at: Timestamp, out: &mut Vec<u8>) {
    let milliseconds = at.as_millisecond();
    // Before 1970 seconds are negative; nanoseconds never are.
    out.number(1, milliseconds.div_euclid(1000).cast_unsigned());
    out.number(2, milliseconds.rem_euclid(1000).cast_unsigned() * 1_000_000);
}

fn number_of_state(state: TaskState) -> u64 {
    match state {
        TaskState::Submitted => 1,
        TaskState::Working => 2,
        TaskState::Completed => 3,
        TaskState::Failed => 4,
        TaskState::Canceled => 5,
        TaskState::InputRequired => 6,
        TaskState::Rejected => 7,
        TaskState::AuthRequired => 8,
    }
}
