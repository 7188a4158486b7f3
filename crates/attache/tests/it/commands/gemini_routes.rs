//! The routes that clients of Gemini CLI's server know beside A2A.

use attache_testkit::gemini_extension::check_gemini_event;
use serde_json::{Value, json};

use super::world::World;
use crate::agent_world::{calls, says, send};

#[tokio::test]
async fn commands_are_listed_with_their_whole_names() {
    let world = World::silent().await;
    let list = world.server.client().get("/listCommands").await.json();
    let commands = list["commands"].as_array().unwrap();
    let memory = commands.iter().find(|command| command["name"] == "memory").unwrap();
    let below: Vec<_> =
        memory["subCommands"].as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
    assert_eq!(below, ["memory show", "memory add", "memory refresh", "memory list"]);
    assert_eq!(memory["subCommands"][1]["arguments"][0]["isRequired"], true);
}

async fn check(world: &World, body: Value, status: u16, expected: Value) {
    let answer = world.server.client().post("/executeCommand", &body).await;
    assert_eq!((answer.status, answer.json()), (status, expected), "{body}");
}

#[tokio::test]
async fn a_command_is_answered_in_one_object() {
    let world = World::silent().await;
    let none = "There are no context files.";
    check(&world, json!({"command": "memory list"}), 200, json!({"name": "memory list", "data": none})).await;
    check(
        &world,
        json!({"command": "memory", "args": ["list"]}),
        200,
        json!({"name": "memory list", "data": none}),
    )
    .await;
    let extensions = json!({"name": "list-extensions", "data": {"extensions": []}});
    check(&world, json!({"command": "list-extensions", "args": []}), 200, extensions).await;
}

#[tokio::test]
async fn restore_is_there_and_finds_nothing() {
    let world = World::silent().await;
    let told =
        |kind: &str, content: &str| json!({"type": "message", "messageType": kind, "content": content});
    let list = json!({"name": "restore list", "data": told("info", "[]")});
    check(&world, json!({"command": "restore list"}), 200, list.clone()).await;
    check(&world, json!({"command": "restore", "args": ["list"]}), 200, list).await;
    let none = "Please provide a checkpoint name to restore. attache keeps no checkpoints yet.";
    check(
        &world,
        json!({"command": "restore"}),
        200,
        json!({"name": "restore", "data": told("error", none)}),
    )
    .await;
    let unknown = "Checkpoint not found: before. attache keeps no checkpoints yet; nothing was changed.";
    let answer = json!({"name": "restore", "data": told("error", unknown)});
    check(&world, json!({"command": "restore", "args": ["before"]}), 200, answer).await;
}

#[tokio::test]
async fn what_is_wrong_with_a_command_is_said() {
    let world = World::silent().await;
    let client = world.server.client();
    for (body, status, part) in [
        (json!({}), 400, "Invalid \"command\" field"),
        (json!({"command": 5}), 400, "Invalid \"command\" field"),
        (json!({"command": " "}), 400, "Invalid \"command\" field"),
        (json!({"command": "stats", "args": "x"}), 400, "\"args\" field must be an array."),
        (json!({"command": "stats", "args": [1]}), 400, "\"args\" field must be an array of strings."),
        (json!({"command": "nonsense"}), 404, "Command not found"),
        (json!({"command": "memory add"}), 400, "usage: /memory add <text>"),
        (json!({"command": "model set openai:gpt-4o"}), 500, "OPENAI_API_KEY"),
    ] {
        let answer = client.post("/executeCommand", &body).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.text());
        assert!(answer.json()["error"].as_str().unwrap().contains(part), "{body}: {}", answer.text());
    }
    let json_client = client.with("content-type", "application/json");
    let answer = json_client.call("POST", "/executeCommand", b"{").await;
    assert_eq!(answer.status, 400, "{}", answer.text());
    assert!(answer.json()["error"].is_string());
    for (method, path, allowed) in [
        ("POST", "/listCommands", "GET"),
        ("GET", "/executeCommand", "POST"),
        ("DELETE", "/tasks/metadata", "GET"),
        ("POST", "/tasks/x/metadata", "GET"),
    ] {
        let answer = client.call(method, path, b"").await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some(allowed)), "{method} {path}");
    }
}

#[tokio::test]
async fn a_task_can_be_asked_for_before_anything_is_said() {
    let world = World::playing([says("Hello.")]).await;
    let client = world.server.client();
    let answer =
        client.post("/tasks", &json!({"contextId": "c9", "agentSettings": {"kind": "agent-settings"}})).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let task = answer.json();
    let seen = client.rpc("tasks/get", json!({ "id": task })).await["result"].clone();
    assert_eq!((&seen["status"]["state"], &seen["contextId"]), (&json!("submitted"), &json!("c9")));
    let metadata = client.get(&format!("/tasks/{}/metadata", task.as_str().unwrap())).await.json();
    assert_eq!(metadata["metadata"]["taskState"], "submitted");
    let message = json!({"messageId": "m1", "taskId": task, "kind": "message", "role": "user",
        "parts": [{"kind": "text", "text": "Hello?"}]});
    let frames = client.rpc_stream("message/stream", json!({ "message": message })).await.rest().await;
    for frame in &frames {
        check_gemini_event(frame.payload()).unwrap_or_else(|error| panic!("{error}\n{frame:#?}"));
    }
    let last = frames.last().unwrap().payload();
    assert_eq!((&last["taskId"], &last["status"]["state"]), (&task, &json!("input-required")));
}

