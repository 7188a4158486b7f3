//! The routes of Gemini CLI's server beside A2A. They are served as all others are: counted, and for callers with the right only.

use attache_testkit::gemini_extension::check_gemini_event;
use serde_json::{Value, json};

use crate::world::{TestServer, launch};

#[tokio::test]
async fn calls_of_gemini_routes_are_counted() {
    let server = launch().start().await;
    let client = server.client();
    assert_eq!(client.get("/listCommands").await.status, 200);
    assert_eq!(client.get("/tasks/metadata").await.status, 204);
    assert_eq!(client.get("/tasks/none/metadata").await.status, 404);
    assert_eq!(client.post("/executeCommand", &json!({"command": "none"})).await.status, 404);
    let metrics = client.get("/metrics").await.text();
    let counted = |operation: &str| {
        let lines = metrics.lines().filter(|line| line.starts_with("attache_calls_total"));
        let lines = lines.filter(|line| line.contains(&format!("\"{operation}\"")));
        lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum::<u64>()
    };
    let counts = ["commands", "list", "get", "execute"].map(counted);
    assert_eq!(counts, [1, 1, 1, 1], "{metrics}");
}

async fn check(server: &TestServer, body: Value, status: u16, expected: Value) {
    let answer = server.client().post("/executeCommand", &body).await;
    assert_eq!((answer.status, answer.json()), (status, expected), "{body}");
}

#[tokio::test]
async fn commands_are_listed_with_their_whole_names() {
    let server = launch().start().await;
    let list = server.client().get("/listCommands").await.json();
    let commands = list["commands"].as_array().unwrap();
    let memory = commands.iter().find(|command| command["name"] == "memory").unwrap();
    let below: Vec<_> =
        memory["subCommands"].as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
    assert_eq!(below, ["memory show", "memory add", "memory refresh", "memory list"]);
    assert_eq!(memory["subCommands"][1]["arguments"][0]["isRequired"], true);
}

#[tokio::test]
async fn a_command_is_answered_in_one_object() {
    let server = launch().start().await;
    let none = "There are no context files.";
    check(&server, json!({"command": "memory list"}), 200, json!({"name": "memory list", "data": none}))
        .await;
    check(
        &server,
        json!({"command": "memory", "args": ["list"]}),
        200,
        json!({"name": "memory list", "data": none}),
    )
    .await;
    let extensions = json!({"name": "list-extensions", "data": {"extensions": []}});
    check(&server, json!({"command": "list-extensions", "args": []}), 200, extensions).await;
}

#[tokio::test]
async fn restore_is_there_and_finds_nothing() {
    let server = launch().start().await;
    let told =
        |kind: &str, content: &str| json!({"type": "message", "messageType": kind, "content": content});
    let list = json!({"name": "restore list", "data": told("info", "[]")});
    check(&server, json!({"command": "restore list"}), 200, list.clone()).await;
    check(&server, json!({"command": "restore", "args": ["list"]}), 200, list).await;
    let none = "Please provide a checkpoint name to restore. attache keeps no checkpoints yet.";
    check(
        &server,
        json!({"command": "restore"}),
        200,
        json!({"name": "restore", "data": told("error", none)}),
    )
    .await;
    let unknown = "Checkpoint not found: before. attache keeps no checkpoints yet; nothing was changed.";
    let answer = json!({"name": "restore", "data": told("error", unknown)});
    check(&server, json!({"command": "restore", "args": ["before"]}), 200, answer).await;
}

#[tokio::test]
async fn what_is_wrong_with_a_command_is_said() {
    let server = launch().start().await;
    let client = server.client();
    for (body, status, part) in [
        (json!({}), 400, "Invalid \"command\" field"),
        (json!({"command": 5}), 400, "Invalid \"command\" field"),
        (json!({"command": " "}), 400, "Invalid \"command\" field"),
        (json!({"command": "stats", "args": "x"}), 400, "\"args\" field must be an array."),
        (json!({"command": "stats", "args": [1]}), 400, "\"args\" field must be an array of strings."),
        (json!({"command": "nonsense"}), 404, "Command not found"),
        (json!({"command": "memory add"}), 400, "usage: /memory add <text>"),
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
async fn other_commands_answer_whole_whatever_the_client_accepts() {
    let server = launch().start().await;
    let client = server.client().with("accept", "text/event-stream");
    let answer = client.post("/executeCommand", &json!({"command": "memory list"})).await;
    assert_eq!((answer.status, answer.json()["name"].as_str()), (200, Some("memory list")));
}

#[tokio::test]
async fn a_task_can_be_asked_for_before_anything_is_said() {
    let server = launch().script("rules:\n  - name: any\n    steps: [{say: Hello.}]\n").start().await;
    let client = server.client();
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
