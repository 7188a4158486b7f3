//! What a task asks about, call by call, and answers that name the call they are about.
//!
//! A question may be answered by another client at any time, and the next one takes its place. An answer that names the
//! call it was shown for can never hit another one.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Message, Part, TaskStatus};

/// Members of a message's metadata; see attache's docs/agent.md.
const OPEN_CALLS: &str = "attache/open-calls";
const APPROVAL: &str = "attache/approval";

/// A call that waits for an answer, which names `call`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct OpenCall {
    pub call: String,
    /// The answers it takes, by their ids.
    #[serde(default)]
    pub choices: Vec<String>,
    /// The call that was running when the server stopped; `call` is then the id of the question about that.
    #[serde(default)]
    pub lost: Option<String>,
}

impl OpenCall {
    /// Answers with one of its choices, or with a word that means one, such as `yes`.
    pub fn answer(&self, choice: &str) -> Part {
        Part::data(json!({ "call": self.call, "choice": choice }))
    }

    /// It was running when the server stopped: the question is whether it runs again.
    pub fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// It is a question of a tool, which takes any text.
    pub fn takes_text(&self) -> bool {
        self.choices.iter().any(|choice| choice == "answer")
    }

    /// Answers a question of a tool.
    pub fn answer_text(&self, text: &str) -> Part {
        Part::data(json!({ "call": self.call, "choice": "answer", "answers": text }))
    }
}

impl TaskStatus {
    /// The calls that the task asks about; none where it asks nothing, or is another agent's and does not say.
    pub fn open_calls(&self) -> Vec<OpenCall> {
        let asked = self.message.as_ref().filter(|_| self.state.is_interrupted());
        let open = asked.and_then(|message| message.metadata.as_ref()?.get(OPEN_CALLS).cloned());
        open.and_then(|open| serde_json::from_value(open).ok()).unwrap_or_default()
    }
}

impl Message {
    /// It tells who answered about a call, and how: an object with `call`, `tool`, `choice`, `by` and `at`.
    pub fn approval(&self) -> Option<&Value> {
        self.metadata.as_ref()?.get(APPROVAL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_calls_are_read_from_the_question_and_answered_by_name() {
        let open = json!([{"call": "c-1", "choices": ["proceed_once", "cancel"]}]);
        let message =
            json!({"messageId": "m", "role": "ROLE_AGENT", "parts": [], "metadata": {OPEN_CALLS: open}});
        let status = |state: &str| json!({"state": state, "message": message});
        let asked: TaskStatus = serde_json::from_value(status("TASK_STATE_INPUT_REQUIRED")).unwrap();
        let call = &asked.open_calls()[0];
        assert!(!call.takes_text());
        assert_eq!(call.answer("yes").as_data(), Some(&json!({"call": "c-1", "choice": "yes"})));
        let over: TaskStatus = serde_json::from_value(status("TASK_STATE_COMPLETED")).unwrap();
        assert_eq!(over.open_calls(), []);
    }
}
