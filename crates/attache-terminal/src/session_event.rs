//! The events of a session, for any screen.

use std::sync::Arc;

use attache_domain::{
    CallChange, CallRecord, DevtoolEvent, Interface, Message, MessageId, PartContent, PromptChange,
    StateReason, TaskState,
};
use attache_session::TailEntry;

use crate::open_session::CLIENT;

#[derive(Debug, Clone, PartialEq)]
pub enum SessionEvent {
    /// A prompt arrived.
    Prompt {
        text: String,
        from: Participant,
        is_queued: bool,
    },
    /// The work on a prompt begins.
    Working,
    Thought(String),
    /// The next piece of the answer.
    Text(String),
    /// The text since the last whole answer does not count.
    TextWithdrawn,
    CallStarted(Arc<CallRecord>),
    CallOutput {
        call: Arc<CallRecord>,
        text: String,
    },
    CallFinished(Arc<CallRecord>),
    /// A question about a call is open.
    Asked(Arc<CallRecord>),
    /// A question was answered. The others that are open stay open.
    Answered {
        call: Arc<CallRecord>,
        choice: String,
        by: Participant,
    },
    /// A notice while the work goes on.
    Notice(String),
    /// The prompt is settled, and the session takes the next one.
    Idle {
        message: Option<String>,
        is_problem: bool,
    },
    /// The task is over; nothing more happens.
    Over(TaskState),
}

/// The client or person behind an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Participant {
    /// The person at this terminal.
    Own,
    /// Another client, by its name.
    Other(String),
}

/// The events that a screen is shown of one entry of the log. `is_own` tells the messages of this terminal.
pub(crate) fn events_of(entry: &TailEntry, is_own: &dyn Fn(&MessageId) -> bool) -> Vec<SessionEvent> {
    let Some(event) = entry.devtool_event() else { return Vec::new() };
    let record = |call: &CallRecord| entry.call_records().find(&call.call.id).cloned();
    let shown = match event {
        DevtoolEvent::State { state, message, why, .. } => {
            return state_events(entry, state, message, why, is_own);
        }
        DevtoolEvent::Settled { state, message, .. } => {
            return vec![idle_event(state, message), SessionEvent::Working];
        }
        DevtoolEvent::Thought(text) => Some(SessionEvent::Thought(text.to_owned())),
        DevtoolEvent::Text(text) => Some(SessionEvent::Text(text.to_owned())),
        DevtoolEvent::TextWithdrawn => Some(SessionEvent::TextWithdrawn),
        DevtoolEvent::Replied(message) => Some(SessionEvent::Text(message.text())),
        DevtoolEvent::CallOutput { call, text } => {
            record(call).map(|call| SessionEvent::CallOutput { call, text: text.to_owned() })
        }
        DevtoolEvent::Call { call, moved } => record(call).and_then(|call| call_event(call, moved, is_own)),
        DevtoolEvent::Prompt { message: Some(message), change, .. } => {
            prompt_event(message, change == PromptChange::Queued, is_own)
        }
        DevtoolEvent::Prompt { message: None, .. } | DevtoolEvent::Artifact { .. } => None,
    };
    shown.into_iter().collect()
}

fn call_event(
    call: Arc<CallRecord>,
    moved: CallChange,
    is_own: &dyn Fn(&MessageId) -> bool,
) -> Option<SessionEvent> {
    match moved {
        CallChange::Started => Some(SessionEvent::CallStarted(call)),
        CallChange::Finished => Some(SessionEvent::CallFinished(call)),
        CallChange::Answered => {
            let answer = call.answer.as_ref()?;
            let own = answer.message.as_ref().is_some_and(|(message, _)| is_own(message));
            let by = match (own, &answer.by) {
                (true, _) => Participant::Own,
                (false, Some(by)) => Participant::Other(by.client.clone()),
                (false, None) => Participant::Other("another client".to_owned()),
            };
            let choice = answer.choice.clone();
            Some(SessionEvent::Answered { call, choice, by })
        }
        // Questions are shown once all calls that need no answer are done.
        CallChange::Proposed | CallChange::Lost | CallChange::StillAsked => None,
        // The others may run for long.
        CallChange::Asks => Some(SessionEvent::Asked(call)),
    }
}

fn state_events(
    entry: &TailEntry,
    state: TaskState,
    message: Option<&Message>,
    why: StateReason,
    is_own: &dyn Fn(&MessageId) -> bool,
) -> Vec<SessionEvent> {
    // That a prompt is queued is said to its sender.
    let queued = message.and_then(|message| message.id.as_str().strip_prefix("queued-"));
    if queued.is_some_and(|prompt| !is_own(&MessageId::from(prompt))) {
        return Vec::new();
    }
    let text = message.map(Message::text).filter(|text| !text.trim().is_empty());
    match why {
        StateReason::TurnStarted => vec![SessionEvent::Working],
        StateReason::Resumed => Vec::new(),
        StateReason::ApprovalAsked => {
            entry.call_records().asked().cloned().map(SessionEvent::Asked).collect()
        }
        StateReason::Noticed | StateReason::CredentialAsked => {
            text.map(SessionEvent::Notice).into_iter().collect()
        }
        StateReason::TurnEnded if state.is_terminal() => {
            let last = text.map(SessionEvent::Notice);
            last.into_iter().chain([SessionEvent::Over(state)]).collect()
        }
        StateReason::TurnEnded => vec![idle_event(state, message)],
    }
}

fn idle_event(state: TaskState, message: Option<&Message>) -> SessionEvent {
    let text = message.map(Message::text).filter(|text| !text.trim().is_empty());
    let has_failed = matches!(state, TaskState::Failed | TaskState::AuthRequired);
    SessionEvent::Idle { message: text, is_problem: has_failed || message.is_some_and(has_reason) }
}

/// The agent says why it stopped without an answer.
fn has_reason(message: &Message) -> bool {
    message.metadata.as_ref().is_some_and(|metadata| metadata.contains_key("reason"))
}

/// `None` for the opening of a task that was cancelled before its first message.
pub(crate) fn prompt_event(
    message: &Message,
    is_queued: bool,
    is_own: &dyn Fn(&MessageId) -> bool,
) -> Option<SessionEvent> {
    let from = match is_own(&message.id) {
        true => Participant::Own,
        false => Participant::Other(sender_name(message)),
    };
    let text = prompt_text(message);
    (!message.parts.is_empty()).then_some(SessionEvent::Prompt { text, from, is_queued })
}

/// What the client calls itself, else how it is connected. A client that calls itself as this one does is shown with both.
fn sender_name(message: &Message) -> String {
    let sender = message.sender.as_deref();
    let interface = sender.and_then(|sender| sender.interface);
    let connected = interface.map_or("client", |interface| interface.as_str());
    match sender.and_then(|sender| sender.client.as_deref()) {
        Some(client) if client == CLIENT && interface != Some(Interface::Terminal) => {
            format!("{client} ({connected})")
        }
        Some(client) => client.to_owned(),
        None => connected.to_owned(),
    }
}

/// The text of a prompt. Other parts are only named.
pub(crate) fn prompt_text(message: &Message) -> String {
    let parts = message.parts.iter().map(|part| match &part.content {
        PartContent::Text(text) => text.clone(),
        PartContent::Data(_) => "[data]".to_owned(),
        PartContent::Raw(_) | PartContent::Url(_) => "[file]".to_owned(),
    });
    parts.collect::<Vec<_>>().join("\n")
}
