//! The routes that clients of Gemini CLI's server know beside A2A.

use attache_testkit::gemini_extension::check_gemini_event;
use serde_json::json;

use super::world::World;
use crate::agent_world::{calls, says, send};

#[tokio::test]
async fn what_is_wrong_with_a_task_that_is_asked_for_or_a_command_is_said() {
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
    let answer = client.post("/executeCommand", &json!({"command": "model set openai:gpt-4o"})).await;
    assert_eq!(answer.status, 500, "{}", answer.text());
    assert!(answer.json()["error"].as_str().unwrap().contains("OPENAI_API_KEY"), "{}", answer.text());
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