#[tokio::test]
async fn what_is_wrong_with_a_task_that_is_asked_for_is_said() {
    let world = World::silent().await;
    let client = world.server.client();
    for (body, part) in [
        (json!({"contextId": 5, "agentSettings": {"kind": "agent-settings"}}), "contextId"),
        (json!({"agentSettings": {"workspacePath": "/no/such/folder"}}), "agentSettings.workspacePath"),
        (
            json!({"agentSettings": {"kind": "agent-settings", "workspaceRoot": "/no/such/folder"}}),
            "agentSettings.workspaceRoot",
        ),
        (json!({"agentSettings": {"kind": "agent-settings", "model": "nonsense:x"}}), "agentSettings.model"),
    ] {
        let answer = client.post("/tasks", &body).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text());
        assert!(answer.json()["error"].as_str().unwrap().contains(part), "{body}: {}", answer.text());
    }
    assert_eq!(client.post("/tasks", &json!({})).await.status, 201, "everything may be left out");
}

#[tokio::test]
async fn what_the_model_works_on_is_streamed_as_events_that_any_reader_understands() {
    let write = calls("write_file", json!({"file_path": "GEMINI.md", "content": "Greets.\n"}));
    let world = World::playing([write, says("I wrote it down.")]).await;
    let client = world.server.client();
    let mut stream = client.post_stream("/executeCommand", &json!({"command": "init"})).await;
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
    let frames = stream.rest().await;
    let id = frames[0].payload()["id"].clone();
    for frame in &frames {
        assert_eq!(frame.data["id"], id, "every frame is an answer of JSON-RPC: {frame:?}");
        check_gemini_event(frame.payload()).unwrap_or_else(|error| panic!("{error}\n{frame:#?}"));
    }
    let asked = frames
        .iter()
        .map(|frame| frame.payload())
        .find(|event| event["metadata"]["coderAgent"]["kind"] == "tool-call-confirmation");
    let call = asked.unwrap()["status"]["message"]["parts"][0]["data"]["request"]["callId"].clone();
    let last = frames.last().unwrap().payload();
    assert_eq!((&last["final"], &last["status"]["state"]), (&json!(true), &json!("input-required")));
    let message = json!({"messageId": "a1", "taskId": id, "kind": "message", "role": "user",
        "parts": [{"kind": "data", "data": {"callId": call, "outcome": "proceed_once"}}]});
    let mut stream = client.rpc_stream("message/stream", json!({ "message": message })).await;
    let frames = stream.rest().await;
    let text: String = frames.iter().map(|frame| frame.payload().to_string()).collect();
    assert!(text.contains("I wrote it down."), "{text}");
    assert_eq!(world.file("GEMINI.md").unwrap(), "Greets.\n");
    let mut stream = client.post_stream("/executeCommand", &json!({"command": "init"})).await;
    let text: String = stream.rest().await.iter().map(|frame| frame.payload().to_string()).collect();
    assert!(text.contains("nothing was changed"), "{text}");
}

#[tokio::test]
async fn other_commands_answer_whole_whatever_the_client_accepts() {
    let world = World::silent().await;
    let client = world.server.client().with("accept", "text/event-stream");
    let answer = client.post("/executeCommand", &json!({"command": "memory list"})).await;
    assert_eq!((answer.status, answer.json()["name"].as_str()), (200, Some("memory list")));
}

#[tokio::test]
async fn tasks_tell_what_they_are_made_of() {
    let world = World::playing([says("Hello."), says("Hello."), says("Hello.")]).await;
    let client = world.server.client();
    let none = client.get("/tasks/metadata").await;
    assert_eq!((none.status, none.body.len()), (204, 0));
    let unknown = client.get("/tasks/nothing/metadata").await;
    assert_eq!((unknown.status, unknown.json()), (404, json!({"error": "Task not found"})));
    let task = send(&client, "m1", "Hello").await;
    let one = client.get(&format!("/tasks/{}/metadata", task["id"].as_str().unwrap())).await;
    assert_eq!(one.status, 200);
    let metadata = one.json()["metadata"].clone();
    assert_eq!((&metadata["id"], &metadata["contextId"]), (&task["id"], &task["contextId"]));
    assert_eq!((&metadata["taskState"], &metadata["model"]), (&json!("completed"), &json!("gemini-2.5-pro")));
    let tools = metadata["availableTools"].as_array().unwrap();
    let read = tools.iter().find(|tool| tool["name"] == "read_file").unwrap();
    assert!(read["parameterSchema"]["properties"].is_object(), "{read:#}");
    let all = client.get("/tasks/metadata").await;
    assert_eq!((all.status, all.json()), (200, json!([metadata])));
    let second = send(&client, "m2", "Hello again").await;
    let third = send(&client, "m3", "And again").await;
    let all = client.get("/tasks/metadata").await.json();
    let ids: Vec<_> = all.as_array().unwrap().iter().map(|task| task["id"].clone()).collect();
    assert_eq!(ids, [&task, &second, &third].map(|task| task["id"].clone()), "the newest last");
}
