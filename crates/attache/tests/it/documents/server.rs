//! The document of the server.

use attache_testkit::model_server::{ModelServer, PlannedResponse, gemini};
use attache_testkit::{SseFrame, TestClient};
use serde_json::{Value, json};

use super::{check, parse};
use crate::agent_world::{calls, launch_with, says, work, write};

/// `POST /tasks`: the request, but for the folder, which must exist.
const CREATE: &str = r#"{
  "contextId": "context-123",
  "agentSettings": {
    "workspaceRoot": "/path/to/workspace",
    "model": "gemini-2.0-flash-exp"
  }
}"#;

/// The response.
const CREATED: &str = r#"{
  "taskId": "task-456",
  "state": "running"
}"#;

/// `POST /tasks/:taskId/execute`: the request.
const EXECUTE: &str = r#"{
  "message": "Write a Python function to sort a list"
}"#;

/// The stream.
const EVENTS: &str = r#"event: text_content
data: {"type": "text_content", "text": "I'll write a sort function..."}

event: tool_call_update
data: {"type": "tool_call_update", "toolCallId": "call-1", "status": "requested", "toolName": "write_file"}

event: tool_call_update
data: {"type": "tool_call_update", "toolCallId": "call-1", "status": "completed", "result": "..."}

event: state_change
data: {"type": "state_change", "state": "completed", "timestamp": "2025-10-24T12:00:00Z"}
"#;

/// `GET /tasks/:taskId`: the response, with empty lists for `[...]`.
const TASK: &str = r#"{
  "id": "task-456",
  "contextId": "context-123",
  "state": "completed",
  "timestamp": "2025-10-24T12:00:00Z",
  "metadata": {},
  "history": [],
  "artifacts": []
}"#;

/// `GET /tasks`: the response, without `...`.
const TASKS: &str = r#"{
  "tasks": [
    {
      "id": "task-456",
      "contextId": "context-123",
      "state": "completed"
    }
  ]
}"#;

/// `list-extensions`: the response.
const EXTENSIONS: &str = r#"{
  "extensions": [
    {
      "name": "my-extension",
      "version": "1.0.0",
      "enabled": true
    }
  ]
}"#;

/// Name and data of each event in a printed stream.
fn printed_events(text: &str) -> Vec<(String, Value)> {
    let blocks = text.trim_end().split("\n\n");
    let event = |block: &str| {
        let (name, data) = block.split_once("\ndata: ").unwrap();
        (name.strip_prefix("event: ").unwrap().to_owned(), parse(data))
    };
    blocks.map(event).collect()
}

/// Confirms what the task asks.
async fn confirm(client: &TestClient, task: &str, question: &Value) {
    let answer = json!({"toolCallId": question["toolCallId"], "optionId": "proceed_once"});
    let taken = client.post(&format!("/tasks/{task}/confirmations"), &answer).await;
    assert_eq!(taken.status, 200, "{}", taken.text());
}

#[tokio::test]
async fn a_task_from_its_creation_to_its_end() {
    let write = json!({"file_path": "sort.py", "content": "def sort(items):\n    return sorted(items)\n"});
    let first = gemini::chunk().text("I'll write a sort function...");
    let first = [first, gemini::chunk().call("write_file", write).finish("STOP").usage(100, 10)];
    let model = ModelServer::with_responses([gemini::answer(first), says("Done.")]);
    let launch = launch_with(&model);
    let server = launch.start().await;
    let client = server.client();

    let mut request = parse(CREATE);
    request["agentSettings"]["workspaceRoot"] = work(&launch).to_str().into();
    let created = client.post("/tasks", &request).await;
    assert_eq!(created.status, 201, "{}", created.text());
    check(&parse(CREATED), &created.json(), &["taskId"]);
    assert_eq!(created.json()["contextId"], "context-123");
    let task = created.json()["taskId"].as_str().unwrap().to_owned();

    let mut stream = client.post_stream(&format!("/tasks/{task}/execute"), &parse(EXECUTE)).await;
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
    let mut frames = stream.until(|frame| frame.data.get("options").is_some()).await;
    let question = frames.last().unwrap().data.clone();
    let option = |id: &str, name: &str| json!({"id": id, "name": name});
    let options = json!({"options": [option("proceed_once", "Allow Once"), option("cancel", "Cancel")]});
    check(&options, &question, &[]);
    confirm(&client, &task, &question).await;
    frames.extend(stream.rest().await);
    let mut real = frames.iter();
    for (name, printed) in printed_events(EVENTS) {
        let is_it = |frame: &&SseFrame| {
            frame.event.as_deref() == Some(name.as_str())
                && ["status", "state", "text"]
                    .iter()
                    .all(|member| printed.get(member) == frame.data.get(member))
        };
        let found = real.find(is_it).unwrap_or_else(|| panic!("no {printed} in this order: {frames:#?}"));
        check(&printed, &found.data, &["toolCallId", "result", "timestamp"]);
    }

    let seen = client.get(&format!("/tasks/{task}")).await.json();
    check(&parse(TASK), &seen, &["id", "timestamp"]);
    assert_eq!(seen["id"], json!(task));
    assert!(seen["history"].as_array().unwrap().len() >= 2, "{seen:#}");
    let listed = client.get("/tasks").await.json();
    check(&parse(TASKS), &listed, &["id"]);
    for (filter, count) in
        [("state=completed", 1), ("status=completed", 1), ("state=running", 0), ("status=error", 0)]
    {
        let listed = client.get(&format!("/tasks?{filter}")).await.json();
        assert_eq!(listed["tasks"].as_array().unwrap().len(), count, "{filter}: {listed:#}");
    }
}

