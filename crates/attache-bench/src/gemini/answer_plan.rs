//! The plan for the next answers.

use serde::Deserialize;
use serde_json::{Value, json};

use super::request_counts::RequestNumber;

#[derive(Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct AnswerPlan {
    /// The pieces of a text answer.
    pub(super) chunks: usize,
    /// Pause before each piece.
    pub(super) interval_ms: u64,
    pub(super) tool: Tool,
    /// The calls in an answer with calls.
    pub(super) calls: u64,
    /// This many answers with calls, then one with text, and so on.
    pub(super) call_rounds: u64,
    /// Counts the answers of each conversation by the results it contains, so that many conversations can run at a
    /// time.
    pub(super) per_conversation: bool,
    /// The text that the newest result must contain; results without it are counted.
    pub(super) expect: String,
    /// How the length of a prompt is estimated.
    pub(super) tokens_per_byte: f64,
}

impl Default for AnswerPlan {
    fn default() -> Self {
        Self {
            chunks: 1,
            interval_ms: 0,
            tool: Tool::ReadFile,
            calls: 1,
            call_rounds: 0,
            per_conversation: false,
            expect: String::new(),
            tokens_per_byte: 0.25,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Tool {
    /// The file `line.txt`, up to another line each time.
    ReadFile,
    /// The words `keyword_0`, `keyword_1` and so on.
    GrepSearch,
    /// A command that prints hi and needs an approval; an `echo` alone needs none.
    Shell,
    /// The agent `peer`, which answers `delegated 0`, `delegated 1` and so on at once.
    Agent,
    /// The same agent, which works for a long time on `hold 0`, `hold 1` and so on.
    SlowAgent,
}

pub(super) enum PlannedAnswer {
    Text,
    Calls(Vec<Value>),
    /// A summary of the conversation.
    Summary,
}

impl AnswerPlan {
    pub(super) fn answer(&self, number: RequestNumber) -> PlannedAnswer {
        match number {
            RequestNumber::Summary => PlannedAnswer::Summary,
            RequestNumber::Round(round) if round % (self.call_rounds + 1) == self.call_rounds => {
                PlannedAnswer::Text
            }
            RequestNumber::Round(round) => PlannedAnswer::Calls(
                (0..self.calls).map(|call| self.call(round * self.calls + call)).collect(),
            ),
        }
    }

    pub(super) fn tokens_of(&self, bytes: usize) -> u64 {
        (bytes as f64 * self.tokens_per_byte) as u64
    }

    /// No two are the same; repetitions would look like a loop to the agent.
    fn call(&self, number: u64) -> Value {
        match self.tool {
            Tool::ReadFile => {
                json!({"name": "read_file", "args": {"file_path": "line.txt", "end_line": number + 1}})
            }
            Tool::GrepSearch => {
                json!({"name": "grep_search", "args": {"pattern": format!("keyword_{number}_")}})
            }
            Tool::Shell => json!({"name": "run_shell_command", "args": {"command": "sleep 0 && echo hi"}}),
            Tool::Agent => delegation(format!("delegated {number}")),
            Tool::SlowAgent => delegation(format!("hold {number}")),
        }
    }
}

fn delegation(prompt: String) -> Value {
    json!({"name": "invoke_agent", "args": {"agent_name": "peer", "prompt": prompt}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_the_rounds_with_calls_comes_one_in_words() {
        let plan = AnswerPlan { call_rounds: 2, calls: 3, ..AnswerPlan::default() };
        let calls = |round| match plan.answer(RequestNumber::Round(round)) {
            PlannedAnswer::Calls(calls) => calls.len(),
            PlannedAnswer::Text | PlannedAnswer::Summary => 0,
        };
        assert_eq!([0, 1, 2, 3, 4, 5].map(calls), [3, 3, 0, 3, 3, 0]);
        assert!(matches!(plan.answer(RequestNumber::Summary), PlannedAnswer::Summary));
    }

    #[test]
    fn no_two_calls_are_the_same() {
        let plan = AnswerPlan { call_rounds: 9, calls: 2, ..AnswerPlan::default() };
        let mut all = Vec::new();
        for round in 0..5 {
            if let PlannedAnswer::Calls(calls) = plan.answer(RequestNumber::Round(round)) {
                all.extend(calls.iter().map(Value::to_string));
            }
        }
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 10);
    }
}
