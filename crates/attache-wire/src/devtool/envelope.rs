//! The A2A event around a development event, the same for every dialect.

use attache_domain::{
    Artifact, CallChange, CallRecord, Message, MessageId, Part, PartContent, Role, TaskState, TaskStatus,
    Usage,
};
use serde_json::Value;

use super::DevtoolFrame;
use crate::JsonForm;
use crate::encode::{event, write_item};

/// The metadata of an event in one dialect.
pub(super) trait EventMetadata {
    /// Writes the members, without braces.
    fn write(&self, model: &str, out: &mut Vec<u8>);
}

pub(super) fn write_event(
    json_form: JsonForm,
    frame: &DevtoolFrame<'_>,
    event: StatusEvent<'_>,
    metadata: &impl EventMetadata,
    out: &mut Vec<u8>,
) {
    let model = frame.call_records.model.as_deref().unwrap_or("unknown");
    event.write(json_form, frame, |out| metadata.write(model, out), out);
}

/// During a turn, every event has the state `working`.
pub(super) fn write_working_event(
    json_form: JsonForm,
    frame: &DevtoolFrame<'_>,
    id: &str,
    parts: Vec<Part>,
    metadata: &impl EventMetadata,
    out: &mut Vec<u8>,
) {
    let message = Some(agent_message(frame, id, parts));
    let event = StatusEvent { state: TaskState::Working, message, closes: false, usage: None };
    write_event(json_form, frame, event, metadata, out);
}

/// A status update to be written.
pub(super) struct StatusEvent<'a> {
    pub(super) state: TaskState,
    pub(super) message: Option<Message>,
    pub(super) closes: bool,
    pub(super) usage: Option<&'a Usage>,
}

impl StatusEvent<'_> {
    /// `metadata` writes the members of the event's metadata, without braces.
    pub(super) fn write(
        self,
        json_form: JsonForm,
        frame: &DevtoolFrame<'_>,
        metadata: impl FnOnce(&mut Vec<u8>),
        out: &mut Vec<u8>,
    ) {
        let status =
            TaskStatus { state: self.state, message: self.message.map(std::sync::Arc::new), at: frame.at };
        write_item(json_form, b"{\"statusUpdate\":", out, |out| {
            event::write_status_open(json_form, frame.task, frame.context, &status, self.closes, out);
            out.extend_from_slice(b",\"metadata\":{");
            metadata(out);
            if let Some(usage) = self.usage {
                out.push(b',');
                event::write_usage(usage, out);
            }
            out.extend_from_slice(b"}}");
        });
    }
}

/// The agent's message in this event.
pub(super) fn agent_message(frame: &DevtoolFrame<'_>, id: &str, parts: Vec<Part>) -> Message {
    Message {
        id: MessageId::from([id, "-", frame.task.as_str()].concat()),
        role: Role::Agent,
        parts,
        context: Some(frame.context.clone()),
        task: Some(frame.task.clone()),
        requested: None,
        command: None,
        sender: None,
        reference_tasks: Vec::new(),
        extensions: Vec::new(),
        metadata: None,
    }
}

/// The id of a message about a call.
pub(super) fn call_message_id(frame: &DevtoolFrame<'_>, call: &CallRecord, moved: CallChange) -> String {
    match moved {
        // One log event can show several calls again.
        CallChange::StillAsked => format!("asked-{}-{}", frame.seq, call.shown_id().0),
        _ => format!("call-{}", frame.seq),
    }
}

/// The message id of the current stretch of text; `ago` counts back to earlier ones.
pub(super) fn text_message_id(frame: &DevtoolFrame<'_>, ago: u32) -> String {
    format!("say-{}", frame.call_records.text_number.saturating_sub(ago))
}

/// The error of a turn that stopped without an answer. A declined call is no error.
pub(super) fn error_text(state: TaskState, message: &Message) -> Option<String> {
    let is_error = match stop_reason(message) {
        Some(reason) => reason != "declined",
        None => matches!(state, TaskState::Failed | TaskState::Rejected),
    };
    is_error.then(|| message.text())
}

/// Why a turn stopped without an answer, as a word for programs.
pub(super) fn stop_reason(message: &Message) -> Option<&str> {
    message.metadata.as_ref()?.get("reason").and_then(Value::as_str)
}

/// The message whose text is void: the stretch before the current one.
pub(super) fn withdrawn_message_id(frame: &DevtoolFrame<'_>) -> String {
    format!("{}-{}", text_message_id(frame, 1), frame.task)
}

/// What people read when text is withdrawn.
pub(super) const WITHDRAWN_TEXT: &str =
    "The answer was cut off; what it has said since its last call does not count.";

pub(super) fn write_artifact(
    json_form: JsonForm,
    frame: &DevtoolFrame<'_>,
    artifact: &Artifact,
    append: bool,
    last_chunk: bool,
    out: &mut Vec<u8>,
) {
    write_item(json_form, b"{\"artifactUpdate\":", out, |out| {
        let (task, context) = (frame.task, frame.context);
        event::write_artifact_update(json_form, task, context, artifact, append, last_chunk, out);
    });
}

/// A part that holds an object of the extension.
pub(super) fn data_part(value: Value) -> Part {
    Part::new(PartContent::Data(value))
}
