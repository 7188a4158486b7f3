//! One conversation of a client with a server, and what the model says in it.

use attache_testkit::model_server::Planned;
use serde_json::{Value, json};

/// `$WORKSPACE`, `$TASK` and `$CONTEXT` stand for what they are once it is known.
pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) model: Vec<Planned>,
    pub(super) steps: Vec<Step>,
    /// The peer falls silent in the last step, so that nobody should wait for long.
    pub(super) hangs: bool,
}

pub(super) enum Step {
    /// A JSON-RPC call. A message gets its id when it is sent.
    Rpc(&'static str, Value),
    Get(&'static str),
    Post(&'static str, Value),
    /// The client's connection ends and it goes on with another.
    Reconnect,
}

impl Scenario {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, model: Vec::new(), steps: Vec::new(), hangs: false }
    }

    pub(super) fn model(mut self, answers: impl IntoIterator<Item = Planned>) -> Self {
        self.model.extend(answers);
        self
    }

    pub(super) fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    pub(super) fn hanging(mut self) -> Self {
        self.hangs = true;
        self
    }

    /// A new task, with settings as the peer's clients send them.
    pub(super) fn prompt(self, text: &str) -> Self {
        self.step(Step::Rpc("message/stream", json!({"message": opening(text, json!({}))})))
    }

    /// The same, and nothing is to be asked.
    pub(super) fn prompt_unasked(self, text: &str) -> Self {
        let message = opening(text, json!({"autoExecute": true}));
        self.step(Step::Rpc("message/stream", json!({"message": message})))
    }

    /// More words for the task.
    pub(super) fn reply(self, text: &str) -> Self {
        self.step(Step::Rpc("message/stream", json!({"message": following(vec![said(text)])})))
    }

    /// What is to become of calls that were asked about, in one message.
    pub(super) fn answer(self, outcomes: &[(&str, &str)]) -> Self {
        let part = |(call, outcome): &(&str, &str)| json!({"kind": "data", "data": {"callId": call, "outcome": outcome}});
        let message = following(outcomes.iter().map(part).collect());
        self.step(Step::Rpc("message/stream", json!({"message": message})))
    }

    pub(super) fn rpc(self, method: &'static str, params: Value) -> Self {
        self.step(Step::Rpc(method, params))
    }

    pub(super) fn get(self, path: &'static str) -> Self {
        self.step(Step::Get(path))
    }

    pub(super) fn post(self, path: &'static str, body: Value) -> Self {
        self.step(Step::Post(path, body))
    }
}

/// The first message of a task.
pub(super) fn opening(text: &str, more: Value) -> Value {
    let mut settings = json!({"kind": "agent-settings", "workspacePath": "$WORKSPACE"});
    settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"kind": "message", "role": "user", "parts": [said(text)], "metadata": {"coderAgent": settings}})
}

/// A later one.
pub(super) fn following(parts: Vec<Value>) -> Value {
    json!({"kind": "message", "role": "user", "parts": parts, "taskId": "$TASK", "contextId": "$CONTEXT"})
}

pub(super) fn said(text: &str) -> Value {
    json!({"kind": "text", "text": text})
}
