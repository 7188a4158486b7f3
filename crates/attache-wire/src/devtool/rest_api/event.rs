//! The events of a prompt: text, thoughts, tool calls and states, each under a name of its own.
//!
//! They say less than the other dialects do: there are no artifacts and no notices. A confirmation is a tool call with
//! options.

use std::borrow::Cow;

use attache_domain::{
    AnswerLocation, CallChange, DevtoolEvent, Message, PromptChange, StateReason, TaskView, TextPhase,
    Timestamp, TurnResult, UpdateContext,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::call::ToolCallUpdate;
use super::responses::{TaskState, format_time};
use crate::devtool::{DevtoolFrame, thought};

/// One event of `POST /tasks/{taskId}/execute`; its name is its `type`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum RestEvent<'a> {
    /// The task entered a state. The prompt is settled with `completed` and with `error`.
    StateChange {
        state: TaskState,
        timestamp: String,
        /// Why the task failed, or what it needs.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// The prompt waits until those before it are settled.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        queued: bool,
    },
    ToolCallUpdate(Box<ToolCallUpdate<'a>>),
    /// The next piece of the answer.
    TextContent {
        text: Cow<'a, str>,
        /// The text since the last tool call is void, because the answer starts again.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        withdrawn: bool,
    },
    Thought {
        thought: String,
    },
    ThoughtSummary {
        summary: &'a str,
    },
}

pub(in crate::devtool) fn shows(event: &DevtoolEvent<'_>) -> bool {
    match event {
        // The state is still `running`; the calls hold the question.
        DevtoolEvent::State { why, .. } => {
            !matches!(why, StateReason::Noticed | StateReason::ApprovalAsked | StateReason::Resumed)
        }
        DevtoolEvent::Thought(text) => thoughts(text).next().is_some(),
        // The prompt before it is settled. Older logs say so by this alone.
        DevtoolEvent::Prompt { change, .. } => *change == PromptChange::Taken,
        DevtoolEvent::Artifact { .. } => false,
        _ => true,
    }
}

/// Writes what follows `event: ` in a stream of server-sent events. A thought may be two events.
pub(in crate::devtool) fn write(frame: &DevtoolFrame<'_>, out: &mut Vec<u8>) {
    match frame.event {
        DevtoolEvent::State { state, message, why, .. } => {
            let ended = (why == StateReason::TurnEnded).then(|| TurnResult::of(message));
            write_state_change(TaskState::of(state, ended), message, frame.at, out);
        }
        DevtoolEvent::Settled { state, message, .. } => {
            let ended = Some(TurnResult::of(message));
            write_state_change(TaskState::of(state, ended), message, frame.at, out);
        }
        DevtoolEvent::Prompt { change: PromptChange::Taken, .. } => {
            write_state_change(TaskState::Completed, None, frame.at, out);
        }
        DevtoolEvent::Text(text) => write_event(&RestEvent::text(text), out),
        DevtoolEvent::TextWithdrawn => {
            write_event(&RestEvent::TextContent { text: "".into(), withdrawn: true }, out);
        }
        DevtoolEvent::Thought(text) => {
            for (index, event) in thoughts(text).enumerate() {
                if index > 0 {
                    out.extend_from_slice(b"\n\nevent: ");
                }
                write_event(&event, out);
            }
        }
        DevtoolEvent::Call { call, moved } => {
            let answer = moved == CallChange::Answered;
            write_event(&RestEvent::ToolCallUpdate(Box::new(ToolCallUpdate::of(call, answer))), out);
        }
        DevtoolEvent::CallOutput { call, text } => {
            let update = ToolCallUpdate { output: Some(text.into()), ..ToolCallUpdate::of(call, false) };
            write_event(&RestEvent::ToolCallUpdate(Box::new(update)), out);
        }
        DevtoolEvent::Replied(_) => write_state_change(TaskState::Completed, None, frame.at, out),
        DevtoolEvent::Artifact { .. } | DevtoolEvent::Prompt { .. } => {}
    }
}

/// What the agent says as it settles a prompt: a question, a last word, or a reply. It is written before the event that settles
/// the prompt, and has no cursor: a client that resumes after it must be shown that event. False: there is nothing to write.
pub(crate) fn write_last_words(frame: &DevtoolFrame<'_>, out: &mut Vec<u8>) -> bool {
    let text = match frame.event {
        DevtoolEvent::State { state, message: Some(message), why: StateReason::TurnEnded, .. }
        | DevtoolEvent::Settled { state, message: Some(message), .. }
            if TaskState::of(state, Some(TurnResult::of(Some(message)))) == TaskState::Completed
                && !repeats_answer(frame) =>
        {
            message.text()
        }
        DevtoolEvent::Replied(message) => message.text(),
        _ => return false,
    };
    if text.is_empty() {
        return false;
    }
    write_event(&RestEvent::text(&text), out);
    true
}

/// Where clients read only status messages, the answer stands in front of the message. This stream has shown the answer.
fn repeats_answer(frame: &DevtoolFrame<'_>) -> bool {
    let UpdateContext { presentation, turn, .. } = frame.stage;
    presentation.answer == AnswerLocation::StatusMessage && turn.text != TextPhase::Silent
}

/// The prompt waits for others.
pub(crate) fn write_queued(view: &TaskView, out: &mut Vec<u8>) {
    let (state, timestamp) = (TaskState::Running, format_time(view.status.at));
    write_event(&RestEvent::StateChange { state, timestamp, error: None, queued: true }, out);
}

/// The state of the task now, for a client that has nothing to wait for.
pub(crate) fn write_state(view: &TaskView, out: &mut Vec<u8>) {
    write_state_change(TaskState::of_view(view), view.status.message.as_deref(), view.status.at, out);
}

fn write_state_change(state: TaskState, message: Option<&Message>, at: Timestamp, out: &mut Vec<u8>) {
    let error = (state == TaskState::Error).then(|| {
        message.map(Message::text).filter(|text| !text.is_empty()).unwrap_or_else(|| NO_REASON.into())
    });
    write_event(&RestEvent::StateChange { state, timestamp: format_time(at), error, queued: false }, out);
}

/// A canceled task has no message.
const NO_REASON: &str = "The task was canceled.";

fn write_event(event: &RestEvent<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(event.name().as_bytes());
    out.extend_from_slice(b"\ndata: ");
    serde_json::to_writer(out, event).expect("memory takes every write");
}

/// The subject is the summary.
fn thoughts(text: &str) -> impl Iterator<Item = RestEvent<'_>> {
    let (subject, description) = thought::split(text);
    let summary = (!subject.is_empty()).then_some(RestEvent::ThoughtSummary { summary: subject });
    let thought = (!description.is_empty()).then_some(RestEvent::Thought { thought: description });
    thought.into_iter().chain(summary)
}

impl<'a> RestEvent<'a> {
    fn text(text: &'a str) -> Self {
        Self::TextContent { text: text.into(), withdrawn: false }
    }

    /// The name of its kind, as in its `type`.
    fn name(&self) -> &'static str {
        match self {
            Self::StateChange { .. } => "state_change",
            Self::ToolCallUpdate(_) => "tool_call_update",
            Self::TextContent { .. } => "text_content",
            Self::Thought { .. } => "thought",
            Self::ThoughtSummary { .. } => "thought_summary",
        }
    }
}
