//! The transcript of a task, built from its stream and its history.
//!
//! The stream shows thoughts, tool calls and text; the history has what people said and who approved what.

use std::collections::VecDeque;

use attache_client::{
    DevelopmentEvent, Message, RemoteTask, Role, StatusUpdate, StreamEvent, TaskState, ToolCall, approval_in,
};

#[derive(Debug, PartialEq)]
pub(super) enum TranscriptEntry {
    Message(Message),
    Thought(String),
    Text(String),
    /// A call, with the messages that tell who answered about it.
    Call(Box<ToolCall>, Vec<Message>),
    /// The agent said something about its work.
    Note(String),
}

pub(super) fn transcript(task: &RemoteTask, events: &[StreamEvent]) -> Vec<TranscriptEntry> {
    let mut builder = TranscriptBuilder::default();
    for message in &task.history {
        match (message.role, approval_in(message)) {
            (Role::User, _) => builder.said.push_back(message.clone()),
            (_, Some(_)) => builder.approvals.push(message.clone()),
            // Texts, questions and notes stand in the stream.
            _ => {}
        }
    }
    for event in events {
        if let StreamEvent::StatusUpdate(update) = event {
            builder.take(update);
        }
    }
    builder.finish(task)
}

#[derive(Default)]
struct TranscriptBuilder {
    entries: Vec<TranscriptEntry>,
    /// What people said and has no place yet.
    said: VecDeque<Message>,
    approvals: Vec<Message>,
}

impl TranscriptBuilder {
    fn take(&mut self, update: &StatusUpdate) {
        match update.development() {
            Some(DevelopmentEvent::Text(text)) => match self.entries.last_mut() {
                Some(TranscriptEntry::Text(before)) => before.push_str(&text),
                _ => self.entries.push(TranscriptEntry::Text(text)),
            },
            Some(DevelopmentEvent::TextWithdrawn) => {
                if let Some(TranscriptEntry::Text(_)) = self.entries.last() {
                    self.entries.pop();
                }
            }
            Some(DevelopmentEvent::Thought { subject, description }) => {
                let words = [subject, description].map(|words| words.trim().to_owned());
                let words: Vec<String> = words.into_iter().filter(|words| !words.is_empty()).collect();
                self.entries.push(TranscriptEntry::Thought(words.join(": ")));
            }
            Some(DevelopmentEvent::Call(call)) => self.call(call),
            Some(DevelopmentEvent::State) | None => self.state(update),
        }
    }

    /// A call stands where it was first seen, as it was last seen.
    fn call(&mut self, mut call: Box<ToolCall>) {
        let known = self.entries.iter_mut().rev().find_map(|entry| match entry {
            TranscriptEntry::Call(known, _) if known.id == call.id => Some(known),
            _ => None,
        });
        match known {
            Some(known) => {
                // The result repeats what was shown live; a call that was cancelled has no result.
                call.live_content = call.live_content.or_else(|| known.live_content.take());
                *known = call;
            }
            None => self.entries.push(TranscriptEntry::Call(call, Vec::new())),
        }
    }

    fn state(&mut self, update: &StatusUpdate) {
        match &update.status.message {
            // A turn begins: it is about what was said next.
            None if update.status.state == Some(TaskState::Working) => {
                self.entries.extend(self.said.pop_front().map(TranscriptEntry::Message));
            }
            None => {}
            Some(message) if approval_in(message).is_some() => {}
            Some(message) => self.entries.push(TranscriptEntry::Note(message.text())),
        }
    }

