//! What a client sees of an event.

use crate::view::answer_artifact;
use crate::{Artifact, Event, Fact, Message, Part, Progress, ReplyShape, TaskState, TaskStatus, TextPhase};

/// The visible face of an event. `wire` only spells it.
#[derive(Debug, Clone, PartialEq)]
pub enum Update {
    Status {
        status: TaskStatus,
        /// Nothing follows before somebody outside acts, so a stream ends here.
        closes: bool,
    },
    Artifact {
        artifact: Artifact,
        append: bool,
        last_chunk: bool,
    },
    /// The bare answer of a hidden task.
    Replied(Message),
}

impl Update {
    /// A stream that has shown this is done.
    pub fn closes(&self) -> bool {
        match self {
            Self::Status { closes, .. } => *closes,
            Self::Artifact { .. } => false,
            Self::Replied(_) => true,
        }
    }
}

/// The update that `event` is to clients, given how far the task was *before* it; `None` for facts that stay inside.
///
/// Before, because what a piece of text does to its artifact depends on what stood there.
pub fn update_of(before: &Progress, event: &Event) -> Option<Update> {
    let status = |state: TaskState, message: Option<&Message>, closes: bool| {
        let status = TaskStatus { state, message: message.cloned(), at: event.at };
        Some(Update::Status { status, closes })
    };
    // A caller who gets a bare message sees that message, or that there will be none, and nothing else.
    let ends = matches!(event.fact, Fact::TurnEnded { .. } | Fact::TaskCanceled | Fact::Replied { .. });
    if before.reply == ReplyShape::Message && !ends {
        return None;
    }
    match &event.fact {
        Fact::TaskOpened { .. }
        | Fact::MessageReceived { .. }
        | Fact::PromptQueued { .. }
        | Fact::PromptTaken { .. }
        | Fact::ThoughtShared { .. }
        | Fact::CancelRequested => None,
        Fact::TurnStarted { .. } | Fact::WorkResumed => status(TaskState::Working, None, false),
        Fact::TextSaid { text, last } => Some(answer_piece(before, text, *last)),
        Fact::TextWithdrawn => Some(Update::Artifact {
            artifact: answer_artifact(before.answer_id(), vec![Part::text("")]),
            append: false,
            last_chunk: false,
        }),
        Fact::TextEnded => Some(answer_piece(before, "", true)),
        Fact::ArtifactAdded { artifact, append, last } => {
            Some(Update::Artifact { artifact: artifact.clone(), append: *append, last_chunk: *last })
        }
        Fact::CredentialAsked { message } => status(TaskState::AuthRequired, Some(message), false),
        Fact::TurnEnded { outcome, message } => status(outcome.state(), message.as_ref(), true),
        Fact::TaskCanceled => status(TaskState::Canceled, None, true),
        Fact::Replied { message } => Some(Update::Replied(message.clone())),
    }
}

fn answer_piece(before: &Progress, text: &str, last_chunk: bool) -> Update {
    let append = before.turn.text == TextPhase::Speaking;
    let mut artifact = answer_artifact(before.answer_id(), vec![Part::text(text)]);
    if append {
        artifact.name = None;
    }
    Update::Artifact { artifact, append, last_chunk }
}
