//! The five kinds of events of the older server document, for its REST interface.
//!
//! They say less than the other dialects do: nothing of what is asked, of artifacts, and of text that was taken back.

use std::borrow::Cow;

use attache_domain::{
    CallChange, CallOutcome, CallPhase, CallRecord, DevtoolEvent, StateReason, TaskState, Timestamp,
};
use serde::Serialize;

use super::{call_text, thought};

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Event<'a> {
    StateChange {
        state: State,
        timestamp: String,
    },
    ToolCallUpdate {
        tool_call_id: &'a str,
        status: CallStatus,
        tool_name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<Cow<'a, str>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<Cow<'a, str>>,
    },
    TextContent {
        text: Cow<'a, str>,
    },
    Thought {
        thought: String,
    },
    ThoughtSummary {
        summary: &'a str,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Running,
    Completed,
    Error,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    Requested,
    Executing,
    Completed,
    Error,
}

/// What such a client sees of `happening`, in order; nothing of much.
///
/// ```
/// use attache_domain::{Happening, Timestamp};
/// use attache_wire::devtool::five;
///
/// let events = five::events(&Happening::Text("Hello"), Timestamp::UNIX_EPOCH);
/// assert_eq!(events[0].name(), "text_content");
/// let mut out = Vec::new();
/// events[0].write(&mut out);
/// assert_eq!(out, br#"{"type":"text_content","text":"Hello"}"#);
/// ```
pub fn events<'a>(happening: &DevtoolEvent<'a>, at: Timestamp) -> Vec<Event<'a>> {
    let change = |state| Event::StateChange { state, timestamp: format!("{at:.3}") };
    match *happening {
        // Only something to know, while the work goes on.
        DevtoolEvent::State { why: StateReason::Noticed, .. } => Vec::new(),
        DevtoolEvent::State { state, why, .. } => vec![change(State::of(state, why))],
        DevtoolEvent::Text(text) => vec![Event::TextContent { text: text.into() }],
        DevtoolEvent::Thought(text) => thoughts(text),
        DevtoolEvent::Call { moved: CallChange::Answered, .. } => Vec::new(),
        DevtoolEvent::Call { call, .. } => vec![update(call)],
        DevtoolEvent::Replied(message) => {
            vec![Event::TextContent { text: message.text().into() }, change(State::Completed)]
        }
        DevtoolEvent::TextWithdrawn | DevtoolEvent::CallOutput { .. } | DevtoolEvent::Artifact { .. } => {
            Vec::new()
        }
    }
}

impl Event<'_> {
    /// The name of its kind, as in its `type`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::StateChange { .. } => "state_change",
            Self::ToolCallUpdate { .. } => "tool_call_update",
            Self::TextContent { .. } => "text_content",
            Self::Thought { .. } => "thought",
            Self::ThoughtSummary { .. } => "thought_summary",
        }
    }

    /// One JSON object on one line.
    pub fn write(&self, out: &mut Vec<u8>) {
        serde_json::to_writer(out, self).expect("memory takes every write");
    }
}

impl State {
    /// A turn that is over is all there is to wait for, also where the task stays open for the next.
    fn of(state: TaskState, why: StateReason) -> Self {
        match state {
            TaskState::Completed => Self::Completed,
            TaskState::InputRequired if why == StateReason::TurnEnded => Self::Completed,
            TaskState::Submitted
            | TaskState::Working
            | TaskState::InputRequired
            | TaskState::AuthRequired => Self::Running,
            TaskState::Failed | TaskState::Rejected | TaskState::Canceled => Self::Error,
        }
    }
}

/// The subject is the summary.
fn thoughts(text: &str) -> Vec<Event<'_>> {
    let (subject, description) = thought::split(text);
    let summary = Some(Event::ThoughtSummary { summary: subject }).filter(|_| !subject.is_empty());
    let thought = Some(Event::Thought { thought: description });
    let thought =
        thought.filter(|thought| !matches!(thought, Event::Thought { thought } if thought.is_empty()));
    summary.into_iter().chain(thought).collect()
}

fn update(record: &CallRecord) -> Event<'_> {
    let (status, result, error) = match (&record.outcome, record.phase) {
        (Some(CallOutcome::Succeeded), _) => {
            (CallStatus::Completed, Some(call_text::success_text(record)), None)
        }
        (Some(_), _) => (CallStatus::Error, None, Some(call_text::failure_text(record))),
        (None, CallPhase::Started) => (CallStatus::Executing, None, None),
        (None, _) => (CallStatus::Requested, None, None),
    };
    Event::ToolCallUpdate {
        tool_call_id: &record.shown_id().0,
        status,
        tool_name: &record.call.name,
        result,
        error,
    }
}
