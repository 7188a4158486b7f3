//! Encodes a remote task and its events as JSON of A2A 1.0.

use serde_json::Value;

use super::remote::{ArtifactUpdate, RemoteStatus, RemoteTask, StatusUpdate, StreamEvent};
use crate::JsonForm;
use crate::encode::text::{write_array, write_metadata, write_optional_text, write_text};
use crate::encode::{event, message};
use crate::enum_names::state_name;

const DIALECT: JsonForm = JsonForm::V1_0;

impl RemoteTask {
    /// The task as JSON of A2A 1.0.
    pub fn to_json(&self) -> Value {
        to_json(|out| self.write(out))
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"id\":");
        write_text(self.id.as_str(), out);
        out.extend_from_slice(b",\"contextId\":");
        write_text(self.context.as_str(), out);
        write_status(&self.status, out);
        if !self.artifacts.is_empty() {
            out.extend_from_slice(b",\"artifacts\":");
            write_array(&self.artifacts, out, |artifact, out| event::write_artifact(DIALECT, artifact, out));
        }
        if !self.history.is_empty() {
            out.extend_from_slice(b",\"history\":");
            write_array(&self.history, out, |message, out| message::write(DIALECT, message, out));
        }
        write_metadata(self.metadata.as_ref(), out);
        out.push(b'}');
    }
}

impl StreamEvent {
    /// The event as JSON of A2A 1.0.
    pub fn to_json(&self) -> Value {
        to_json(|out| self.write(out))
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Task(task) => {
                out.extend_from_slice(b"{\"task\":");
                task.write(out);
            }
            Self::Message(message) => {
                out.extend_from_slice(b"{\"message\":");
                message::write(DIALECT, message, out);
            }
            Self::StatusUpdate(update) => {
                let StatusUpdate { task, context, status, metadata, .. } = &**update;
                event::write_ids(b"{\"statusUpdate\":{\"taskId\":", task, context, out);
                write_status(status, out);
                write_metadata(metadata.as_ref(), out);
                out.push(b'}');
            }
            Self::ArtifactUpdate(update) => {
                let ArtifactUpdate { task, context, artifact, append, last_chunk, metadata } = &**update;
                event::write_ids(b"{\"artifactUpdate\":{\"taskId\":", task, context, out);
                out.extend_from_slice(b",\"artifact\":");
                event::write_artifact(DIALECT, artifact, out);
                out.extend_from_slice(format!(",\"append\":{append},\"lastChunk\":{last_chunk}").as_bytes());
                write_metadata(metadata.as_ref(), out);
                out.push(b'}');
            }
        }
        out.push(b'}');
    }
}

fn to_json(write: impl FnOnce(&mut Vec<u8>)) -> Value {
    let mut out = Vec::new();
    write(&mut out);
    serde_json::from_slice(&out).expect("the writers write JSON")
}

fn write_status(status: &RemoteStatus, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"status\":{\"state\":");
    write_text(status.state.map_or("TASK_STATE_UNSPECIFIED", |state| state_name(DIALECT, state)), out);
    if let Some(message) = &status.message {
        out.extend_from_slice(b",\"message\":");
        message::write(DIALECT, message, out);
    }
    write_optional_text(b",\"timestamp\":", status.timestamp.as_deref(), out);
    out.push(b'}');
}
