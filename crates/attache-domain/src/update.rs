//! What a client sees of an event.

use std::borrow::Cow;
use std::sync::Arc;

use crate::view::answer_artifact;
use crate::{
    AnswerLocation, Artifact, Event, Fact, Message, Part, ReplyShape, TaskState, TaskStatus, TextPhase,
    UpdateContext, Usage,
};

/// What clients of plain A2A see of an event. `wire` encodes it.
#[derive(Debug, Clone, PartialEq)]
pub enum Update<'a> {
    Status {
        status: TaskStatus,
        /// Nothing follows before a client acts, so a stream ends here.
        closes: bool,
        /// The tokens of the task, if a language model worked on it.
        usage: Option<&'a Usage>,
    },
    Artifact {
        artifact: Cow<'a, Artifact>,
        append: bool,
        last_chunk: bool,
    },
    /// The bare answer of a hidden task.
    Replied(Arc<Message>),
}

/// Does a stream end with `fact`, because nothing follows before a client acts?
pub fn closes_stream(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::TurnEnded { .. }
            | Fact::PersonAsked { .. }
            | Fact::TaskCanceled
            | Fact::NoticedLater { .. }
            | Fact::Replied { .. }
    )
}

/// The facts without an update. It is a pattern, so that the compiler asks about every new fact.
macro_rules! internal_fact {
    () => {
        Fact::TaskOpened(_)
            | Fact::MessageReceived { .. }
            | Fact::PromptQueued { .. }
            | Fact::PromptTaken { .. }
            | Fact::ThoughtShared { .. }
            | Fact::ModelAnswered(_)
            | Fact::ModelChosen { .. }
            | Fact::ModelResponded { .. }
            | Fact::ContextGiven(_)
            | Fact::ContextReduced(_)
            | Fact::CallProposed(_)
            | Fact::CallDeferred { .. }
            | Fact::CallAnswered { .. }
            | Fact::CallStarted { .. }
            | Fact::CallLost { .. }
            | Fact::CallShowed { .. }
            | Fact::CallStateSaved { .. }
            | Fact::ConversationStateSaved { .. }
            | Fact::CallAsked(_)
            | Fact::CallCancelRequested { .. }
            | Fact::CallFinished(_)
            | Fact::CancelRequested
    };
}

/// Does [`update_of`] return an update for `fact`?
pub fn is_shown(before: &UpdateContext, fact: &Fact) -> bool {
    let inside = matches!(fact, internal_fact!());
    let left_out = match fact {
        Fact::ArtifactAdded { artifact, .. } => artifact.is_changes() && !before.presentation.changes,
        Fact::PromptSettled { message, .. } => message.is_none(),
        Fact::TextSaid { .. } | Fact::TextWithdrawn | Fact::TextReplaced { .. } | Fact::TextEnded => {
            before.presentation.answer == AnswerLocation::StatusMessage
        }
        _ => false,
    };
    // A caller who gets a bare message sees that message, or that there will be none, and nothing else.
    !inside && !left_out && (before.reply == ReplyShape::Task || closes_stream(fact))
}

/// The update for `event`, given the context *before* it; `None` for internal facts.
///
/// Before, because the effect of a piece of text on its artifact depends on the text before it.
pub fn update_of<'a>(before: &UpdateContext, event: &'a Event) -> Option<Update<'a>> {
    let status = |state: TaskState, message: Option<&Arc<Message>>, closes: bool| {
        let status = TaskStatus { state, message: message.cloned(), at: event.at };
        Some(Update::Status { status, closes, usage: None })
    };
    if !is_shown(before, &event.fact) {
        return None;
    }
    match &event.fact {
        internal_fact!() => None,
        Fact::TurnStarted { .. } | Fact::WorkResumed => status(TaskState::Working, None, false),
        Fact::TextSaid { text, last } => Some(answer_piece(before, text, *last)),
        Fact::TextWithdrawn => Some(Update::Artifact {
            artifact: Cow::Owned(answer_artifact(before.answer_id(), vec![Part::text("")])),
            append: false,
            last_chunk: false,
        }),
        Fact::TextReplaced { text } => Some(Update::Artifact {
            artifact: Cow::Owned(answer_artifact(before.answer_id(), vec![Part::text(text)])),
            append: false,
            last_chunk: false,
        }),
        Fact::TextEnded => Some(answer_piece(before, "", true)),
        Fact::ArtifactAdded { artifact, append, last } => {
            Some(Update::Artifact { artifact: Cow::Borrowed(artifact), append: *append, last_chunk: *last })
        }
        Fact::CredentialAsked { message } => status(TaskState::AuthRequired, Some(message), false),
        Fact::PersonAsked { message, auth } => status(TaskState::asked(*auth), Some(message), true),
        Fact::Noticed { message } => status(TaskState::Working, Some(message), false),
        Fact::NoticedLater { message, state } => status(*state, Some(message), true),
        Fact::TurnEnded { outcome, message, usage } => {
            let status = TaskStatus { state: outcome.state(), message: message.clone(), at: event.at };
            Some(Update::Status { status, closes: true, usage: usage.as_deref() })
        }
        // The task goes on with the next prompt.
        Fact::PromptSettled { message, .. } => status(TaskState::Working, message.as_ref(), false),
        Fact::TaskCanceled => status(TaskState::Canceled, None, true),
        Fact::Replied { message } => Some(Update::Replied(message.clone())),
    }
}

fn answer_piece(before: &UpdateContext, text: &str, last_chunk: bool) -> Update<'static> {
    let append = before.turn.text == TextPhase::Speaking;
    let mut artifact = answer_artifact(before.answer_id(), vec![Part::text(text)]);
    if append {
        artifact.name = None;
    }
    Update::Artifact { artifact: Cow::Owned(artifact), append, last_chunk }
}
