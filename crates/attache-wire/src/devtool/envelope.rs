//! The A2A event around a development event, the same for every dialect.

use attache_domain::{
    Artifact, CallChange, CallRecord, Message, MessageId, Part, PartContent, Role, TaskState, TaskStatus,
    Usage,
};
use serde_json::Value;

use super::{DevtoolFrame, thought};
use crate::JsonForm;
use crate::encode::{event, write_item};

/// The metadata of an event in one dialect.
pub(super) trait EventMetadata {
    /// Writes the members, without braces.
    fn write(&self, model: &str, out: &mut Vec<u8>);
}

/// Writes the A2A events around one development event.
pub(super) struct EventWriter<'a> {
    pub(super) json_form: JsonForm,
    pub(super) frame: &'a DevtoolFrame<'a>,
    pub(super) out: &'a mut Vec<u8>,
}

/// A status update to be written.
pub(super) struct StatusEvent<'a> {
    pub(super) state: TaskState,
    pub(super) message: Option<Message>,
    pub(super) closes: bool,
    pub(super) usage: Option<&'a Usage>,
}

impl StatusEvent<'_> {
    /// During a turn, every event has the state `working`.
    pub(super) fn working(message: Option<Message>) -> Self {
        Self { state: TaskState::Working, message, closes: false, usage: None }
    }
}

impl EventWriter<'_> {
    pub(super) fn status(&mut self, event: StatusEvent<'_>, metadata: &impl EventMetadata) {
        let Self { json_form, frame, .. } = *self;
        let model = frame.call_records.model.as_deref().unwrap_or("unknown");
        let message = event.message.map(std::sync::Arc::new);
        let status = TaskStatus { state: event.state, message, at: frame.at };
        write_item(json_form, b"{\"statusUpdate\":", self.out, |out| {
            event::write_status_open(json_form, frame.task, frame.context, &status, event.closes, out);
            out.extend_from_slice(b",\"metadata\":{");
            metadata.write(model, out);
            if let Some(usage) = event.usage {
                out.push(b',');
                event::write_usage(usage, out);
            }
            out.extend_from_slice(b"}}");
        });
    }

    /// The agent's message in the middle of a turn.
    pub(super) fn message(&mut self, id: &str, part: Part, metadata: &impl EventMetadata) {
        let message = agent_message(self.frame, id, vec![part]);
        self.status(StatusEvent::working(Some(message)), metadata);
    }

    pub(super) fn text(&mut self, text: &str, metadata: &impl EventMetadata) {
        self.message(&text_message_id(self.frame, 0), Part::text(text), metadata);
    }

    pub(super) fn text_withdrawn(&mut self, metadata: &impl EventMetadata) {
        self.message(&format!("withdrawn-{}", self.frame.seq), Part::text(WITHDRAWN_TEXT), metadata);
    }

    pub(super) fn thought(&mut self, text: &str, metadata: &impl EventMetadata) {
        self.message(&format!("thought-{}", self.frame.seq), thought::part(text), metadata);
    }

    pub(super) fn artifact(&mut self, artifact: &Artifact, append: bool, last_chunk: bool) {
        let Self { json_form, frame, .. } = *self;
        write_item(json_form, b"{\"artifactUpdate\":", self.out, |out| {
            let (task, context) = (frame.task, frame.context);
            event::write_artifact_update(json_form, task, context, artifact, append, last_chunk, out);
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
fn text_message_id(frame: &DevtoolFrame<'_>, ago: u32) -> String {
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

/// A part that holds an object of the extension.
pub(super) fn data_part(value: Value) -> Part {
    Part::new(PartContent::Data(value))
}
