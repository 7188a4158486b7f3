//! What clients of the development-tool extension see of an event: thoughts, calls and approvals included.
//!
//! The dialects of the extension in `wire` encode it, as they encode [`Update`](crate::Update) for other clients.

use std::sync::Arc;

use crate::approval::is_about_approval;
use crate::update::closes_stream;
use crate::{
    Artifact, CallId, CallRecord, CallRecords, Event, Fact, Message, MessageId, ReplyShape, TaskState,
    UpdateContext, Usage,
};

#[derive(Debug, Clone, PartialEq)]
pub enum DevtoolEvent<'a> {
    /// The task entered a state, or there is a notice about its state.
    State {
        state: TaskState,
        message: Option<&'a Message>,
        /// Nothing follows before a client acts, so a stream ends here.
        closes: bool,
        usage: Option<&'a Usage>,
        why: StateReason,
    },
    /// A client's message arrived, or its turn comes.
    Prompt {
        id: &'a MessageId,
        /// None when it was shown before.
        message: Option<&'a Message>,
        change: PromptChange,
    },
    /// The turn of a prompt is over, and the next prompt is taken.
    Settled {
        /// The prompt. Older logs do not know it.
        id: Option<&'a MessageId>,
        /// The state that the task would have without the next prompt.
        state: TaskState,
        message: Option<&'a Message>,
    },
    Thought(&'a str),
    /// The next piece of the answer.
    Text(&'a str),
    /// The text since the last whole answer is withdrawn.
    TextWithdrawn,
    /// A call changed.
    Call {
        call: &'a CallRecord,
        moved: CallChange,
    },
    /// New output of a running call.
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

/// Why the task is in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateReason {
    /// A turn begins.
    TurnStarted,
    /// A client answered and the turn goes on.
    Resumed,
    /// Calls wait for approval.
    ApprovalAsked,
    /// A notice while the work goes on.
    Noticed,
    CredentialAsked,
    /// The turn is over, or the task is.
    TurnEnded,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptChange {
    /// It is worked on next.
    Received,
    /// It waits for the end of the work under way.
    Queued,
    /// It waited and is worked on next. The prompt before it is settled.
    Taken,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallChange {
    /// It has a proposal; it may wait for approval.
    Proposed,
    Answered,
    Started,
    /// It was running when the server stopped; a person decides about it.
    Lost,
    /// It asks something itself.
    Asks,
    /// It has not changed: repeats the open question for a client that sees only the end of the turn.
    StillAsked,
    Finished,
}

/// The event as these clients see it, given the context *before* it and the calls *after* it; `None` when they do not see
/// it.
pub fn devtool_event_of<'a>(
    before: &UpdateContext,
    call_records: &'a CallRecords,
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
        call_records.find(id).map(|call| DevtoolEvent::Call { call: call.as_ref(), moved })
    };
    let prompt = |message: &'a Message, change: PromptChange| {
        // A task that was cancelled before its first message has none.
        let is_said = !message.parts.is_empty();
        is_said.then_some(DevtoolEvent::Prompt { id: &message.id, message: Some(message), change })
    };
    match &event.fact {
        Fact::TaskOpened(opened) => prompt(&opened.message, PromptChange::Received),
        Fact::MessageReceived { message, .. } => prompt(message, PromptChange::Received),
        Fact::PromptQueued { message, .. } => prompt(message, PromptChange::Queued),
        Fact::PromptTaken { message, .. } => {
            let change = PromptChange::Taken;
            message.as_ref().map(|id| DevtoolEvent::Prompt { id, message: None, change })
        }
        Fact::PromptSettled { prompt, outcome, message } => Some(DevtoolEvent::Settled {
            id: prompt.as_ref(),
            state: outcome.state(),
            message: message.as_deref(),
        }),
        Fact::ModelAnswered(_)
        | Fact::ModelChosen { .. }
        | Fact::ModelResponded { .. }
        | Fact::ContextGiven(_)
        | Fact::ContextReduced(_)
        | Fact::CallDeferred { .. }
        | Fact::CallStateSaved { .. }
        | Fact::ConversationStateSaved { .. }
        | Fact::CallCancelRequested { .. }
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
        Fact::CallAsked(asked) => call(&asked.call, CallChange::Asks),
        Fact::CallFinished(finished) => call(&finished.call, CallChange::Finished),
        Fact::CallShowed { call: id, text } => {
            call_records.find(id).map(|call| DevtoolEvent::CallOutput { call: call.as_ref(), text })
        }
        Fact::PersonAsked { message, auth } => {
            state(TaskState::asked(*auth), Some(message), StateReason::ApprovalAsked)
        }
        // They are shown the call that asks.
        Fact::Noticed { message } if is_about_approval(message) => None,
        Fact::Noticed { message } => state(TaskState::Working, Some(message), StateReason::Noticed),
        Fact::NoticedLater { message, state: now } => state(*now, Some(message), StateReason::Noticed),
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
