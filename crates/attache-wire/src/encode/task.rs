//! A task and its status.

use std::sync::Arc;

use attache_domain::{TaskState, TaskStatus, TaskView};

use super::text::{write_array, write_metadata, write_text, write_time};
use super::{IncludeArtifacts, TaskShape, event, message};
use crate::devtool::Profile;
use crate::{Dialect, enum_names};

pub(super) fn write(dialect: Dialect, view: &TaskView, shape: TaskShape, out: &mut Vec<u8>) {
    out.extend_from_slice(match dialect {
        Dialect::V0_3Rpc => b"{\"kind\":\"task\",\"id\":",
        Dialect::V1_0 | Dialect::V0_3Rest => b"{\"id\":",
    });
    write_text(view.task.as_str(), out);
    out.extend_from_slice(b",\"contextId\":");
    write_text(view.context.as_str(), out);
    out.extend_from_slice(b",\"status\":");
    match status_with_pending_calls(view, shape.profile) {
        Some(status) => write_status(dialect, &status, out),
        None => write_status(dialect, &view.status, out),
    }
    write_artifacts(dialect, view, shape, out);
    write_history(dialect, view, shape.history_length, out);
    write_metadata(view.metadata.as_ref(), out);
    out.push(b'}');
}

/// The status of a task that waits for answers, with the calls in question; `None` if there is nothing to add.
pub(crate) fn status_with_pending_calls(view: &TaskView, profile: Profile) -> Option<TaskStatus> {
    if profile == Profile::Plain || view.status.state != TaskState::InputRequired {
        return None;
    }
    let calls = profile.pending_call_parts(view);
    let mut status = view.status.clone();
    let message = status.message.as_mut().filter(|_| !calls.is_empty())?;
    Arc::make_mut(message).parts.extend(calls);
    Some(status)
}

pub(super) fn write_status(dialect: Dialect, status: &TaskStatus, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"state\":\"");
    out.extend_from_slice(enum_names::state_name(dialect, status.state).as_bytes());
    out.push(b'"');
    if let Some(message) = &status.message {
        out.extend_from_slice(b",\"message\":");
        message::write(dialect, message, out);
    }
    out.extend_from_slice(b",\"timestamp\":");
    write_time(status.at, out);
    out.push(b'}');
}

fn write_artifacts(dialect: Dialect, view: &TaskView, shape: TaskShape, out: &mut Vec<u8>) {
    let artifacts: Vec<_> = view.shown_artifacts(shape.profile != Profile::Plain).collect();
    let shown = match shape.artifacts {
        IncludeArtifacts::WhenAny => !artifacts.is_empty(),
        IncludeArtifacts::Never => false,
        IncludeArtifacts::Always => true,
    };
    if shown {
        out.extend_from_slice(b",\"artifacts\":");
        write_array(&artifacts, out, |artifact, out| event::write_artifact(dialect, artifact, out));
    }
}

fn write_history(dialect: Dialect, view: &TaskView, length: Option<usize>, out: &mut Vec<u8>) {
    let recent = view.shown_history(length);
    if !recent.is_empty() {
        out.extend_from_slice(b",\"history\":");
        write_array(&recent, out, |message, out| message::write(dialect, message, out));
    }
}
