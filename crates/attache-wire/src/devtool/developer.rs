//! The dialect of the RFC: metadata under the extension's URI, a whole `ToolCall` on every update.

mod tool_call;

pub use tool_call::ConfirmationOption;
pub(super) use tool_call::plain_name;

use attache_domain::{CallChange, CallRecord, DevtoolEvent, Part, Seq, StateReason, TaskState, TaskView};
use serde_json::{Value, json};

use super::envelope::{
    EventMetadata, StatusEvent, WITHDRAWN_TEXT, call_message_id, data_part, error_text, text_message_id,
    withdrawn_message_id, write_artifact, write_event, write_working_event,
};
use super::user_prompt::UserPrompt;
use super::{DevtoolFrame, URI, thought};
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
    let seq = frame.seq;
    match &frame.event {
        DevtoolEvent::State { state, message, closes, usage, why } => {
            let event = StatusEvent {
                state: *state,
                // The calls hold the question.
                message: message.filter(|_| *why != StateReason::ApprovalAsked).cloned(),
                closes: *closes,
                usage: *usage,
            };
            let error = message.and_then(|message| error_text(*state, message));
            write_event(
                json_form,
                frame,
                event,
                &DeveloperMetadata { error, ..DeveloperMetadata::of("STATE_CHANGE") },
                out,
            );
        }
        DevtoolEvent::Settled { state, message, .. } => {
            let error = message.and_then(|message| error_text(*state, message));
            let (state, message) = (TaskState::Working, message.cloned());
            let event = StatusEvent { state, message, closes: false, usage: None };
            let metadata = EventMetadata { error, ..EventMetadata::of("STATE_CHANGE") };
            write_event(json_form, frame, event, &metadata, out);
        }
        DevtoolEvent::Text(text) => {
            let parts = vec![Part::text(*text)];
            write_working_event(
                json_form,
                frame,
                &text_message_id(frame, 0),
                parts,
                &DeveloperMetadata::of("TEXT_CONTENT"),
                out,
            );
        }
        DevtoolEvent::TextWithdrawn => {
            let withdrawn = withdrawn_message_id(frame);
            let parts = vec![Part::text(WITHDRAWN_TEXT)];
            let kind =
                DeveloperMetadata { withdrawn: Some(withdrawn), ..DeveloperMetadata::of("STATE_CHANGE") };
            write_working_event(json_form, frame, &format!("withdrawn-{seq}"), parts, &kind, out);
        }
        DevtoolEvent::Thought(text) => {
            let parts = vec![thought::part(text)];
            write_working_event(
                json_form,
                frame,
                &format!("thought-{seq}"),
                parts,
                &DeveloperMetadata::of("THOUGHT"),
                out,
            );
        }
        DevtoolEvent::Call { call, moved } => {
            let (id, parts) = (
                call_message_id(frame, call, *moved),
                vec![data_part(tool_call::encode(call, Some(*moved)))],
            );
            write_working_event(
                json_form,
                frame,
                &id,
                parts,
                &DeveloperMetadata::of("TOOL_CALL_UPDATE"),
                out,
            );
        }
        DevtoolEvent::CallOutput { call, .. } => {
            let parts = vec![data_part(tool_call::encode(call, None))];
            write_working_event(
                json_form,
                frame,
                &format!("call-{seq}"),
                parts,
                &DeveloperMetadata::of("TOOL_CALL_UPDATE"),
                out,
            );
        }
        DevtoolEvent::Artifact { artifact, append, last_chunk } => {
            write_artifact(json_form, frame, artifact, *append, *last_chunk, out);
        }
        DevtoolEvent::Prompt { id, message, change } => {
            // The message that opens a task comes before any work.
            let is_first = frame.seq == Seq::START.next();
            let state = if is_first { TaskState::Submitted } else { TaskState::Working };
            let event = StatusEvent { state, message: None, closes: false, usage: None };
            let prompt = Some(UserPrompt::of(id, *message, *change));
            write_event(
                json_form,
                frame,
                event,
                &DeveloperMetadata { prompt, ..DeveloperMetadata::of("STATE_CHANGE") },
                out,
            );
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
