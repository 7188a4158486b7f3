//! What is not A2A.

use serde_json::json;

use crate::agent_world::says;
use crate::gemini_peer::scenario::{Scenario, said};

pub(super) fn scenarios() -> Vec<Scenario> {
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
