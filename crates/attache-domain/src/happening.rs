//! What a client that knows more than plain A2A sees of an event: thoughts, calls and their approvals included.
//!
//! The dialects of the development-tool extension in `wire` only spell it, as they spell [`Update`](crate::Update) for
//! everybody else.

use std::sync::Arc;

use crate::update::closes;
use crate::{Artifact, CallId, CallRecord, Cast, Event, Fact, Message, ReplyShape, Stage, TaskState, Usage};

#[derive(Debug, Clone, PartialEq)]
pub enum Happening<'a> {
    /// The task moved, or there is something to know about where it is.
    State {
        state: TaskState,
        message: Option<&'a Message>,
        /// Nothing follows before somebody outside acts, so a stream ends here.
        closes: bool,
        usage: Option<&'a Usage>,
        why: StateReason,
    },
    Thought(&'a str),
    /// The next piece of the answer.
    Text(&'a str),
    /// What was said in the breath before does not count.
    TextWithdrawn,
    /// A call moved: all that is known about it now.
    Call {
        call: &'a CallRecord,
        moved: CallMove,
    },
    /// A call has shown something while it runs.
    Shown {
        call: &'a CallRecord,
        text: &'a str,
    },
    Artifact {
        artifact: &'a Artifact,
        append: bool,
        last_chunk: bool,
    },
    /// The bare answer of a hidden task.
    Replied(&'a Arc<Message>),
}

/// What brought a state about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateReason {
    /// A turn begins.
    Begun,
    /// Somebody answered and the turn goes on.
    Resumed,
    /// Somebody has to answer about calls.
    Asked,
    /// Something to know while the work goes on.
    Noticed,
    Credential,
    /// The turn is over, or the task is.
    Ended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallMove {
    /// It is known what it would do, and whether somebody is asked.
    Proposed,
    Answered,
    Started,
    /// It was being carried out when everything stopped; somebody is asked about it.
    Lost,
    /// It has not moved: a client that sees only the end of the turn is told that people are asked about it.
    StillAsked,
    Finished,
}

/// The happening that `event` is, given how far the task was *before* it and its calls *after* it; `None` for what stays
/// inside.
pub fn happening_of<'a>(before: &Stage, cast: &'a Cast, event: &'a Event) -> Option<Happening<'a>> {
    // A caller who gets a bare message sees that message, or that there will be none, and nothing else.
    if before.reply == ReplyShape::Message && !closes(&event.fact) {
        return None;
    }
    let state = |state: TaskState, message: Option<&'a Arc<Message>>, why: StateReason| {
        let closes = closes(&event.fact);
        Some(Happening::State { state, message: message.map(|message| &**message), closes, usage: None, why })
    };
    let call = |id: &CallId, moved: CallMove| {
        cast.find(id).map(|call| Happening::Call { call: call.as_ref(), moved })
    };
    match &event.fact {
        Fact::TaskOpened(_)
        | Fact::MessageReceived { .. }
        | Fact::PromptQueued { .. }
        | Fact::PromptTaken { .. }
        | Fact::ModelAnswered(_)
        | Fact::ModelChosen { .. }
        | Fact::ModelResponded { .. }
        | Fact::ContextGiven(_)
        | Fact::ContextReduced(_)
        | Fact::CallDeferred { .. }
        | Fact::TextEnded
        | Fact::CancelRequested => None,
        Fact::TurnStarted { .. } => state(TaskState::Working, None, StateReason::Begun),
        Fact::WorkResumed => state(TaskState::Working, None, StateReason::Resumed),
        Fact::ThoughtShared { text } => Some(Happening::Thought(text)),
        // The last piece may only say that it is the last.
        Fact::TextSaid { text, .. } if text.is_empty() => None,
        Fact::TextSaid { text, .. } => Some(Happening::Text(text)),
        Fact::TextWithdrawn | Fact::TextReplaced { .. } => Some(Happening::TextWithdrawn),
        Fact::ArtifactAdded { artifact, append, last } => {
            Some(Happening::Artifact { artifact, append: *append, last_chunk: *last })
        }
        Fact::CallProposed(proposed) => call(&proposed.call, CallMove::Proposed),
        Fact::CallAnswered { call: id, .. } => call(id, CallMove::Answered),
        Fact::CallStarted { call: id, .. } => call(id, CallMove::Started),
        Fact::CallLost { call: id, .. } => call(id, CallMove::Lost),
        Fact::CallFinished(finished) => call(&finished.call, CallMove::Finished),
        Fact::CallShowed { call: id, text } => {
            cast.find(id).map(|call| Happening::Shown { call: call.as_ref(), text })
        }
        Fact::PersonAsked { message } => state(TaskState::InputRequired, Some(message), StateReason::Asked),
        Fact::Noticed { message } => state(TaskState::Working, Some(message), StateReason::Noticed),
        Fact::CredentialAsked { message } => {
            state(TaskState::AuthRequired, Some(message), StateReason::Credential)
        }
        Fact::TurnEnded { outcome, message, usage } => Some(Happening::State {
            state: outcome.state(),
            message: message.as_deref(),
            closes: true,
            usage: usage.as_deref(),
            why: StateReason::Ended,
        }),
        Fact::TaskCanceled => state(TaskState::Canceled, None, StateReason::Ended),
        Fact::Replied { message } => Some(Happening::Replied(message)),
    }
}
