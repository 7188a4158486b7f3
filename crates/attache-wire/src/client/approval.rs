//! The calls that a task asks about, and answers that name their call.
//!
//! Another client may answer a question at any time, and the next question takes its place. An answer that names
//! the call it was shown for cannot reach another one.

use attache_domain::{APPROVAL, Message, OPEN_CALLS, Part, PartContent};
use serde::Deserialize;
use serde_json::{Value, json};

use super::RemoteStatus;

/// A call that waits for an answer, which names `call`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct OpenCall {
    pub call: String,
    /// The ids of the answers that it takes.
    #[serde(default)]
    pub choices: Vec<String>,
    /// The call that was running when the server stopped; `call` is then the id of the question about it.
    #[serde(default)]
    pub lost: Option<String>,
}

impl OpenCall {
    /// Answers with one of its choices, or with a word that means one, such as `yes`.
    pub fn answer(&self, choice: &str) -> Part {
        Part::new(PartContent::Data(json!({ "call": self.call, "choice": choice })))
    }

    /// The question is whether a call that was running when the server stopped runs again.
    pub fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// The question comes from a tool and takes any text.
    pub fn takes_text(&self) -> bool {
        self.choices.iter().any(|choice| choice == "answer")
    }

    /// Answers a question of a tool.
    pub fn answer_text(&self, text: &str) -> Part {
        Part::new(PartContent::Data(json!({ "call": self.call, "choice": "answer", "answers": text })))
    }
}

impl RemoteStatus {
    /// The calls that the task asks about; empty for agents that do not list them.
    pub fn open_calls(&self) -> Vec<OpenCall> {
        let asked = self.message.as_ref().filter(|_| self.is_interrupted());
        let open = asked.and_then(|message| message.metadata.as_ref()?.get(OPEN_CALLS).cloned());
        open.and_then(|open| serde_json::from_value(open).ok()).unwrap_or_default()
    }
}

/// Who answered about a call and how, if `message` says so: an object with `call`, `tool`, `choice`, `by` and `at`.
pub fn approval_in(message: &Message) -> Option<&Value> {
    message.metadata.as_ref()?.get(APPROVAL)
}

#[cfg(test)]
mod tests {
    use attache_domain::{MessageId, Metadata, TaskState};

    use super::*;

    #[test]
    fn open_calls_are_read_from_the_question_and_answered_by_name() {
        let open = json!([{"call": "c-1", "choices": ["proceed_once", "cancel"]}]);
        let mut message = Message::from_agent(MessageId::from("m"), "c".into(), None, "May I?");
        message.metadata = Some(Metadata::from_iter([(OPEN_CALLS.to_owned(), open)]));
        let status =
            |state| RemoteStatus { state: Some(state), message: Some(message.clone()), timestamp: None };
        let asked = status(TaskState::InputRequired);
        let call = &asked.open_calls()[0];
        assert!(!call.takes_text());
        assert_eq!(call.answer("yes").content, PartContent::Data(json!({"call": "c-1", "choice": "yes"})));
        assert_eq!(status(TaskState::Completed).open_calls(), []);
    }
}
