//! The dialect of the RFC: metadata under the extension's URI, a whole `ToolCall` on every update.

mod tool_call;

use attache_domain::{CallMove, Happening, Part, StateReason, TaskState, TaskView};

use super::envelope::{
    StatusEvent, WITHDRAWN, call_message_id, data, error_in, message, speech, withdrawn_message,
    write_artifact,
};
use super::{Occasion, URI, thought};
use crate::Dialect;
use crate::encode::text::write_text;
use crate::encode::write_message_item;

pub(super) fn shows(happening: &Happening<'_>) -> bool {
    match happening {
        // The call that goes on now says so itself.
        Happening::State { why: StateReason::Resumed, .. } => false,
        Happening::Call { moved: CallMove::Answered, .. } => false,
        // Every edit is told with its call.
        Happening::Artifact { artifact, .. } => !artifact.is_changes(),
        _ => true,
    }
}

pub(super) fn write(dialect: Dialect, occasion: &Occasion<'_>, out: &mut Vec<u8>) {
    let seq = occasion.seq;
    match &occasion.happening {
        Happening::State { state, message, closes, usage, why } => {
            let event = StatusEvent {
                state: *state,
                // The calls say what is asked.
                message: message.filter(|_| *why != StateReason::Asked).cloned(),
                closes: *closes,
                usage: *usage,
            };
            let error = message.and_then(|message| error_in(*state, message));
            write_event(dialect, occasion, event, &Kind { error, ..Kind::of("STATE_CHANGE") }, out);
        }
        Happening::Text(text) => {
            let parts = vec![Part::text(*text)];
            say(dialect, occasion, &speech(occasion, 0), parts, &Kind::of("TEXT_CONTENT"), out);
        }
        Happening::TextWithdrawn => {
            let withdrawn = withdrawn_message(occasion);
            let parts = vec![Part::text(WITHDRAWN)];
            let kind = Kind { withdrawn: Some(withdrawn), ..Kind::of("STATE_CHANGE") };
            say(dialect, occasion, &format!("withdrawn-{seq}"), parts, &kind, out);
        }
        Happening::Thought(text) => {
            let parts = vec![thought::part(text)];
            say(dialect, occasion, &format!("thought-{seq}"), parts, &Kind::of("THOUGHT"), out);
        }
        Happening::Call { call, moved } => {
            let (id, parts) = (call_message_id(occasion, call, *moved), vec![data(tool_call::spell(call))]);
            say(dialect, occasion, &id, parts, &Kind::of("TOOL_CALL_UPDATE"), out);
        }
        Happening::Shown { call, .. } => {
            let parts = vec![data(tool_call::spell(call))];
            say(dialect, occasion, &format!("call-{seq}"), parts, &Kind::of("TOOL_CALL_UPDATE"), out);
        }
        Happening::Artifact { artifact, append, last_chunk } => {
            write_artifact(dialect, occasion, artifact, *append, *last_chunk, out);
        }
        Happening::Replied(message) => write_message_item(dialect, message, out),
    }
}

pub(super) fn pending(view: &TaskView) -> Vec<Part> {
    view.cast.asked().map(|call| data(tool_call::spell(call))).collect()
}

/// What the metadata of an event says.
struct Kind {
    name: &'static str,
    error: Option<String>,
    /// The message whose text does not count any more.
    withdrawn: Option<String>,
}

impl Kind {
    fn of(name: &'static str) -> Self {
        Self { name, error: None, withdrawn: None }
    }
}

/// While a turn is under way, everything is said in the state `working`.
fn say(
    dialect: Dialect,
    occasion: &Occasion<'_>,
    id: &str,
    parts: Vec<Part>,
    kind: &Kind,
    out: &mut Vec<u8>,
) {
    let message = Some(message(occasion, id, parts));
    let event = StatusEvent { state: TaskState::Working, message, closes: false, usage: None };
    write_event(dialect, occasion, event, kind, out);
}

fn write_event(
    dialect: Dialect,
    occasion: &Occasion<'_>,
    event: StatusEvent<'_>,
    kind: &Kind,
    out: &mut Vec<u8>,
) {
    let model = occasion.cast.model.as_deref().unwrap_or("unknown");
    let metadata = |out: &mut Vec<u8>| {
        write_text(URI, out);
        out.extend_from_slice(b":{\"kind\":\"");
        out.extend_from_slice(kind.name.as_bytes());
        out.extend_from_slice(b"\",\"model\":");
        write_text(model, out);
        if let Some(error) = &kind.error {
            out.extend_from_slice(b",\"error\":");
            write_text(error, out);
        }
        if let Some(withdrawn) = &kind.withdrawn {
            out.extend_from_slice(b",\"withdrawn_message_id\":");
            write_text(withdrawn, out);
        }
        out.push(b'}');
    };
    event.write(dialect, occasion, metadata, out);
}