    fn finish(mut self, task: &RemoteTask) -> Vec<TranscriptEntry> {
        self.entries.extend(self.said.drain(..).map(TranscriptEntry::Message));
        let latest = task.status.message.iter().filter(|message| approval_in(message).is_some()).cloned();
        for approval in self.approvals.drain(..).chain(latest) {
            let about =
                approval_in(&approval).and_then(|about| about.get("call")?.as_str().map(str::to_owned));
            let call = self.entries.iter_mut().rev().find_map(|entry| match entry {
                TranscriptEntry::Call(call, approvals) if Some(&call.id) == about.as_ref() => Some(approvals),
                _ => None,
            });
            match call {
                Some(approvals) => approvals.push(approval),
                None => self.entries.push(TranscriptEntry::Note(approval.text())),
            }
        }
        // What the task says last is shown by itself.
        let last = task.status.message.as_ref().map(Message::text);
        if let Some(TranscriptEntry::Note(note)) = self.entries.last()
            && Some(note) == last.as_ref()
        {
            self.entries.pop();
        }
        self.entries
    }
}

#[cfg(test)]
mod tests {
    use attache_client::{CallStatus, DEVELOPMENT_TOOL};
    use serde_json::{Value, json};

    use super::*;
    use crate::tasks::test_values::{decode_event, decode_task};

    fn update(kind: &str, state: &str, part: Option<Value>) -> StreamEvent {
        let message = part.map(|part| json!({"messageId": "x", "role": "ROLE_AGENT", "parts": [part]}));
        decode_event(&json!({"statusUpdate": {
            "taskId": "t", "status": {"state": state, "message": message},
            "metadata": {DEVELOPMENT_TOOL: {"kind": kind, "model": "m"}},
        }}))
    }

    fn message(role: &str, text: &str, approval: Option<&str>) -> Value {
        let metadata = approval.map(|call| json!({"attache/approval": {"call": call}}));
        json!({"messageId": text, "role": role, "parts": [{"text": text}], "metadata": metadata})
    }

    #[test]
    fn turns_calls_and_answers_stand_in_their_order() {
        let working = || update("STATE_CHANGE", "TASK_STATE_WORKING", None);
        let data = |data: Value| Some(json!({ "data": data }));
        let call = |status: &str| {
            let call = data(json!({"tool_call_id": "k", "tool_name": "tool", "status": status}));
            update("TOOL_CALL_UPDATE", "TASK_STATE_WORKING", call)
        };
        let text = |text: &str| update("TEXT_CONTENT", "TASK_STATE_WORKING", Some(json!({"text": text})));
        let thought = data(json!({"subject": "Think", "description": "twice"}));
        let events = [
            working(),
            update("THOUGHT", "TASK_STATE_WORKING", thought),
            call("PENDING"),
            update("STATE_CHANGE", "TASK_STATE_INPUT_REQUIRED", None),
            call("EXECUTING"),
            call("SUCCEEDED"),
            text("Do"),
            text("ne."),
            update("STATE_CHANGE", "TASK_STATE_COMPLETED", None),
            working(),
            text("Again."),
        ];
        let history = [
            message("ROLE_USER", "one", None),
            message("ROLE_AGENT", "a question", None),
            message("ROLE_AGENT", "Approved", Some("k")),
            message("ROLE_AGENT", "Done.", None),
            message("ROLE_USER", "two", None),
        ];
        let status = json!({"state": "TASK_STATE_WORKING"});
        let task = decode_task(&json!({"id": "t", "status": status, "history": history}));
        let entries: Vec<String> = transcript(&task, &events)
            .iter()
            .map(|entry| match entry {
                TranscriptEntry::Message(message) => format!("user {}", message.text()),
                TranscriptEntry::Thought(text) => format!("thought {text}"),
                TranscriptEntry::Text(text) => format!("text {text}"),
                TranscriptEntry::Call(call, approvals) => {
                    assert_eq!(call.status, CallStatus::Succeeded);
                    format!("call {} {}", call.id, approvals[0].text())
                }
                TranscriptEntry::Note(text) => format!("note {text}"),
            })
            .collect();
        let expected =
            ["user one", "thought Think: twice", "call k Approved", "text Done.", "user two", "text Again."];
        assert_eq!(entries, expected);
    }
}
