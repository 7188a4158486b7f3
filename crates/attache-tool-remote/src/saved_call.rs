//! What a call saves in the log, so that it goes on after a restart.

use attache_client::RemoteStatus;
use attache_tool::QuestionKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message_id::message_id;
use crate::shown_words::ShownWords;

/// How far a call has come. Saved before anything depends on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SavedCall {
    pub(crate) agent: String,
    /// The origin of the agent. The call is never sent to another one.
    pub(crate) origin: String,
    /// Where this server was when the call began. It is part of the message, which must not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) own_origin: Option<String>,
    /// The id of the message that was sent last, or is being sent.
    pub(crate) message: String,
    /// How many messages of this call were sent before the current one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) sent: u32,
    pub(crate) phase: Phase,
    /// It goes on with the conversation that earlier calls had with the agent, and later calls go on with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) continues: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) context: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) task: Option<String>,
    /// The latest event that was shown, where the agent has cursors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cursor: Option<String>,
    /// The same when this run began, if a run before has shown events of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) began_after: Option<String>,
    /// Which parts of what this run has shown are words, where the agent has no cursors.
    #[serde(default, skip_serializing_if = "ShownWords::is_empty")]
    pub(crate) shown: ShownWords,
    /// What the agent asked last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) question: Option<String>,
    /// Names the status in which it asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) asked_in: Option<String>,
    /// An answer was sent before, and it is not known whether it arrived.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) may_be_answered: bool,
    /// It asked for a credential.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) asks_credential: bool,
    /// The answer that the current message holds, until the agent has it. Never a credential.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<String>,
    /// A person was asked to sign in after that. What was replied to it is not for the agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) signed_in: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Phase {
    /// The current message was not sent yet.
    Unsent,
    /// The message is being sent. It may have arrived.
    Sending,
    /// The agent has a task for it.
    Following,
    /// A person has to answer.
    Asked,
}

/// Ids and questions of agents are cut to this many bytes; a longer id cannot be used.
pub(crate) const MAX_ID: usize = 512;
const MAX_QUESTION: usize = 4_000;
/// Bytes of an answer as JSON. A longer one is not saved; if it has to be sent later, the person is asked again.
const MAX_ANSWER: usize = 6_000;

impl SavedCall {
    pub(crate) fn read(value: Option<&Value>) -> Option<Self> {
        serde_json::from_value(value?.clone()).ok()
    }

    pub(crate) fn to_value(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Something was sent, or may have been.
    pub(crate) fn has_peer(&self) -> bool {
        self.phase != Phase::Unsent || self.sent > 0
    }

    pub(crate) fn ask(&mut self, question: &str, kind: QuestionKind, status: &RemoteStatus) {
        let end = question.floor_char_boundary(MAX_QUESTION);
        (self.asked_in, self.may_be_answered) = (name_of(status), false);
        (self.phase, self.question) = (Phase::Asked, Some(question[..end].to_owned()));
        self.asks_credential = kind == QuestionKind::Auth;
        (self.answer, self.signed_in) = (None, false);
    }

    /// The answer to what the agent asked becomes the next message.
    pub(crate) fn take_answer(&mut self, answer: &str) {
        (self.phase, self.sent) = (Phase::Unsent, self.sent + 1);
        let is_short = Value::from(answer).to_string().len() <= MAX_ANSWER;
        self.answer = (is_short && !self.asks_credential).then(|| answer.to_owned());
    }

    /// Whether a task with this status still asks what it asked last.
    pub(crate) fn is_asked_in(&self, status: &RemoteStatus) -> bool {
        let is_other = self.asked_in.is_some() && self.asked_in != name_of(status);
        status.is_interrupted() && self.question.is_some() && !is_other
    }

    /// The answer is not known any more, so the question is open again.
    pub(crate) fn lose_answer(&mut self) {
        if self.phase != Phase::Asked {
            (self.phase, self.sent) = (Phase::Asked, self.sent.saturating_sub(1));
        }
        (self.answer, self.signed_in) = (None, false);
    }
}

/// The same for one question however often its task is fetched.
fn name_of(status: &RemoteStatus) -> Option<String> {
    let message = status.message.as_ref().map(|message| message.id.as_str());
    Some(message_id(&[message.or(status.timestamp.as_deref())?], 0, ""))
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_stored_keeps_its_spelling() {
        let stored = json!({
            "agent": "helper", "origin": "http://127.0.0.1:9", "own_origin": "http://127.0.0.1:8", "message": "m", "sent": 1, "phase": "following", "continues": true,
            "context": "c", "task": "t", "cursor": "e.7", "began_after": "e.3", "shown": [0, 7], "question": "Which?",
            "asked_in": "a-1", "may_be_answered": true, "asks_credential": true, "answer": "That.", "signed_in": true,
        });
        let saved = SavedCall::read(Some(&stored)).unwrap();
        assert_eq!((saved.phase, saved.cursor.as_deref()), (Phase::Following, Some("e.7")));
        assert_eq!(saved.to_value(), stored);
        let little = json!({"agent": "helper", "origin": "o", "message": "m", "phase": "sending"});
        assert_eq!(SavedCall::read(Some(&little)).unwrap().to_value(), little);
        assert_eq!(SavedCall::read(Some(&json!("other"))), None);
        assert_eq!(SavedCall::read(None), None);
    }
}
