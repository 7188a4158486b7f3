//! The dialect of the live endpoint: flat events with `kind` and `taskId`, without A2A around them.
//!
//! A call has the RFC's members; its id is a correlation id, and what a confirmation is about stands in `details`. The other kinds say less than the
//! RFC's dialect does: there are no artifacts, and text that was withdrawn is reported as a log line. Every event has its
//! cursor.

use attache_domain::{
    CallChange, CallRecord, DevtoolEvent, Message, MessageId, PromptChange, ReplayGap, Seq, StateReason,
    TaskId, TaskState, TaskView, TurnPhase,
};
use serde_json::{Map, Value, json};

use super::envelope::{WITHDRAWN_TEXT, stop_reason};
use super::user_prompt::UserPrompt;
use super::{DevtoolFrame, developer, thought};
use crate::encode::text::write_value;
use crate::{JsonForm, enum_names, replay};

pub(super) fn shows(event: &DevtoolEvent<'_>) -> bool {
    !matches!(event, DevtoolEvent::Artifact { .. })
}

/// Writes the event. Cursors need the name of the log.
pub(crate) fn write(frame: &DevtoolFrame<'_>, epoch: Option<&str>, out: &mut Vec<u8>) {
    let cursor = epoch.map(|epoch| (epoch, frame.seq));
    let event = match &frame.event {
        DevtoolEvent::State { why: StateReason::Noticed, message, .. } => {
            log_line("info", &message.map(Message::text).unwrap_or_default())
        }
        DevtoolEvent::State { state, message, why, .. } => {
            // The calls hold the question.
            let message = message.filter(|_| *why != StateReason::ApprovalAsked);
            state_change(*state, *why == StateReason::TurnEnded, message)
        }
        DevtoolEvent::Settled { id, message, .. } => {
            let mut event = state_change(TaskState::Working, true, *message);
            if let Some(id) = id {
                event["message_id"] = id.as_str().into();
            }
            event
        }
        DevtoolEvent::Prompt { id, message, change } => prompt(id, *message, *change),
        DevtoolEvent::Thought(text) => {
            let (subject, description) = thought::split(text);
            json!({ "kind": "THOUGHT", "content": { "subject": subject, "description": description } })
        }
        DevtoolEvent::Text(text) => text_content(text),
        DevtoolEvent::TextWithdrawn => log_line("warn", WITHDRAWN_TEXT),
        DevtoolEvent::Call { call, moved } => tool_call(frame.task, call, Some(*moved)),
        DevtoolEvent::CallOutput { call, .. } => tool_call(frame.task, call, None),
        DevtoolEvent::Replied(message) => text_content(&message.text()),
        DevtoolEvent::Artifact { .. } => return,
    };
    write_event(event, frame.task, cursor, out);
}

/// The state of the task now, for a client that has seen nothing of it, or missed events for good.
pub(crate) fn write_state(view: &TaskView, epoch: Option<&str>, gap: Option<&ReplayGap>, out: &mut Vec<u8>) {
    let is_over = view.progress.turn.phase == TurnPhase::Over;
    let message = view.status.message.as_deref().filter(|_| is_over);
    let mut event = state_change(view.status.state, is_over, message);
    if let Some(gap) = gap {
        event["gap"] = replay::gap_value(gap);
    }
    write_event(event, &view.task, epoch.map(|epoch| (epoch, view.progress.last_shown())), out);
}

fn prompt(id: &MessageId, message: Option<&Message>, change: PromptChange) -> Value {
    let mut prompt = json!(UserPrompt::of(id, message, change));
    prompt["kind"] = "USER_PROMPT".into();
    let Value::Object(members) = &mut prompt else { return prompt };
    let content = ["text", "truncated"].into_iter().filter_map(|name| members.remove_entry(name));
    let content: Map<_, _> = content.collect();
    if !content.is_empty() {
        members.insert("content".to_owned(), content.into());
    }
    prompt
}

/// The state of the task now, as events name it.
pub(super) fn state_of(view: &TaskView) -> &'static str {
    state_name(view.status.state, view.progress.turn.phase == TurnPhase::Over)
}

/// A task that takes another prompt is idle when its prompt is settled.
fn state_name(state: TaskState, is_over: bool) -> &'static str {
    match state {
        TaskState::InputRequired if is_over => "idle",
        state => enum_names::state_name(JsonForm::V0_3Rpc, state),
    }
}

/// `is_over`: the prompt is settled.
fn state_change(state: TaskState, is_over: bool, message: Option<&Message>) -> Value {
    let state = state_name(state, is_over);
    let mut event = json!({ "kind": "STATE_CHANGE", "state": state, "final": is_over });
    if let Some(text) = message.map(Message::text).filter(|text| !text.is_empty()) {
        event["content"] = json!({ "text": text });
    }
    if let Some(reason) = message.and_then(stop_reason).filter(|_| is_over) {
        event["reason"] = reason.into();
    }
    // A session is idle after a turn that failed, too.
    if message.is_some_and(Message::is_about_failure) {
        event["failed"] = true.into();
    }
    event
}

fn text_content(text: &str) -> Value {
    json!({ "kind": "TEXT_CONTENT", "content": { "text": text } })
}

pub(super) fn log_line(level: &str, text: &str) -> Value {
    json!({ "kind": "CONSOLE_LOG", "content": { "level": level, "text": text } })
}

/// A socket shows the calls of many tasks, so the id names the task, too.
fn tool_call(task: &TaskId, record: &CallRecord, change: Option<CallChange>) -> Value {
    let mut call = developer::encode_call(record, change);
    call["tool_call_id"] = record.shown_id().correlation_id(task).into();
    if let Some(Value::Object(request)) = call.get_mut("confirmation_request") {
        nest_details(request);
    }
    call["kind"] = "TOOL_CALL_UPDATE".into();
    call
}

/// Moves everything but the options below `details`.
fn nest_details(request: &mut Map<String, Value>) {
    let mut options = request.remove("options").unwrap_or_default();
    for option in options.as_array_mut().into_iter().flatten() {
        if let Some(Value::String(name)) = option.get_mut("name") {
            *name = developer::plain_name(name).to_owned();
        }
    }
    let details = std::mem::take(request);
    request.insert("options".to_owned(), options);
    request.insert("details".to_owned(), Value::Object(details));
}

fn write_event(mut event: Value, task: &TaskId, cursor: Option<(&str, Seq)>, out: &mut Vec<u8>) {
    event["taskId"] = task.as_str().into();
    if let Some((epoch, seq)) = cursor {
        event["cursor"] = replay::encode_cursor(epoch, seq).into();
    }
    write_value(&event, out);
}
