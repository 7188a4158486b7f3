//! The client of one scenario: it does what the scenario's steps say.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use attache_testkit::WAIT_TIMEOUT;
use serde_json::{Value, json};

use super::connection::{Begun, Connection, Response};
use super::scenario::Step;

pub(super) struct Client<'a> {
    scenario: &'a str,
    workspace: &'a Path,
    address: &'a str,
    connection: Connection,
    /// How long a silence may last.
    pub(super) patience: Duration,
    task: String,
    context: String,
    calls: u64,
    open: HashMap<&'static str, Open>,
}

/// A call that was left open.
struct Open {
    connection: Connection,
    begun: Begun,
    call: u64,
}

impl<'a> Client<'a> {
    pub(super) async fn new(scenario: &'a str, workspace: &'a Path, address: &'a str) -> Self {
        let connection = Connection::open(address).await;
        let (task, context) = ("no-such-task".to_owned(), "no-such-context".to_owned());
        let (patience, calls, open) = (WAIT_TIMEOUT, 0, HashMap::new());
        Self { scenario, workspace, address, connection, patience, task, context, calls, open }
    }

    /// What was asked and heard; none for a step that hears nothing yet.
    pub(super) async fn run(&mut self, step: &Step) -> Option<(String, Response)> {
        let (asks, heard) = match step {
            Step::Reconnect => {
                self.connection = Connection::open(self.address).await;
                return None;
            }
            Step::Leave(name) => {
                self.open.remove(name);
                return None;
            }
            Step::Touch(file) => {
                fs::write(self.workspace.join(file), "").unwrap();
                return None;
            }
            Step::Begin { name, method, params, until } => {
                self.begin(name, method, params, until).await;
                return None;
            }
            Step::Finish(name) => (format!("the rest of {name}"), self.finish(name).await),
            Step::Settle => ("tasks/get until it rests".to_owned(), self.settled().await),
            Step::Get(path) => {
                let target = self.filled(path);
                let heard = self.connection.call("GET", &target, &Value::Null, self.patience).await;
                (format!("GET {path}"), self.ours_alone(path, heard))
            }
            Step::Post(path, body) => {
                let body = self.with_ids(body);
                (format!("POST {path}"), self.connection.call("POST", path, &body, self.patience).await)
            }
            Step::Rpc(method, params) => ((*method).to_owned(), self.rpc(method, params).await),
        };
        self.learn(heard["events"].get(0).unwrap_or(&heard["body"]), &heard["status"]);
        Some((asks, heard))
    }

    async fn rpc(&mut self, method: &str, params: &Value) -> Response {
        let request = self.request(method, params);
        let heard = self.connection.call("POST", "/", &request, self.patience).await;
        unwrapped(heard, self.calls)
    }

    async fn begin(&mut self, name: &'static str, method: &str, params: &Value, until: &str) {
        let request = self.request(method, params);
        let mut connection = Connection::open(self.address).await;
        let mut begun = connection.begin("POST", "/", &request).await;
        if !until.is_empty() {
            connection.hear_until(&mut begun, until).await;
        }
        if let Some(first) = begun.frames().first() {
            self.learn(&content(&first["data"], self.calls), &Value::Null);
        }
        self.open.insert(name, Open { connection, begun, call: self.calls });
    }

    async fn finish(&mut self, name: &str) -> Response {
        let open = self.open.get_mut(name).unwrap_or_else(|| panic!("{name} is not open"));
        let begun = std::mem::take(&mut open.begun);
        unwrapped(open.connection.finish(begun, self.patience).await, open.call)
    }

    async fn settled(&mut self) -> Response {
        loop {
            let heard = self.rpc("tasks/get", &json!({"id": "$TASK"})).await;
            if !matches!(heard["body"]["status"]["state"].as_str(), Some("submitted" | "working")) {
                return heard;
            }
        }
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.calls += 1;
        let mut params = self.with_ids(params);
        if let Some(message) = params.get_mut("message") {
            message["messageId"] = json!(format!("message-{}-of-{}", self.calls, self.scenario));
        }
        json!({"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params})
    }

    /// Remembers the task the conversation is about.
    fn learn(&mut self, first: &Value, status: &Value) {
        let id =
            first["taskId"].as_str().or_else(|| (first["kind"] == "task").then(|| first["id"].as_str())?);
        let made = (status == 201).then(|| first.as_str()).flatten();
        if let Some(task) = id.or(made) {
            task.clone_into(&mut self.task);
        }
        if let Some(context) = first["contextId"].as_str() {
            context.clone_into(&mut self.context);
        }
    }

    /// Of all tasks of the server only this one is the same in every run.
    fn ours_alone(&self, path: &str, mut heard: Response) -> Response {
        if path == "/tasks/metadata"
            && let Some(Value::Array(tasks)) = heard.get_mut("body")
        {
            tasks.retain(|task| task["id"] == self.task);
        }
        heard
    }

    fn with_ids(&self, value: &Value) -> Value {
        serde_json::from_str(&self.filled(&value.to_string())).unwrap()
    }

    fn filled(&self, text: &str) -> String {
        text.replace("$WORKSPACE", &self.workspace.display().to_string())
            .replace("$TASK", &self.task)
            .replace("$CONTEXT", &self.context)
    }
}

/// What was heard without the envelopes of JSON-RPC.
fn unwrapped(mut heard: Response, call: u64) -> Response {
    if let Some(body) = heard.get_mut("body") {
        *body = content(body, call);
    }
    for frame in heard.get_mut("events").and_then(Value::as_array_mut).into_iter().flatten() {
        let content = content(&frame["data"], call);
        let named = frame["event"].as_str().map(str::to_owned);
        *frame = named.map_or(content.clone(), |name| json!({"event": name, "data": content}));
    }
    heard
}

/// What a JSON-RPC response says; its envelope has to be right.
#[track_caller]
fn content(response: &Value, call: u64) -> Value {
    assert_eq!((&response["jsonrpc"], &response["id"]), (&json!("2.0"), &json!(call)), "{response}");
    let result = response.get("result").cloned();
    result.unwrap_or_else(|| json!({"error": response["error"].clone()}))
}
