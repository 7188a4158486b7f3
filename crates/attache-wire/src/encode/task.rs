//! A task and its status.

use std::sync::Arc;

use attache_domain::{TaskStatus, TaskView};

use super::text::{write_array, write_metadata, write_text, write_time};
use super::{IncludeArtifacts, TaskShape, event, message};
use crate::devtool::Dialect;
use crate::{JsonForm, enum_names};

pub(super) fn write(json_form: JsonForm, view: &TaskView, shape: TaskShape, out: &mut Vec<u8>) {
    out.extend_from_slice(match json_form {
        JsonForm::V0_3Rpc => b"{\"kind\":\"task\",\"id\":",
        JsonForm::V1_0 | JsonForm::V0_3Rest => b"{\"id\":",
    });
    write_text(view.task.as_str(), out);
    out.extend_from_slice(b",\"contextId\":");
    write_text(view.context.as_str(), out);
    out.extend_from_slice(b",\"status\":");
    match status_with_pending_calls(view, shape.dialect) {
        Some(status) => write_status(json_form, &status, out),
        None => write_status(json_form, &view.status, out),
    }
    write_artifacts(json_form, view, shape, out);
    write_history(json_form, view, shape.history_length, out);
    write_metadata(view.metadata.as_ref(), out);
    out.push(b'}');
}

/// The status of a task that waits for answers, with the calls in question; `None` if there is nothing to add.
pub(crate) fn status_with_pending_calls(view: &TaskView, dialect: Dialect) -> Option<TaskStatus> {
    let beside_calls = view.question_beside_calls();
    if beside_calls.is_none() && (dialect == Dialect::Plain || !view.status.state.is_interrupted()) {
        return None;
    }
    let message = beside_calls.map(Arc::new).or_else(|| view.status.message.clone());
    let mut status = TaskStatus { message, ..view.status.clone() };
    if dialect != Dialect::Plain {
        let calls = dialect.pending_call_parts(view);
        let message = status.message.as_mut().filter(|_| !calls.is_empty())?;
        Arc::make_mut(message).parts.extend(calls);
    }
    Some(status)
}

pub(super) fn write_status(json_form: JsonForm, status: &TaskStatus, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"state\":\"");
    out.extend_from_slice(enum_names::state_name(json_form, status.state).as_bytes());
    out.push(b'"');
    if let Some(message) = &status.message {
        out.extend_from_slice(b",\"message\":");
        message::write(json_form, message, out);
    }
    out.extend_from_slice(b",\"timestamp\":");
    write_time(status.at, out);
    out.push(b'}');
}

fn write_artifacts(json_form: JsonForm, view: &TaskView, shape: TaskShape, out: &mut Vec<u8>) {
    let artifacts: Vec<_> = view.shown_artifacts(shape.dialect != Dialect::Plain).collect();
    let shown = match shape.artifacts {
        IncludeArtifacts::WhenAny => !artifacts.is_empty(),
        IncludeArtifacts::Never => false,
        IncludeArtifacts::Always => true,
    };
    if shown {
        out.extend_from_slice(b",\"artifacts\":");
        write_array(&artifacts, out, |artifact, out| event::write_artifact(json_form, artifact, out));
    }
}

fn write_history(json_form: JsonForm, view: &TaskView, length: Option<usize>, out: &mut Vec<u8>) {
    let recent = view.shown_history(length);
    if !recent.is_empty() {
        out.extend_from_slice(b",\"history\":");
        write_array(&recent, out, |message, out| message::write(json_form, message, out));
    }
}
