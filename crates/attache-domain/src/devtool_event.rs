//! What a client that knows more than plain A2A sees of an event: thoughts, calls and their approvals included.
//!
//! The dialects of the development-tool extension in `wire` only spell it, as they spell [`Update`](crate::Update) for
//! everybody else.

use std::sync::Arc;

use crate::update::closes_stream;
use crate::{
    Artifact, CallId, CallRecord, CallRecords, Event, Fact, Message, ReplyShape, TaskState, UpdateContext,
    Usage,
};

#[derive(Debug, Clone, PartialEq)]
pub enum DevtoolEvent<'a> {
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
        moved: CallChange,
    },
    /// A call has shown something while it runs.
    CallOutput {
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
    TurnStarted,
    /// Somebody answered and the turn goes on.
    Resumed,
    /// Somebody has to answer about calls.
    ApprovalAsked,
    /// Something to know while the work goes on.
    Noticed,
    CredentialAsked,
    /// The turn is over, or the task is.
    TurnEnded,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallChange {
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
pub fn devtool_event_of<'a>(
    before: &UpdateContext,
    cast: &'a CallRecords,
    event: &'a Event,
) -> Option<DevtoolEvent<'a>> {
    // A caller who gets a bare message sees that message, or that there will be none, and nothing else.
    if before.reply == ReplyShape::Message && !closes_stream(&event.fact) {
        return None;
    }
    let state = |state: TaskState, message: Option<&'a Arc<Message>>, why: StateReason| {
        let closes = closes_stream(&event.fact);
        Some(DevtoolEvent::State {
            state,
            message: message.map(|message| &**message),
            closes,
            usage: None,
            why,
        })
    };
    let call = |id: &CallId, moved: CallChange| {
        cast.find(id).map(|call| DevtoolEvent::Call { call: call.as_ref(), moved })
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
        Fact::TurnStarted { .. } => state(TaskState::Working, None, StateReason::TurnStarted),
        Fact::WorkResumed => state(TaskState::Working, None, StateReason::Resumed),
        Fact::ThoughtShared { text } => Some(DevtoolEvent::Thought(text)),
        // The last piece may only say that it is the last.
        Fact::TextSaid { text, .. } if text.is_empty() => None,
        Fact::TextSaid { text, .. } => Some(DevtoolEvent::Text(text)),
        Fact::TextWithdrawn | Fact::TextReplaced { .. } => Some(DevtoolEvent::TextWithdrawn),
        Fact::ArtifactAdded { artifact, append, last } => {
            Some(DevtoolEvent::Artifact { artifact, append: *append, last_chunk: *last })
        }
        Fact::CallProposed(proposed) => call(&proposed.call, CallChange::Proposed),
        Fact::CallAnswered { call: id, .. } => call(id, CallChange::Answered),
        Fact::CallStarted { call: id, .. } => call(id, CallChange::Started),
        Fact::CallLost { call: id, .. } => call(id, CallChange::Lost),
        Fact::CallFinished(finished) => call(&finished.call, CallChange::Finished),
        Fact::CallShowed { call: id, text } => {
            cast.find(id).map(|call| DevtoolEvent::CallOutput { call: call.as_ref(), text })
        }
        Fact::PersonAsked { message } => {
            state(TaskState::InputRequired, Some(message), StateReason::ApprovalAsked)
        }
        Fact::Noticed { message } => state(TaskState::Working, Some(message), StateReason::Noticed),
        Fact::CredentialAsked { message } => {
            state(TaskState::AuthRequired, Some(message), StateReason::CredentialAsked)
        }
        Fact::TurnEnded { outcome, message, usage } => Some(DevtoolEvent::State {
            state: outcome.state(),
            message: message.as_deref(),
            closes: true,
            usage: usage.as_deref(),
            why: StateReason::TurnEnded,
        }),
        Fact::TaskCanceled => state(TaskState::Canceled, None, StateReason::TurnEnded),
        Fact::Replied { message } => Some(DevtoolEvent::Replied(message)),
    }
}
