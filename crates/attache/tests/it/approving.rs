//! What a person approves is what the person sees, and the person who approves it is named afterwards.

mod binding;
mod hidden;
mod recorded_answers;

use attache_testkit::model_server::PlannedResponse;
use serde_json::{Value, json};

use crate::agent_world::calls;

fn runs(command: &str) -> PlannedResponse {
    calls("run_shell_command", json!({"command": command}))
}

/// What a task asks, as a client reads it that knows text only.
fn question(task: &Value) -> String {
    task["status"]["message"]["parts"][0]["text"].as_str().unwrap_or_else(|| panic!("{task:#}")).to_owned()
}

/// The id of the only call that the question names, as a person reads it.
fn call_in(question: &str) -> String {
    let line = question.lines().find(|line| line.contains("): ")).unwrap_or_else(|| panic!("{question}"));
    line.split_once('(').unwrap().1.split_once(')').unwrap().0.to_owned()
}
