//! What the client does: every scenario that both servers play.

use attache_testkit::model_server::Planned;
use attache_testkit::model_server::gemini::{self, chunk};
use serde_json::{Value, json};

use super::scenario::{Scenario, Step, following, opening, said};
use crate::agent_world::says;

pub(super) fn all() -> Vec<Scenario> {
    let mut scenarios = turns();
    scenarios.extend(approvals());
    scenarios.extend(misunderstandings());
    scenarios.extend(operations());
    scenarios.extend(routes());
    scenarios
}

/// Prompts that nobody is asked about.
fn turns() -> Vec<Scenario> {
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
    ]
}

/// Calls that a person decides on.
fn approvals() -> Vec<Scenario> {
    let edit = json!({
        "file_path": "hello.txt", "instruction": "greet the moon", "old_string": "world", "new_string": "moon",
    });
    vec![
        Scenario::new("shell-once")
            .model([shell(), says("Done.")])
            .prompt("Say hi!")
            .answer(&[("call-1", "proceed_once")]),
        Scenario::new("shell-cancelled")
            .model([shell(), says("As you like.")])
            .prompt("Say hi!")
            .answer(&[("call-1", "cancel")])
            .reply("Leave it."),
        Scenario::new("write-once")
            .model([
                calls(&[("call-1", "write_file", json!({"file_path": "new.txt", "content": "New.\n"}))]),
                says("Done."),
            ])
            .prompt("Write!")
            .answer(&[("call-1", "proceed_once")]),
        Scenario::new("edit-once")
            .model([calls(&[("call-1", "replace", edit)]), says("Done.")])
            .prompt("Greet the moon!")
            .answer(&[("call-1", "proceed_once")]),
        Scenario::new("parallel")
            .model([
                calls(&[
                    ("call-1", "run_shell_command", command("one")),
                    ("call-2", "run_shell_command", command("two")),
                ]),
                says("Both."),
            ])
            .prompt("Both!")
            .answer(&[("call-1", "proceed_once"), ("call-2", "proceed_once")])
            .answer(&[("call-2", "proceed_once")]),
        Scenario::new("new-connection")
            .model([shell(), says("Done.")])
            .prompt("Say hi!")
            .step(Step::Reconnect)
            .answer(&[("call-1", "proceed_once")]),
    ]
}

/// What a client should not say.
fn misunderstandings() -> Vec<Scenario> {
    [
        Scenario::new("unknown-outcome").model([shell()]).prompt("Say hi!").answer(&[("call-1", "maybe")]),
        Scenario::new("unknown-call")
            .model([shell()])
            .prompt("Say hi!")
            .answer(&[("call-9", "proceed_once")]),
        Scenario::new("words-while-asked").model([shell()]).prompt("Say hi!").reply("What would it do?"),
    ]
    .map(Scenario::hanging)
    .into()
}

/// Other methods.
fn operations() -> Vec<Scenario> {
    vec![
        Scenario::new("send")
            .model([spoken()])
            .rpc("message/send", json!({"message": opening("Count!", json!({}))}))
            .rpc("tasks/get", json!({"id": "$TASK"}))
            .rpc("tasks/get", json!({"id": "$TASK", "historyLength": 2})),
        Scenario::new("get")
            .model([shell(), says("Done.")])
            .prompt("Say hi!")
            .rpc("tasks/get", json!({"id": "$TASK"}))
            .answer(&[("call-1", "proceed_once")])
            .rpc("tasks/get", json!({"id": "$TASK", "historyLength": 100})),
        Scenario::new("cancel")
            .model([shell()])
            .prompt("Say hi!")
            .rpc("tasks/cancel", json!({"id": "$TASK"}))
            .rpc("tasks/cancel", json!({"id": "$TASK"}))
            .reply("Are you there?")
            .rpc("message/send", json!({"message": following(vec![said("Are you there?")])})),
        Scenario::new("resubscribe")
            .model([says("Hello.")])
            .prompt("Hello?")
            .rpc("tasks/resubscribe", json!({"id": "$TASK"})),
        Scenario::new("unknown-task")
            .reply("Hello?")
            .rpc("message/send", json!({"message": following(vec![said("Hello?")])}))
            .rpc("tasks/get", json!({"id": "$TASK"}))
            .rpc("tasks/cancel", json!({"id": "$TASK"}))
            .rpc("tasks/resubscribe", json!({"id": "$TASK"}))
            .rpc("no/such/method", json!({})),
    ]
}

/// What is not A2A.
fn routes() -> Vec<Scenario> {
    let settings = json!({"kind": "agent-settings", "workspacePath": "$WORKSPACE"});
    let first = json!({"kind": "message", "role": "user", "parts": [said("Hello?")], "taskId": "$TASK"});
    let run = |command: &str| json!({"command": command});
    vec![
        Scenario::new("card").get("/.well-known/agent-card.json"),
        Scenario::new("metadata")
            .model([says("Hello.")])
            .prompt("Hello?")
            .get("/tasks/metadata")
            .get("/tasks/$TASK/metadata")
            .get("/tasks/no-such-task/metadata"),
        Scenario::new("made-task")
            .model([says("Hello.")])
            .post("/tasks", json!({"agentSettings": settings}))
            .get("/tasks/$TASK/metadata")
            .rpc("message/stream", json!({"message": first})),
        Scenario::new("commands")
            .get("/listCommands")
            .post("/executeCommand", run("memory show"))
            .post("/executeCommand", run("extensions list"))
            .post("/executeCommand", run("extensions"))
            .post("/executeCommand", run("restore list"))
            .post("/executeCommand", run("no such command"))
            .post("/executeCommand", json!({}))
            .post("/executeCommand", json!({"command": "memory show", "args": "words"})),
    ]
}

/// A thought and a text in three pieces.
fn spoken() -> Planned {
    gemini::answer([
        chunk().thought("**Counting** One, two."),
        chunk().text("The quick "),
        chunk().text("brown "),
        chunk().text("fox.").finish("STOP").usage(10, 9),
    ])
}

fn calls(calls: &[(&str, &str, Value)]) -> Planned {
    let all =
        calls.iter().fold(chunk(), |chunk, (id, name, arguments)| chunk.call(name, arguments.clone()).id(id));
    gemini::answer([all.finish("STOP").usage(100, 10)])
}

fn shell() -> Planned {
    calls(&[("call-1", "run_shell_command", command("hi"))])
}

/// Long enough that its output is seen while it runs.
fn command(word: &str) -> Value {
    json!({"command": format!("echo {word} && sleep 0.3 && echo there")})
}
