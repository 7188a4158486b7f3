//! A refusal in place of a stream: the only event of one, for clients of JSON-RPC that expect events.

use attache_testkit::{HttpResponse, TestClient};
use serde_json::{Value, json};

use crate::world::{launch, message_to};

async fn call(client: &TestClient, method: &str, params: Value) -> HttpResponse {
    let body = json!({"jsonrpc": "2.0", "id": "the-id", "method": method, "params": params});
    client.post("/", &body).await
}

fn media_type(answer: &HttpResponse) -> &str {
    answer.header("content-type").unwrap_or_default()
}

fn old_message(task: &str) -> Value {
    json!({"message": {"kind": "message", "messageId": "m1", "role": "user", "taskId": task,
        "parts": [{"kind": "text", "text": "hello"}]}})
}

#[track_caller]
fn check_event(answer: &HttpResponse, begins: &str, code: i64) {
    assert_eq!((answer.status, media_type(answer)), (200, "text/event-stream"), "{}", answer.text());
    let text = answer.text();
    let data = text.strip_prefix(begins).and_then(|rest| rest.strip_suffix("\n\n"));
    let data = data.unwrap_or_else(|| panic!("one event that begins with {begins:?}, not {text:?}"));
    assert!(!data.contains('\n'), "{text:?}");
    let response: Value = serde_json::from_str(data).expect("JSON");
    assert_eq!(
        (&response["id"], &response["error"]["code"]),
        (&json!("the-id"), &json!(code)),
        "{response:#}"
    );
}

#[tokio::test]
async fn in_0_3_it_is_an_event_without_a_name() {
    let server = launch().start().await;
    // Whatever a client accepts: its SDKs expect nothing else.
    for client in [server.client(), server.client().with("accept", "text/event-stream")] {
        check_event(&call(&client, "message/stream", old_message("nothing")).await, "data: ", -32001);
        check_event(&call(&client, "message/stream", json!({})).await, "data: ", -32602);
        check_event(&call(&client, "tasks/resubscribe", json!({"id": "nothing"})).await, "data: ", -32001);
        let sent = call(&client, "message/send", old_message("nothing")).await;
        assert_eq!(media_type(&sent), "application/json", "{}", sent.text());
    }
}

#[tokio::test]
async fn in_1_0_it_is_one_for_clients_that_accept_events() {
    let server = launch().start().await;
    let plain = server.client().with("a2a-version", "1.0");
    let events = plain.with("accept", "application/json, text/event-stream");
    for (method, params) in [
        ("SendStreamingMessage", message_to("nothing", "m1", "hello")),
        ("SubscribeToTask", json!({"id": "nothing"})),
    ] {
        check_event(&call(&events, method, params.clone()).await, "event: error\ndata: ", -32001);
        let answer = call(&plain, method, params).await;
        assert_eq!(media_type(&answer), "application/json", "{}", answer.text());
        assert_eq!(answer.json()["error"]["code"], -32001);
    }
    let get = call(&events, "GetTask", json!({"id": "nothing"})).await;
    assert_eq!(media_type(&get), "application/json", "this method never streams");
}

#[tokio::test]
async fn what_http_has_a_status_for_keeps_it() {
    let launch = launch().token("a-token-of-enough-length");
    let server = launch.start().await;
    let nobody = server.client().with("authorization", "Bearer wrong");
    let answer = call(&nobody, "message/stream", old_message("nothing")).await;
    assert_eq!((answer.status, media_type(&answer)), (401, "application/json"), "{}", answer.text());
    assert!(answer.header("www-authenticate").is_some_and(|scheme| scheme.starts_with("Bearer")));
    let error = answer.json()["error"].clone();
    assert_eq!(error["code"], -32000, "{error:#}");
    assert!(error["message"].as_str().is_some_and(|text| text.contains("authentication")), "{error:#}");
    assert_eq!(error["data"][0]["reason"], "UNAUTHENTICATED", "{error:#}");
}

#[tokio::test]
async fn http_json_tells_it_by_status_and_body() {
    let server = launch().start().await;
    let client = server.client().with("accept", "text/event-stream").with("a2a-version", "1.0");
    let answer = client.post("/message:stream", &message_to("nothing", "m1", "hello")).await;
    assert_eq!((answer.status, media_type(&answer)), (404, "application/a2a+json"), "{}", answer.text());
    assert_eq!(answer.json()["error"]["message"], "Task not found: nothing");
}
