//! The events of a stream, and the artifact they carry.

use attache_domain::{Artifact, ContextId, TaskId, TaskStatus, Usage};

use super::part;
use super::task::write_status;
use super::text::{write_array, write_metadata, write_optional_text, write_text, write_texts};
use crate::JsonForm;

pub(super) fn write_status_update(
    json_form: JsonForm,
    task: &TaskId,
    context: &ContextId,
    status: &TaskStatus,
    closes: bool,
    usage: Option<&Usage>,
    out: &mut Vec<u8>,
) {
    write_status_open(json_form, task, context, status, closes, out);
    if let Some(usage) = usage {
        out.extend_from_slice(b",\"metadata\":{");
        write_usage(usage, out);
        out.push(b'}');
    }
    out.push(b'}');
}

/// Everything but the metadata and the closing brace.
pub(crate) fn write_status_open(
    json_form: JsonForm,
    task: &TaskId,
    context: &ContextId,
    status: &TaskStatus,
    closes: bool,
    out: &mut Vec<u8>,
) {
    let open: &[u8] = match json_form {
        JsonForm::V0_3Rpc => b"{\"kind\":\"status-update\",\"taskId\":",
        JsonForm::V1_0 | JsonForm::V0_3Rest => b"{\"taskId\":",
    };
    write_ids(open, task, context, out);
    out.extend_from_slice(b",\"status\":");
    write_status(json_form, status, out);
    out.extend_from_slice(match (json_form, closes) {
        (JsonForm::V1_0, _) | (JsonForm::V0_3Rest, false) => b"",
        (JsonForm::V0_3Rpc, false) => b",\"final\":false",
        (JsonForm::V0_3Rpc | JsonForm::V0_3Rest, true) => b",\"final\":true",
    });
}

/// The member with the task's token usage.
pub(crate) fn write_usage(usage: &Usage, out: &mut Vec<u8>) {
    let Usage { input, cached, output, thoughts } = *usage;
    let members: [(&[u8], u64); 4] = [
        (b"\"usage\":{\"inputTokens\":", input),
        (b",\"cachedTokens\":", cached),
        (b",\"outputTokens\":", output),
        (b",\"thoughtTokens\":", thoughts),
    ];
    for (name, tokens) in members {
        out.extend_from_slice(name);
        out.extend_from_slice(tokens.to_string().as_bytes());
    }
    out.push(b'}');
}

pub(crate) fn write_artifact_update(
    json_form: JsonForm,
    task: &TaskId,
    context: &ContextId,
    artifact: &Artifact,
    append: bool,
    last_chunk: bool,
    out: &mut Vec<u8>,
) {
    let open: &[u8] = match json_form {
        JsonForm::V0_3Rpc => b"{\"kind\":\"artifact-update\",\"taskId\":",
        JsonForm::V1_0 | JsonForm::V0_3Rest => b"{\"taskId\":",
    };
    write_ids(open, task, context, out);
    out.extend_from_slice(b",\"artifact\":");
    write_artifact(json_form, artifact, out);
    if append {
        out.extend_from_slice(b",\"append\":true");
    }
    if last_chunk {
        out.extend_from_slice(b",\"lastChunk\":true");
    }
    out.push(b'}');
}

pub(crate) fn write_artifact(json_form: JsonForm, artifact: &Artifact, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"artifactId\":");
    write_text(artifact.id.as_str(), out);
    write_optional_text(b",\"name\":", artifact.name.as_deref(), out);
    write_optional_text(b",\"description\":", artifact.description.as_deref(), out);
    out.extend_from_slice(b",\"parts\":");
    write_array(&artifact.parts, out, |part, out| part::write(json_form, part, out));
    write_metadata(artifact.metadata.as_ref(), out);
    write_texts(b",\"extensions\":", &artifact.extensions, out);
    out.push(b'}');
}

pub(crate) fn write_ids(open: &[u8], task: &TaskId, context: &ContextId, out: &mut Vec<u8>) {
    out.extend_from_slice(open);
    write_text(task.as_str(), out);
    out.extend_from_slice(b",\"contextId\":");
    write_text(context.as_str(), out);
}
