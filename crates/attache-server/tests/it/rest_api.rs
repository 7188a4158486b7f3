//! The REST API: tasks and prompts, and the paths that A2A has too.

mod confirming;
mod document;
mod filters;
mod reading_on;
mod resuming;
mod shared_paths;

use attache_testkit::rest_tasks::create;
use attache_testkit::{SseFrame, TestClient};
use attache_wire::devtool::Dialect;
use serde_json::{Value, json};

use crate::world::launch;

async fn execute(client: &TestClient, task: &str, message: &str) -> Vec<SseFrame> {
    let mut stream =
        client.post_stream(&format!("/tasks/{task}/execute"), &json!({ "message": message })).await;
    assert_eq!((stream.status, stream.header("content-type")), (200, Some("text/event-stream")));
    stream.rest().await
}

/// The events, whose names are checked.
fn events(frames: &[SseFrame]) -> Vec<Value> {
    for frame in frames {
        assert_eq!(frame.event.as_deref(), frame.data["type"].as_str(), "{frame:#?}");
    }
    frames.iter().map(|frame| frame.data.clone()).collect()
}

fn text(events: &[Value]) -> String {
    let texts = events.iter().filter(|event| event["type"] == "text_content");
    texts.map(|event| event["text"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_prompt_streams_named_events_until_it_is_settled_and_the_next_one_can_follow() {
    let server = launch().start().await;
    let client = server.client();
    let task = create(&client, &json!({})).await;
    for words in ["echo one", "echo two"] {
        let events = events(&execute(&client, &task, words).await);
        assert_eq!((&events[0]["type"], &events[0]["state"]), (&json!("state_change"), &json!("running")));
        assert_eq!(format!("echo {}", text(&events)), words);
        let last = events.last().unwrap();
        assert_eq!((&last["type"], &last["state"]), (&json!("state_change"), &json!("completed")));
        assert!(last["timestamp"].as_str().unwrap().ends_with('Z'), "{last}");
    }
    let seen = client.get(&format!("/tasks/{task}")).await.json();
    assert_eq!(
        (&seen["state"], &seen["status"]["state"]),
        (&json!("completed"), &json!("TASK_STATE_COMPLETED"))
    );
    assert_eq!(seen["history"].as_array().unwrap().len(), 4, "{seen:#}");
}

#[tokio::test]
async fn a_message_with_a_known_id_is_not_taken_twice() {
    let server = launch().start().await;
    let client = server.client();
    let task = create(&client, &json!({})).await;
    let path = format!("/tasks/{task}/execute");
    let body = json!({"message": "echo once", "messageId": "m-1"});
    for _ in 0..2 {
        let events = events(&client.post_stream(&path, &body).await.rest().await);
        assert_eq!(events.last().unwrap()["state"], "completed", "{events:#?}");
    }
    let seen = client.get(&format!("/tasks/{task}")).await.json();
    assert_eq!(seen["history"].as_array().unwrap().len(), 2, "{seen:#}");
}

#[tokio::test]
async fn the_settings_decide_whether_a_new_task_is_an_object_or_an_id() {
    let server = launch().start().await;
    let client = server.client();
    for object in [json!({}), json!({"contextId": "c"}), json!({"agentSettings": {}}), Value::Null] {
        let created = client.post("/tasks", &object).await.json();
        assert_eq!(created["state"], "running", "{object}: {created}");
        assert_eq!(created["id"], created["taskId"]);
        assert_eq!(created.as_object().unwrap().len(), 4, "{created}");
    }
    let empty = client.call("POST", "/tasks", b"").await;
    assert!(empty.json()["taskId"].is_string(), "{}", empty.text());
    for id in [json!({"kind": "agent-settings"}), json!({"workspacePath": "", "kind": "agent-settings"})] {
        let created = client.post("/tasks", &json!({ "agentSettings": id })).await;
        assert!(created.json().is_string(), "{}", created.text());
    }
    let gemini = launch().options(|options| options.default_dialect = Dialect::Gemini).start().await;
    let created = gemini.client().post("/tasks", &json!({"contextId": "c"})).await;
    assert!(created.json().is_string(), "no settings, and the operator's dialect: {}", created.text());
    let created = gemini.client().post("/tasks", &json!({"agentSettings": {"model": ""}})).await;
    assert!(created.json()["taskId"].is_string(), "settings of the REST API: {}", created.text());
}

#[tokio::test]
async fn errors_name_the_member_that_the_client_sent() {
    let server = launch().start().await;
    let client = server.client();
    let task = create(&client, &json!({})).await;
    for (path, body, part) in [
        ("/tasks".to_owned(), json!([]), "body must be an object"),
        ("/tasks".to_owned(), json!({"contextId": 5}), "contextId must be a string"),
        ("/tasks".to_owned(), json!({"agentSettings": "x"}), "agentSettings must be an object"),
        (format!("/tasks/{task}/execute"), json!({}), "message is required"),
        (format!("/tasks/{task}/execute"), json!({"message": {}}), "message must be a string"),
        (format!("/tasks/{task}/execute"), json!({"message": " "}), "message must not be empty"),
        (format!("/tasks/{task}/confirmations"), json!({"optionId": "x"}), "toolCallId is required"),
        ("/tasks".to_owned(), json!({"context_id": "c"}), "did you mean contextId?"),
        (
            format!("/tasks/{task}/confirmations"),
            json!({"toolCallId": "k", "optionId": "x", "new_content": "mine"}),
            "did you mean newContent?",
        ),
    ] {
        let refused = client.post(&path, &body).await;
        assert_eq!(refused.status, 400, "{path} {body}: {}", refused.text());
        assert_eq!(refused.header("content-type"), Some("application/json"));
        let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(part), "{body}: {message}");
    }
    let refused = client.call("POST", "/tasks", b"{").await;
    assert_eq!(refused.status, 400, "{}", refused.text());
}

#[tokio::test]
async fn unknown_tasks_and_other_methods_are_refused() {
    let server = launch().start().await;
    let client = server.client();
    for (path, body) in [
        ("/tasks/none/execute", json!({"message": "x"})),
        ("/tasks/none/confirmations", json!({"toolCallId": "k", "optionId": "x"})),
        ("/tasks/none/cancel", json!({})),
    ] {
        let refused = client.post(path, &body).await;
        assert_eq!(refused.status, 404, "{path}: {}", refused.text());
        let refused = client.get(path).await;
        assert_eq!((refused.status, refused.header("allow")), (405, Some("POST")), "{path}");
        assert_eq!(refused.header("content-type"), Some("application/json"));
    }
}

#[tokio::test]
async fn a_confirmation_that_nothing_was_asked_for_does_not_become_a_prompt() {
    let server = launch().start().await;
    let client = server.client();
    let task = create(&client, &json!({})).await;
    let path = format!("/tasks/{task}/confirmations");
    let answer = json!({"toolCallId": "k", "optionId": "proceed_once"});
    let refused = client.post(&path, &answer).await;
    assert_eq!(refused.status, 400, "{}", refused.text());
    let violation = refused.json()["error"]["details"][1]["fieldViolations"][0]["field"].clone();
    assert_eq!(violation, "toolCallId", "{}", refused.text());
    execute(&client, &task, "echo x").await;
    let refused = client.post(&path, &answer).await;
    assert_eq!(refused.status, 400, "{}", refused.text());
    let seen = client.get(&format!("/tasks/{task}")).await.json();
    assert_eq!(seen["history"].as_array().unwrap().len(), 2, "{seen:#}");
}

#[tokio::test]
async fn a_task_is_canceled_and_its_stream_ends_with_an_error() {
    let server = launch().start().await;
    let client = server.client();
    let task = create(&client, &json!({})).await;
    let mut stream = client.post_stream(&format!("/tasks/{task}/execute"), &json!({"message": "slow"})).await;
    stream.next().await.expect("the first event");
    let canceled = client.call("POST", &format!("/tasks/{task}/cancel"), b"").await;
    assert_eq!(canceled.status, 200, "{}", canceled.text());
    let canceled = canceled.json();
    assert_eq!((&canceled["state"], &canceled["id"]), (&json!("error"), &json!(task)));
    let last = stream.rest().await.pop().unwrap().data;
    assert_eq!((&last["type"], &last["state"]), (&json!("state_change"), &json!("error")), "{last}");
    assert_eq!(last["error"], "The task was canceled.");
    let again = client.call("POST", &format!("/tasks/{task}/cancel"), b"").await;
    assert_eq!(again.status, 400, "{}", again.text());
    let prompt = client.post(&format!("/tasks/{task}/execute"), &json!({"message": "echo x"})).await;
    assert_eq!(prompt.status, 400, "{}", prompt.text());
    assert!(prompt.text().contains("create another task with its contextId"), "{}", prompt.text());
}
