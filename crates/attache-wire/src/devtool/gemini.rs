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

use super::DevtoolFrame;
use super::envelope::{
    EventMetadata, EventWriter, StatusEvent, agent_message, call_message_id, data_part, error_text,
    stop_reason, withdrawn_message_id,
};
use super::incoming::GEMINI;
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
    let mut writer = EventWriter { json_form, frame, out };
    match &frame.event {
        DevtoolEvent::State { state, message, closes, usage, why } => {
            let words = status_message(frame, *state, *message, *why);
            let event = StatusEvent { state: *state, message: words, closes: *closes, usage: None };
            let metadata = GeminiMetadata { usage: *usage, ..end_metadata(*state, *message, frame) };
            writer.status(event, &metadata);
        }
        DevtoolEvent::Settled { state, message, .. } => {
            let event = StatusEvent::working(message.cloned());
            writer.status(event, &end_metadata(*state, *message, frame));
        }
        DevtoolEvent::Text(text) => writer.text(text, &model_metadata("text-content", frame)),
        DevtoolEvent::TextWithdrawn => {
            let withdrawn = Some(withdrawn_message_id(frame));
            writer.text_withdrawn(&GeminiMetadata { withdrawn, ..GeminiMetadata::of("state-change") });
        }
        DevtoolEvent::Thought(text) => writer.thought(text, &model_metadata("thought", frame)),
        DevtoolEvent::Call { call, moved } => {
            let part = data_part(tool_call::encode(call, &prompt_id(frame.task, &frame.stage.turn)));
            let asked = tool_call::is_asked(call);
            let kind = if asked { "tool-call-confirmation" } else { "tool-call-update" };
            writer.message(&call_message_id(frame, call, *moved), part, &GeminiMetadata::of(kind));
        }
        DevtoolEvent::CallOutput { call, .. } => live::write(json_form, frame, call, out),
        DevtoolEvent::Artifact { artifact, append, last_chunk } => {
            writer.artifact(artifact, *append, *last_chunk);
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

/// The metadata of an event that settles a prompt or shows a state, with the error if there is one.
fn end_metadata<'a>(
    state: TaskState,
    message: Option<&Message>,
    frame: &DevtoolFrame<'a>,
) -> GeminiMetadata<'a> {
    let error = message.and_then(|message| error_text(state, message));
    let trace = error.as_ref().and(frame.call_records.response.as_deref());
    GeminiMetadata { error, trace, ..GeminiMetadata::of("state-change") }
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
