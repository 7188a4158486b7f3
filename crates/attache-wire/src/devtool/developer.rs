//! The dialect of the RFC: metadata under the extension's URI, a whole `ToolCall` on every update.

mod tool_call;

pub use tool_call::ConfirmationOption;
pub(super) use tool_call::plain_name;

use attache_domain::{CallChange, CallRecord, DevtoolEvent, Part, Seq, StateReason, TaskState, TaskView};
use serde_json::{Value, json};

use super::envelope::{
    EventMetadata, EventWriter, StatusEvent, call_message_id, data_part, error_text, withdrawn_message_id,
};
use super::user_prompt::UserPrompt;
use super::{DevtoolFrame, URI};
use crate::JsonForm;
use crate::encode::text::{write_text, write_value};
use crate::encode::write_message_item;

pub(super) fn shows(event: &DevtoolEvent<'_>) -> bool {
    match event {
        // The call that continues has an update of its own.
        DevtoolEvent::State { why: StateReason::Resumed, .. } => false,
        DevtoolEvent::Settled { message, .. } => message.is_some(),
        // Edits come with their calls.
        DevtoolEvent::Artifact { artifact, .. } => !artifact.is_changes(),
        _ => true,
    }
}

pub(super) fn write(json_form: JsonForm, frame: &DevtoolFrame<'_>, out: &mut Vec<u8>) {
    let mut writer = EventWriter { json_form, frame, out };
    let plain = DeveloperMetadata::of;
    match &frame.event {
        DevtoolEvent::State { state, message, closes, usage, why } => {
            let error = message.and_then(|message| error_text(*state, message));
            // The calls hold the question.
            let message = message.filter(|_| *why != StateReason::ApprovalAsked).cloned();
            let event = StatusEvent { state: *state, message, closes: *closes, usage: *usage };
            writer.status(event, &DeveloperMetadata { error, ..plain("STATE_CHANGE") });
        }
        DevtoolEvent::Settled { state, message, .. } => {
            let error = message.and_then(|message| error_text(*state, message));
            let event = StatusEvent::working(message.cloned());
            writer.status(event, &DeveloperMetadata { error, ..plain("STATE_CHANGE") });
        }
        DevtoolEvent::Text(text) => writer.text(text, &plain("TEXT_CONTENT")),
        DevtoolEvent::TextWithdrawn => {
            let withdrawn = Some(withdrawn_message_id(frame));
            writer.text_withdrawn(&DeveloperMetadata { withdrawn, ..plain("STATE_CHANGE") });
        }
        DevtoolEvent::Thought(text) => writer.thought(text, &plain("THOUGHT")),
        DevtoolEvent::Call { call, moved } => {
            let id = call_message_id(frame, call, *moved);
            writer.message(&id, data_part(tool_call::encode(call, Some(*moved))), &plain("TOOL_CALL_UPDATE"));
        }
        DevtoolEvent::CallOutput { call, .. } => {
            let id = format!("call-{}", frame.seq);
            writer.message(&id, data_part(tool_call::encode(call, None)), &plain("TOOL_CALL_UPDATE"));
        }
        DevtoolEvent::Artifact { artifact, append, last_chunk } => {
            writer.artifact(artifact, *append, *last_chunk);
        }
        DevtoolEvent::Prompt { id, message, change } => {
            // The message that opens a task comes before any work.
            let is_first = frame.seq == Seq::START.next();
            let state = if is_first { TaskState::Submitted } else { TaskState::Working };
            let event = StatusEvent { state, ..StatusEvent::working(None) };
            let prompt = Some(UserPrompt::of(id, *message, *change));
            writer.status(event, &DeveloperMetadata { prompt, ..plain("STATE_CHANGE") });
        }
        DevtoolEvent::Replied(message) => write_message_item(json_form, message, out),
    }
}

/// One call with everything that is known about it.
pub(super) fn encode_call(record: &CallRecord, change: Option<CallChange>) -> Value {
    tool_call::encode(record, change)
}

pub(super) fn pending_call_parts(view: &TaskView) -> Vec<Part> {
    view.call_records.asked().map(|call| data_part(tool_call::encode(call, None))).collect()
}

/// The metadata of an event.
struct DeveloperMetadata<'a> {
    name: &'static str,
    error: Option<String>,
    /// The message whose text is void.
    withdrawn: Option<String>,
    prompt: Option<UserPrompt<'a>>,
}

impl DeveloperMetadata<'_> {
    fn of(name: &'static str) -> Self {
        Self { name, error: None, withdrawn: None, prompt: None }
    }
}

impl EventMetadata for DeveloperMetadata<'_> {
    fn write(&self, model: &str, out: &mut Vec<u8>) {
        write_text(URI, out);
        out.extend_from_slice(b":{\"kind\":\"");
        out.extend_from_slice(self.name.as_bytes());
        out.extend_from_slice(b"\",\"model\":");
        write_text(model, out);
        if let Some(error) = &self.error {
            out.extend_from_slice(b",\"error\":");
            write_text(error, out);
        }
        if let Some(withdrawn) = &self.withdrawn {
            out.extend_from_slice(b",\"withdrawn_message_id\":");
            write_text(withdrawn, out);
        }
        if let Some(prompt) = &self.prompt {
            out.extend_from_slice(b",\"user_prompt\":");
            write_value(&json!(prompt), out);
        }
        out.push(b'}');
    }
}
