//! Prompts without approvals.

use attache_testkit::model_server::gemini;
use serde_json::{Value, json};

use super::{calls, spoken};
use crate::agent_world::says;
use crate::gemini_peer::scenario::{Scenario, opening};

pub(super) fn scenarios() -> Vec<Scenario> {
    vec![
        Scenario::new("text").model([spoken(), says("Again.")]).prompt("Count!").reply("And again!"),
        Scenario::new("read-file-unasked")
            .model([calls(&[("call-1", "read_file", json!({"file_path": "hello.txt"}))]), says("Two lines.")])
            .prompt_unasked("What is in hello.txt?"),
        Scenario::new("missing-file-unasked")
            .model([calls(&[("call-1", "read_file", json!({"file_path": "none.txt"}))]), says("Not there.")])
            .prompt_unasked("What is in none.txt?"),
        Scenario::new("unknown-tool")
            .model([calls(&[("call-1", "no_such_tool", json!({"a": 1}))]), says("Sorry.")])
            .prompt("Use it!"),
        Scenario::new("model-error")
            .model([
                gemini::error(400, "INVALID_ARGUMENT", "Please use a valid role.", json!([])),
                says("Better."),
            ])
            .prompt("Go!")
            .reply("Again!"),
        Scenario::new("file-part")
            .model([says("A note.")])
            .tells(NOTE)
            .rpc("message/stream", json!({"message": with_note(opening("What is this?", json!({})))})),
    ]
}

/// A file in BASE64.
const NOTE: &str = "QSBub3RlIG9uIHBhcGVyLgo=";

fn with_note(mut message: Value) -> Value {
    let file = json!({"name": "note.pdf", "mimeType": "application/pdf", "bytes": NOTE});
    message["parts"].as_array_mut().unwrap().push(json!({"kind": "file", "file": file}));
    message
}
