//! The dialect of Gemini CLI's server: metadata under `coderAgent`, a call in the words of its scheduler.
//!
//! What its clients rely on is kept, what it got wrong is not; docs/extension/gemini.md lists both.

mod confirmation;
mod file_diff;
mod live;
mod response;
mod tool;
mod tool_call;

pub(super) use tool::{mcp_name, qualified_mcp_name};

use attache_domain::{
    CallMove, CallPhase, Happening, Message, Part, StateReason, TaskId, TaskState, TaskView, Turn, Usage,
};

use super::envelope::{
    StatusEvent, WITHDRAWN, call_message_id, data, error_in, message, reason_in, speech, withdrawn_message,
    write_artifact,
};
use super::incoming::GEMINI;
use super::{Occasion, thought};
use crate::Dialect;
use crate::encode::text::{write_integer, write_text};
use crate::encode::write_message_item;

pub(super) fn shows(happening: &Happening<'_>) -> bool {
    match happening {
        // The call that goes on now says so itself.
        Happening::State { why: StateReason::Resumed, .. } => false,
        // That it will not run is said when it is over; that it is to hold something else, when it is asked about again.
        Happening::Call { call, moved: CallMove::Answered } => call.phase == CallPhase::Allowed,
        // Every edit is told with its call.
        Happening::Artifact { artifact, .. } => !artifact.is_changes(),
        _ => true,
    }
}

pub(super) fn write(dialect: Dialect, occasion: &Occasion<'_>, out: &mut Vec<u8>) {
    let seq = occasion.seq;
    match &occasion.happening {
        Happening::State { state, message, closes, usage, why } => {
            let words = words(occasion, *state, *message, *why);
            let event = StatusEvent { state: *state, message: words, closes: *closes, usage: None };
            let error = message.and_then(|message| error_in(*state, message));
            let trace = error.as_ref().and(occasion.cast.response.as_deref());
            let metadata = Metadata { error, usage: *usage, trace, ..Metadata::of("state-change") };
            write_event(dialect, occasion, event, &metadata, out);
        }
        Happening::Text(text) => {
            let parts = vec![Part::text(*text)];
            say(dialect, occasion, &speech(occasion, 0), parts, &said("text-content", occasion), out);
        }
        Happening::TextWithdrawn => {
            let withdrawn = withdrawn_message(occasion);
            let parts = vec![Part::text(WITHDRAWN)];
            let metadata = Metadata { withdrawn: Some(withdrawn), ..Metadata::of("state-change") };
            say(dialect, occasion, &format!("withdrawn-{seq}"), parts, &metadata, out);
        }
        Happening::Thought(text) => {
            let parts = vec![thought::part(text)];
            say(dialect, occasion, &format!("thought-{seq}"), parts, &said("thought", occasion), out);
        }
        Happening::Call { call, moved } => {
            let request = Request {
                prompt: prompt_id(occasion.task, &occasion.stage.turn),
                trace: occasion.cast.response.as_deref(),
            };
            let parts = vec![data(tool_call::spell(call, &request))];
            let asked = tool_call::is_asked(call);
            let kind = if asked { "tool-call-confirmation" } else { "tool-call-update" };
            let id = call_message_id(occasion, call, *moved);
            say(dialect, occasion, &id, parts, &Metadata::of(kind), out);
        }
        Happening::Shown { call, .. } => live::write(dialect, occasion, call, out),
        Happening::Artifact { artifact, append, last_chunk } => {
            write_artifact(dialect, occasion, artifact, *append, *last_chunk, out);
        }
        Happening::Replied(message) => write_message_item(dialect, message, out),
    }
}

pub(super) fn pending(view: &TaskView) -> Vec<Part> {
    let request =
        Request { prompt: prompt_id(&view.task, &view.progress.turn), trace: view.cast.response.as_deref() };
    view.cast.asked().map(|call| data(tool_call::spell(call, &request))).collect()
}

/// What is said with a state, where that is not clear without words.
fn words(
    occasion: &Occasion<'_>,
    state: TaskState,
    said: Option<&Message>,
    why: StateReason,
) -> Option<Message> {
    match (state, said) {
        // The calls say what is asked.
        _ if why == StateReason::Asked => None,
        // So they do when somebody said no.
        (_, Some(said)) if reason_in(said) == Some("declined") => None,
        (TaskState::Canceled, None) => {
            let parts = vec![Part::text("The task was canceled.")];
            Some(message(occasion, &format!("canceled-{}", occasion.seq), parts))
        }
        (_, said) => said.cloned(),
    }
}

/// Where a call comes from.
struct Request<'a> {
    /// Which prompt of which task it serves.
    prompt: String,
    /// The provider's id of the answer that wants it.
    trace: Option<&'a str>,
}

/// The metadata of something that the model says, with the provider's id of its answer.
fn said<'a>(kind: &'static str, occasion: &Occasion<'a>) -> Metadata<'a> {
    Metadata { trace: occasion.cast.response.as_deref(), ..Metadata::of(kind) }
}

/// What the metadata of an event says.
struct Metadata<'a> {
    kind: &'static str,
    error: Option<String>,
    usage: Option<&'a Usage>,
    /// The provider's id of the model's answer.
    trace: Option<&'a str>,
    /// The message whose text does not count any more.
    withdrawn: Option<String>,
}

impl Metadata<'_> {
    fn of(kind: &'static str) -> Self {
        Self { kind, error: None, usage: None, trace: None, withdrawn: None }
    }

    /// The members, without braces.
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

/// While a turn is under way, everything is said in the state `working`.
fn say(
    dialect: Dialect,
    occasion: &Occasion<'_>,
    id: &str,
    parts: Vec<Part>,
    metadata: &Metadata<'_>,
    out: &mut Vec<u8>,
) {
    let message = Some(message(occasion, id, parts));
    let event = StatusEvent { state: TaskState::Working, message, closes: false, usage: None };
    write_event(dialect, occasion, event, metadata, out);
}

fn write_event(
    dialect: Dialect,
    occasion: &Occasion<'_>,
    event: StatusEvent<'_>,
    metadata: &Metadata<'_>,
    out: &mut Vec<u8>,
) {
    let model = occasion.cast.model.as_deref().unwrap_or("unknown");
    event.write(dialect, occasion, |out| metadata.write(model, out), out);
}

/// What the task has cost, as Gemini counts: what is generated without the thoughts, and those beside it.
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

/// Which prompt of which task a call serves; prompts are counted from zero.
fn prompt_id(task: &TaskId, turn: &Turn) -> String {
    format!("{task}########{}", turn.number.saturating_sub(1))
}
