//! The live endpoint: sessions, and prompts with their activity.

use attache_testkit::{SseFrame, TestClient};
use serde_json::{Value, json};

use crate::world::{Launch, launch};

fn live() -> Launch {
    launch().options(|options| options.live = true)
}

fn prompt(text: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "message/stream", "params": {"message": {"content": {"text": text}}}})
}

async fn session(client: &TestClient) -> String {
    let created = client.post("/tasks", &json!({})).await;
    assert_eq!(created.status, 201, "{}", created.text());
    created.json()["taskId"].as_str().unwrap().to_owned()
}

async fn activity(client: &TestClient, task: &str, body: &Value) -> Vec<Value> {
    let mut stream = client.post_stream(&format!("/tasks/{task}/messages/stream"), body).await;
    assert_eq!(stream.status, 200);
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
    stream.rest().await.iter().map(|frame: &SseFrame| frame.payload().clone()).collect()
}

/// The text of the answer.
fn text(events: &[Value]) -> String {
    let texts = events.iter().filter(|event| event["kind"] == "TEXT_CONTENT");
    texts.map(|event| event["content"]["text"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_new_task_has_every_name_of_its_id() {
    let server = live().start().await;
    let created = server.client().post("/tasks", &json!({"contextId": "c1"})).await;
    let created = created.json();
    let task = &created["taskId"];
    assert!(task.as_str().is_some_and(|task| !task.is_empty()));
    let expected =
        json!({"taskId": task, "sessionId": task, "id": task, "contextId": "c1", "state": "submitted"});
    assert_eq!(created, expected);
}

#[tokio::test]
async fn clients_of_gemini_clis_server_still_get_the_bare_id() {
    let server = live().start().await;
    let body = json!({"agentSettings": {"kind": "agent-settings"}});
    let created = server.client().post("/tasks", &body).await;
    assert!(created.json().is_string(), "{}", created.text());
}

#[tokio::test]
async fn a_session_takes_one_prompt_after_another() {
    let server = live().start().await;
    let client = server.client();
    let task = session(&client).await;
    for words in ["echo one", "echo two"] {
        let events = activity(&client, &task, &prompt(words)).await;
        assert!(events.iter().all(|event| event["taskId"] == *task), "{events:#?}");
        assert_eq!(
            (&events[0]["kind"], &events[0]["content"]["text"]),
            (&json!("USER_PROMPT"), &json!(words))
        );
        assert_eq!((&events[0]["by"], &events[0]["interface"]), (&json!("operator"), &json!("live-http")));
        assert_eq!((&events[1]["kind"], &events[1]["state"]), (&json!("STATE_CHANGE"), &json!("working")));
        assert_eq!(format!("echo {}", text(&events)), words);
        let last = events.last().unwrap();
        assert_eq!((&last["state"], &last["final"]), (&json!("idle"), &json!(true)), "{events:#?}");
    }
    let seen = client.rpc("tasks/get", json!({"id": task})).await["result"].clone();
    assert_eq!(seen["status"]["state"], "input-required", "{seen:#}");
}

#[tokio::test]
async fn the_parameters_alone_are_a_request_too() {
    let server = live().start().await;
    let client = server.client();
    for body in [json!({"message": {"content": {"text": "echo a"}}}), json!({"text": "echo a"})] {
        let task = session(&client).await;
        assert_eq!(text(&activity(&client, &task, &body).await), "a");
    }
}

#[track_caller]
fn check_error(answer: &attache_testkit::HttpResponse, status: u16, code: i64, id: &Value) {
    let body = answer.json();
    assert_eq!(answer.status, status, "{body:#}");
    assert_eq!((&body["error"]["code"], &body["id"]), (&json!(code), id), "{body:#}");
}

#[tokio::test]
async fn bad_requests_get_json_rpc_errors() {
    let server = live().start().await;
    let client = server.client();
    let task = session(&client).await;
    let path = format!("/tasks/{task}/messages/stream");
    let unknown = client.post("/tasks/nonesuch/messages/stream", &prompt("echo a")).await;
    check_error(&unknown, 404, -32001, &Value::Null);
    let json = client.with("content-type", "application/json");
    check_error(&json.call("POST", &path, b"{").await, 400, -32700, &Value::Null);
    let method = json!({"jsonrpc": "2.0", "id": 7, "method": "message/sing", "params": {}});
    check_error(&client.post(&path, &method).await, 404, -32601, &json!(7));
    let empty = json!({"jsonrpc": "2.0", "id": "x", "method": "message/stream", "params": {"message": {}}});
    check_error(&client.post(&path, &empty).await, 400, -32602, &json!("x"));
    let other = json!({"taskId": "other", "text": "echo a"});
    check_error(&client.post(&path, &other).await, 400, -32602, &Value::Null);
    assert_eq!(client.call("PUT", &path, b"").await.status, 405);
    assert_eq!(text(&activity(&client, &task, &prompt("echo a")).await), "a", "the session goes on");
}

#[tokio::test]
async fn it_is_off_unless_it_is_asked_for_and_needs_the_token() {
    let server = launch().start().await;
    let path = "/tasks/00000000-0000-4000-8000-000000000000/messages/stream";
    assert_eq!(server.client().post(path, &prompt("echo a")).await.json()["error"]["code"], 404);
    let server = live().token("secret").start().await;
    assert_eq!(server.client().post(path, &prompt("echo a")).await.status, 401);
    let client = server.client().with("authorization", "Bearer secret");
    assert_eq!(client.post(path, &prompt("echo a")).await.status, 404);
    let foreign = client.with("origin", "https://evil.example");
    assert_eq!(foreign.post(path, &prompt("echo a")).await.status, 403);
}
