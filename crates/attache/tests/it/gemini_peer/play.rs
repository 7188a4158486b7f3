//! Plays a scenario against a server and tells what was heard.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use attache_testkit::PATIENCE;
use serde_json::{Value, json};

use super::connection::{Connection, Heard};
use super::model::Model;
use super::normal::{Live, Normal};
use super::scenario::{Scenario, Step};

/// How long to listen to a stream of which it is known that it hangs.
const SILENCE: Duration = Duration::from_millis(1500);

/// A server to play against.
pub(super) struct Stage<'a> {
    pub(super) address: String,
    pub(super) model: &'a Model,
    /// Below it each scenario has a workspace of its own.
    pub(super) folder: PathBuf,
    pub(super) live: Live,
}

impl Stage<'_> {
    /// What was heard in each step, normalised, and how often the model was asked.
    pub(super) async fn play(&self, scenario: &Scenario) -> Value {
        let workspace = self.folder.join("work").join(scenario.name);
        fs::create_dir_all(&workspace).unwrap();
        fs::write(workspace.join("hello.txt"), "Hello, world.\nSecond line.\n").unwrap();
        self.model.plan(&scenario.model);
        let before = self.model.asked();
        let workspace = workspace.display().to_string();
        let mut client = Client::new(scenario.name, &workspace, &self.address).await;
        let mut steps = Vec::new();
        for (number, step) in scenario.steps.iter().enumerate() {
            let hangs = scenario.hangs && number + 1 == scenario.steps.len();
            client.patience = if hangs { SILENCE } else { PATIENCE };
            if let Some((asks, heard)) = client.perform(step).await {
                steps.push(json!({"asks": asks, "heard": heard}));
            }
        }
        let mut heard = json!({"modelCalls": self.model.asked() - before, "steps": steps});
        let folder = self.folder.display().to_string();
        let (_, port) = self.address.split_once(':').unwrap();
        let places = [
            (workspace, "$WORKSPACE"),
            (folder, "$HOME"),
            (format!("localhost:{port}"), "$ADDRESS"),
            (self.address.clone(), "$ADDRESS"),
        ];
        Normal { live: self.live, places: &places }.of(&mut heard);
        heard
    }
}

/// The client of one scenario.
struct Client<'a> {
    scenario: &'a str,
    workspace: &'a str,
    address: &'a str,
    connection: Connection,
    patience: Duration,
    task: String,
    context: String,
    calls: u64,
}

impl<'a> Client<'a> {
    async fn new(scenario: &'a str, workspace: &'a str, address: &'a str) -> Self {
        let connection = Connection::open(address).await;
        let (task, context) = ("no-such-task".to_owned(), "no-such-context".to_owned());
        Self { scenario, workspace, address, connection, patience: PATIENCE, task, context, calls: 0 }
    }

    /// What was asked and heard; none for a step that says nothing.
    async fn perform(&mut self, step: &Step) -> Option<(String, Heard)> {
        let (asks, heard) = match step {
            Step::Reconnect => {
                self.connection = Connection::open(self.address).await;
                return None;
            }
            Step::Get(path) => {
                let heard =
                    self.connection.call("GET", &self.filled(path), &Value::Null, self.patience).await;
                (format!("GET {path}"), self.ours_alone(path, heard))
            }
            Step::Post(path, body) => {
                let body = self.with_ids(body);
                (format!("POST {path}"), self.connection.call("POST", path, &body, self.patience).await)
            }
            Step::Rpc(method, params) => ((*method).to_owned(), self.rpc(method, params).await),
        };
        self.learn(&heard);
        Some((asks, heard))
    }

    async fn rpc(&mut self, method: &str, params: &Value) -> Heard {
        self.calls += 1;
        let mut params = self.with_ids(params);
        if let Some(message) = params.get_mut("message") {
            message["messageId"] = json!(format!("message-{}-of-{}", self.calls, self.scenario));
        }
        let request = json!({"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params});
        let mut heard = self.connection.call("POST", "/", &request, self.patience).await;
        if let Some(body) = heard.get_mut("body") {
            *body = self.content(body);
        }
        for frame in heard.get_mut("events").and_then(Value::as_array_mut).into_iter().flatten() {
            let content = self.content(&frame["data"]);
            let named = frame["event"].as_str().map(str::to_owned);
            *frame = named.map_or(content.clone(), |name| json!({"event": name, "data": content}));
        }
        heard
    }

    /// What a JSON-RPC response says; its envelope has to be right.
    #[track_caller]
    fn content(&self, response: &Value) -> Value {
        assert_eq!(
            (&response["jsonrpc"], &response["id"]),
            (&json!("2.0"), &json!(self.calls)),
            "{response}"
        );
        let result = response.get("result").cloned();
        result.unwrap_or_else(|| json!({"error": response["error"].clone()}))
    }

    /// Remembers the task the conversation is about.
    fn learn(&mut self, heard: &Heard) {
        let first = heard["events"].get(0).unwrap_or(&heard["body"]);
        let id =
            first["taskId"].as_str().or_else(|| (first["kind"] == "task").then(|| first["id"].as_str())?);
        let made = (heard["status"] == 201).then(|| first.as_str()).flatten();
        if let Some(task) = id.or(made) {
            task.clone_into(&mut self.task);
        }
        if let Some(context) = first["contextId"].as_str() {
            context.clone_into(&mut self.context);
        }
    }

    /// Of all tasks of the server only this one is the same in every run.
    fn ours_alone(&self, path: &str, mut heard: Heard) -> Heard {
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
        text.replace("$WORKSPACE", self.workspace)
            .replace("$TASK", &self.task)
            .replace("$CONTEXT", &self.context)
    }
}
