//! What the client does: every scenario that both servers play.

mod approvals;
mod busy;
mod operations;
mod routes;
mod silences;
mod turns;

use attache_testkit::model_server::PlannedResponse;
use attache_testkit::model_server::gemini::{self, Chunk, chunk};
use serde_json::{Value, json};

use super::scenario::Scenario;

pub(super) fn all() -> Vec<Scenario> {
    let scenes = [
        turns::scenarios(),
        approvals::scenarios(),
        silences::scenarios(),
        operations::scenarios(),
        busy::scenarios(),
        routes::scenarios(),
    ];
    scenes.into_iter().flatten().collect()
}

/// A thought and a text in three pieces.
fn spoken() -> PlannedResponse {
    gemini::answer([
        named().thought("**Counting** One, two."),
        named().text("The quick "),
        named().text("brown "),
        named().text("fox.").finish("STOP").usage(10, 9),
    ])
}

fn calls(calls: &[(&str, &str, Value)]) -> PlannedResponse {
    let all =
        calls.iter().fold(named(), |chunk, (id, name, arguments)| chunk.call(name, arguments.clone()).id(id));
    gemini::answer([all.finish("STOP").usage(100, 10)])
}

/// A piece of an answer that Gemini has given an id, which both servers tell as `traceId`.
fn named() -> Chunk {
    chunk().response_id("response-1")
}

fn shell() -> PlannedResponse {
    calls(&[("call-1", "run_shell_command", command("hi"))])
}

/// Long enough that its output is seen while it runs.
fn command(word: &str) -> Value {
    json!({"command": format!("echo {word} && sleep 0.3 && echo there")})
}

fn edit() -> PlannedResponse {
    let arguments = json!({
        "file_path": "hello.txt", "instruction": "greet the moon", "old_string": "world", "new_string": "moon",
    });
    calls(&[("call-1", "replace", arguments)])
}
