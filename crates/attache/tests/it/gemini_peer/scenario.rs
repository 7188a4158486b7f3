//! One conversation of a client with a server, and what the model says in it.

use attache_testkit::model_server::PlannedResponse;
use serde_json::{Value, json};

/// `$WORKSPACE`, `$TASK` and `$CONTEXT` stand for what they are once it is known.
pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) model: Vec<PlannedResponse>,
    pub(super) steps: Vec<Step>,
    /// A server falls silent in the last step, so the wait is short.
    pub(super) hangs: bool,
    /// Whether the model was told this is part of what is compared.
    pub(super) tells: Option<&'static str>,
    /// What is in this file at the end is, too.
    pub(super) makes: Option<&'static str>,
}

pub(super) enum Step {
    /// A JSON-RPC call. A message gets its id when it is sent.
    Rpc(&'static str, Value),
    /// One that is left open, on a connection of its own, once its stream has said the word.
    Begin {
        name: &'static str,
        method: &'static str,
        params: Value,
        until: &'static str,
    },
    /// Hears the rest of it.
    Finish(&'static str),
    /// Ends its connection instead.
    Leave(&'static str),
    /// Asks for the task until nothing is done on it any more; only the last answer counts.
    Settle,
    /// Makes an empty file in the workspace.
    Touch(&'static str),
    Get(&'static str),
    Post(&'static str, Value),
    /// The client's connection ends and it goes on with another.
    Reconnect,
}

impl Scenario {
    pub(super) fn new(name: &'static str) -> Self {
        let (model, steps) = (Vec::new(), Vec::new());
        Self { name, model, steps, hangs: false, tells: None, makes: None }
    }

    pub(super) fn model(mut self, answers: impl IntoIterator<Item = PlannedResponse>) -> Self {
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

    pub(super) fn tells(mut self, text: &'static str) -> Self {
        self.tells = Some(text);
        self
    }

    pub(super) fn makes(mut self, file: &'static str) -> Self {
        self.makes = Some(file);
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

    /// A message that is left open until its stream has said the word.
    pub(super) fn begin(self, name: &'static str, message: Value, until: &'static str) -> Self {
        let params = json!({"message": message});
        self.step(Step::Begin { name, method: "message/stream", params, until })
    }

    pub(super) fn finish(self, name: &'static str) -> Self {
        self.step(Step::Finish(name))
    }

    pub(super) fn touch(self, file: &'static str) -> Self {
        self.step(Step::Touch(file))
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
