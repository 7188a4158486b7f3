//! Answers to questions about calls, in every dialect and on every binding: each counts for the question it names, once.

mod at_once;
mod by_context;
mod late;
mod lost;
mod outcomes;
mod partly;

pub(crate) use attache_testkit::answer_words::Words;
use attache_testkit::model_server::PlannedResponse;
use attache_testkit::model_server::gemini::batch;
use attache_testkit::{SseFrame, TestClient};
use serde_json::{Value, json};

use attache_testkit::pairs::{Ask, Pair};

use crate::agent_world::{AgentLaunch, work};

const URI: &str =
    "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md";

/// A client of one dialect over one pair of version and binding.
pub(super) struct Speaker {
    pair: Pair,
    words: Words,
    client: TestClient,
}

impl Speaker {
    fn new(pair: Pair, words: Words, client: &TestClient) -> Self {
        let client = match words {
            Words::Rfc => client.with("A2A-Extensions", URI).with("X-A2A-Extensions", URI),
            Words::Plain | Words::Gemini => client.clone(),
        };
        Self { pair, words, client }
    }

    /// Every way to speak to a server.
    fn all(client: &TestClient) -> Vec<Self> {
        let pairs = Pair::ALL.into_iter();
        pairs.flat_map(|pair| Words::ALL.map(|words| Self::new(pair, words, client))).collect()
    }

    fn name(&self) -> String {
        format!("{:?} {:?}", self.pair, self.words)
    }

    /// A message of the client that opens a task.
    fn opening(&self, launch: &AgentLaunch, id: &str, text: &str) -> Value {
        let mut params = self.pair.text(id, text);
        if self.words == Words::Gemini {
            let settings = json!({"kind": "agent-settings", "workspacePath": work(launch)});
            params["message"]["metadata"] = json!({ "coderAgent": settings });
        }
        params
    }

    /// A message that answers about calls of `task`.
    fn answering(&self, task: &str, id: &str, answers: &[(&str, &str)]) -> Value {
        let mut params = self.pair.text_to(task, id, "");
        let part = |(call, choice): &(&str, &str)| self.data_part(self.words.chosen(call, choice));
        params["message"][self.pair.parts()] = answers.iter().map(part).collect();
        params
    }

    fn data_part(&self, data: Value) -> Value {
        match self.pair {
            Pair::Rpc03 => json!({"kind": "data", "data": data}),
            Pair::Rest03 => json!({"data": {"data": data}}),
            Pair::Rpc10 | Pair::Rest10 => json!({ "data": data }),
        }
    }

    /// Sends on a stream and reads that to its end.
    async fn stream(&self, params: Value) -> Vec<Value> {
        let frames = self.pair.stream(&self.client, &Ask::Stream(params)).await.rest().await;
        frames.iter().map(SseFrame::payload).cloned().collect()
    }

    /// The reason that a client gets whose message is not taken.
    async fn refusal(&self, params: Value) -> String {
        self.pair.call(&self.client, &Ask::Send(params)).await.refusal().message
    }
}

/// The state that an item of a stream, or a task, tells; the same word in every spelling.
fn state_in(item: &Value) -> String {
    let inner = ["task", "statusUpdate"].iter().find_map(|name| item.get(name)).unwrap_or(item);
    let state = inner["status"]["state"].as_str().unwrap_or_default();
    state.trim_start_matches("TASK_STATE_").to_lowercase().replace('_', "-")
}

/// An item of 0.3 says that it is the last.
fn is_final(item: &Value) -> bool {
    item["final"] == true || item["statusUpdate"]["final"] == true
}

fn task_in(item: &Value) -> String {
    let task = item.get("task").unwrap_or(item);
    task["id"].as_str().unwrap_or_else(|| panic!("{item:#}")).to_owned()
}

/// The ids under which an item asks about calls, in whichever words.
pub(super) fn asked_in(item: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(item, &mut found);
    found.sort();
    found.dedup();
    found
}

fn collect(value: &Value, found: &mut Vec<String>) {
    let mut add = |id: &Value| found.extend(id.as_str().map(str::to_owned));
    if value.get("confirmation_request").is_some() {
        add(&value["tool_call_id"]);
    }
    if value["status"] == "awaiting_approval" {
        add(&value["request"]["callId"]);
    }
    for open in value["attache/open-calls"].as_array().into_iter().flatten() {
        add(&open["call"]);
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        // The history keeps the questions of the past.
        Value::Object(members) => {
            let now = members.iter().filter(|(name, _)| *name != "history");
            now.for_each(|(_, member)| collect(member, found));
        }
        _ => {}
    }
}

/// An answer of the model that wants to make these files, each with a call of its own.
pub(super) fn touches(files: &[&str]) -> PlannedResponse {
    batch(files.iter().map(|file| ("run_shell_command", json!({"command": format!("touch {file}")}))))
}