#[tokio::test]
async fn every_event_has_its_members() {
    let thought = gemini::chunk().thought("**Looking** I look for files.");
    let call = gemini::chunk().call("list_directory", json!({"dir_path": "."})).finish("STOP").usage(100, 10);
    let failing = calls("read_file", json!({"file_path": "missing.txt"}));
    let model = ModelServer::with_responses([gemini::answer([thought, call]), failing, says("I'll write…")]);
    let server = launch_with(&model).start().await;
    let client = server.client();
    let task = client.post("/tasks", &json!({})).await.json()["taskId"].as_str().unwrap().to_owned();
    let frames = client.post_stream(&format!("/tasks/{task}/execute"), &parse(EXECUTE)).await.rest().await;
    let call = |status: &str| json!({"type": "tool_call_update", "toolCallId": "", "status": status, "toolName": ""});
    let mut completed = call("completed");
    completed["result"] = "".into();
    let mut failed = call("error");
    failed["error"] = "".into();
    for printed in [
        json!({"type": "state_change", "state": "running", "timestamp": ""}),
        json!({"type": "state_change", "state": "completed", "timestamp": ""}),
        json!({"type": "text_content", "text": "I'll write…"}),
        json!({"type": "thought", "thought": "I look for files."}),
        json!({"type": "thought_summary", "summary": "Looking"}),
        call("requested"),
        call("executing"),
        completed,
        failed,
    ] {
        let free = ["timestamp", "toolCallId", "toolName", "result", "error"];
        let all: Vec<_> = frames.iter().map(|frame| frame.data.clone()).collect();
        check(&json!([printed]), &json!(all), &free);
    }
    assert!(frames.iter().all(|frame| frame.event.as_deref() == frame.data["type"].as_str()), "{frames:#?}");
}

#[tokio::test]
async fn commands_are_listed_and_executed() {
    let model = ModelServer::with_responses([says("Command executed")]);
    let launch = launch_with(&model);
    let extension = json!({"name": "my-extension", "version": "1.0.0"}).to_string();
    write(&launch, ".gemini/extensions/my-extension/gemini-extension.json", &extension);
    let own = "description = \"Custom command\"\nprompt = \"Do it.\"\n";
    write(&launch, ".gemini/commands/my-command.toml", own);
    let server = launch.start().await;
    let client = server.client();
    let listed = client.get("/commands").await.json();
    let command = |name: &str, description: &str| json!({"name": name, "description": description});
    let printed =
        json!({"commands": [command("list-extensions", ""), command("my-command", "Custom command")]});
    let free = ["description"];
    check(&printed, &listed, &free);

    let executed = client.post("/commands/list-extensions/execute", &json!({"args": []})).await;
    assert_eq!(executed.status, 200, "{}", executed.text());
    check(&parse(EXTENSIONS), &executed.json(), &[]);
    check(&json!({"success": true, "output": ""}), &executed.json(), &["output"]);
    assert!(executed.json()["output"].as_str().unwrap().contains("my-extension"), "{}", executed.text());

    let executed = client.post("/commands/my-command/execute", &json!({"args": []})).await.json();
    check(&json!({"success": true, "output": "Command executed"}), &executed, &["output"]);
    for (name, body, status) in [
        ("no-such-command", json!({}), 404),
        ("list-extensions", json!({"args": "x"}), 400),
        ("list-extensions", json!([]), 400),
    ] {
        let refused = client.post(&format!("/commands/{name}/execute"), &body).await;
        assert_eq!(refused.status, status, "{name} {body}: {}", refused.text());
    }
}

#[tokio::test]
async fn health() {
    let model = ModelServer::with_responses(Vec::<PlannedResponse>::new());
    let server = launch_with(&model).start().await;
    let printed = json!({"status": "healthy", "uptime": 1.5, "activeTasks": 0, "totalTasks": 0});
    check(&printed, &server.client().get("/health").await.json(), &["uptime"]);
}
