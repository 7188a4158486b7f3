//! What clients of the live endpoint send and see.

use serde_json::{Value, json};

use crate::{SseFrame, SseStream, TestClient};

pub fn message(content: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "message/stream", "params": {"message": {"content": content}}})
}

pub fn approval(call: &Value) -> Value {
    message(json!({"data": {
        "kind": "TOOL_CALL_CONFIRMATION", "tool_call_id": call, "selected_option_id": "proceed_once",
    }}))
}

/// A session that asks about a command: its task, the path of its messages, and what was read of it.
pub async fn asking_session(client: &TestClient) -> (String, String, SseStream, Vec<SseFrame>) {
    let task = client.post("/tasks", &json!({})).await.json()["sessionId"]
        .as_str()
        .expect("a session id")
        .to_owned();
    let path = format!("/tasks/{task}/messages/stream");
    let mut prompting = client.post_stream(&path, &message(json!({"text": "Make it"}))).await;
    let before = prompting.until(|frame| frame.payload()["state"] == "input-required").await;
    (task, path, prompting, before)
}

pub fn is_question(event: &Value) -> bool {
    event["kind"] == "TOOL_CALL_UPDATE" && event.get("confirmation_request").is_some()
}
