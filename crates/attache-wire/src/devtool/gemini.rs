//! The dialect of Gemini CLI's server: metadata under `coderAgent`, calls in the form of its scheduler.
//!
//! Keeps what its clients rely on and corrects its mistakes; docs/extension/gemini.md lists both.

mod confirmation;
mod file_diff;
mod live;
mod response;
mod tool;
mod tool_call;

pub(super) use tool::{mcp_name, qualified_mcp_name};

use attache_domain::{
    CallChange, CallPhase, DevtoolEvent, Message, Part, StateReason, TaskId, TaskState, TaskView, Turn, Usage,
};

use super::envelope::{
    EventMetadata, StatusEvent, WITHDRAWN_TEXT, agent_message, call_message_id, data_part, error_text,
    stop_reason, text_message_id, withdrawn_message_id, write_artifact, write_event, write_working_event,
};
use super::incoming::GEMINI;
use super::{DevtoolFrame, thought};
use crate::JsonForm;
use crate::encode::text::{write_integer, write_text};
use crate::encode::write_message_item;

pub(super) fn shows(event: &DevtoolEvent<'_>) -> bool {
    match event {
        // The call that continues has an update of its own.
        DevtoolEvent::State { why: StateReason::Resumed, .. } => false,
        DevtoolEvent::Prompt { .. } => false,
        // Declined calls are shown by themselves.
        DevtoolEvent::Settled { message, .. } => {
            message.is_some_and(|message| stop_reason(message) != Some("declined"))
        }
        // A refused call is shown when it is over; a changed one, when it asks again.
        DevtoolEvent::Call { call, moved: CallChange::Answered } => call.phase == CallPhase::Allowed,
        // Edits come with their calls.
        DevtoolEvent::Artifact { artifact, .. } => !artifact.is_changes(),
        _ => true,
    }
}

pub(super) fn write(json_form: JsonForm, frame: &DevtoolFrame<'_>, out: &mut Vec<u8>) {
    let seq = frame.seq;
    match &frame.event {
        DevtoolEvent::State { state, message, closes, usage, why } => {
            let words = status_message(frame, *state, *message, *why);
            let event = StatusEvent { state: *state, message: words, closes: *closes, usage: None };
            let error = message.and_then(|message| error_text(*state, message));
            let trace = error.as_ref().and(frame.call_records.response.as_deref());
            let metadata =
                GeminiMetadata { error, usage: *usage, trace, ..GeminiMetadata::of("state-change") };
            write_event(json_form, frame, event, &metadata, out);
        }
        DevtoolEvent::Settled { state, message, .. } => {
            let error = message.and_then(|message| error_text(*state, message));
            let trace = error.as_ref().and(frame.call_records.response.as_deref());
            let (state, message) = (TaskState::Working, message.cloned());
            let event = StatusEvent { state, message, closes: false, usage: None };
            let metadata = EventMetadata { error, trace, ..EventMetadata::of("state-change") };
            write_event(json_form, frame, event, &metadata, out);
        }
        DevtoolEvent::Text(text) => {
            let parts = vec![Part::text(*text)];
            write_working_event(
                json_form,
                frame,
                &text_message_id(frame, 0),
                parts,
                &model_metadata("text-content", frame),
                out,
            );
        }
        DevtoolEvent::TextWithdrawn => {
            let withdrawn = withdrawn_message_id(frame);
            let parts = vec![Part::text(WITHDRAWN_TEXT)];
            let metadata =
                GeminiMetadata { withdrawn: Some(withdrawn), ..GeminiMetadata::of("state-change") };
            write_working_event(json_form, frame, &format!("withdrawn-{seq}"), parts, &metadata, out);
        }
        DevtoolEvent::Thought(text) => {
            let parts = vec![thought::part(text)];
            write_working_event(
                json_form,
                frame,
                &format!("thought-{seq}"),
                parts,
                &model_metadata("thought", frame),
                out,
            );
        }
        DevtoolEvent::Call { call, moved } => {
            let parts = vec![data_part(tool_call::encode(call, &prompt_id(frame.task, &frame.stage.turn)))];
            let asked = tool_call::is_asked(call);
            let kind = if asked { "tool-call-confirmation" } else { "tool-call-update" };
            let id = call_message_id(frame, call, *moved);
            write_working_event(json_form, frame, &id, parts, &GeminiMetadata::of(kind), out);
        }
        DevtoolEvent::CallOutput { call, .. } => live::write(json_form, frame, call, out),
        DevtoolEvent::Artifact { artifact, append, last_chunk } => {
            write_artifact(json_form, frame, artifact, *append, *last_chunk, out);
        }
        DevtoolEvent::Prompt { .. } => {}
        DevtoolEvent::Replied(message) => write_message_item(json_form, message, out),
    }
}

pub(super) fn pending_call_parts(view: &TaskView) -> Vec<Part> {
    let prompt_id = prompt_id(&view.task, &view.progress.turn);
    view.call_records.asked().map(|call| data_part(tool_call::encode(call, &prompt_id))).collect()
}

/// The message of a state that needs an explanation.
fn status_message(
    frame: &DevtoolFrame<'_>,
    state: TaskState,
    said: Option<&Message>,
    why: StateReason,
) -> Option<Message> {
    match (state, said) {
        // The calls hold the question.
        _ if why == StateReason::ApprovalAsked => None,
        // So do declined calls.
        (_, Some(said)) if stop_reason(said) == Some("declined") => None,
        (TaskState::Canceled, None) => {
            let parts = vec![Part::text("The task was canceled.")];
            Some(agent_message(frame, &format!("canceled-{}", frame.seq), parts))
        }
        (_, said) => said.cloned(),
    }
}

/// The metadata of model output, with the provider's id of the response.
fn model_metadata<'a>(kind: &'static str, frame: &DevtoolFrame<'a>) -> GeminiMetadata<'a> {
    GeminiMetadata { trace: frame.call_records.response.as_deref(), ..GeminiMetadata::of(kind) }
}

/// The metadata of an event.
struct GeminiMetadata<'a> {
    kind: &'static str,
    error: Option<String>,
    usage: Option<&'a Usage>,
    /// The provider's id of the model's response.
    trace: Option<&'a str>,
    /// The message whose text is void.
    withdrawn: Option<String>,
}

impl GeminiMetadata<'_> {
    fn of(kind: &'static str) -> Self {
        Self { kind, error: None, usage: None, trace: None, withdrawn: None }
    }
}

impl EventMetadata for GeminiMetadata<'_> {
    fn write(&self, model: &str, out: &mut Vec<u8>) {
        write_text(GEMINI, out);
        out.extend_from_slice(b":{\"kind\":");
        write_text(self.kind, out);
        out.extend_from_slice(b"},\"model\":");
        write_text(model, out);
        if let Some(error) = &self.error {
            out.extend_from_slice(b",\"error\":");
            write_text(error, out);
        }
        if let Some(trace) = self.trace {
            out.extend_from_slice(b",\"traceId\":");
            write_text(trace, out);
        }
        if let Some(withdrawn) = &self.withdrawn {
            out.extend_from_slice(b",\"withdrawnMessageId\":");
            write_text(withdrawn, out);
        }
        if let Some(usage) = self.usage {
            write_usage(usage, out);
        }
    }
}

/// Token usage as Gemini counts it: output without thoughts, and thoughts separately.
fn write_usage(usage: &Usage, out: &mut Vec<u8>) {
    let Usage { input, cached, output, thoughts } = *usage;
    let members: [(&[u8], u64); 5] = [
        (b",\"usageMetadata\":{\"promptTokenCount\":", input),
        (b",\"candidatesTokenCount\":", output.saturating_sub(thoughts)),
        (b",\"thoughtsTokenCount\":", thoughts),
        (b",\"cachedContentTokenCount\":", cached),
        (b",\"totalTokenCount\":", input.saturating_add(output)),
    ];
    for (name, tokens) in members {
        out.extend_from_slice(name);
        write_integer(tokens, out);
    }
    out.push(b'}');
}

/// Identifies the prompt that a call serves; prompts are counted from zero.
fn prompt_id(task: &TaskId, turn: &Turn) -> String {
    format!("{task}########{}", turn.number.saturating_sub(1))
}
