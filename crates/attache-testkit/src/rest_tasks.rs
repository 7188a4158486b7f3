//! Tasks of the REST API, and the confirmations that they wait for.

use serde_json::{Value, json};

use crate::{SseFrame, TestClient};

pub async fn create(client: &TestClient, body: &Value) -> String {
    let created = client.post("/tasks", body).await;
    assert_eq!(created.status, 201, "{}", created.text());
    created.json()["taskId"].as_str().unwrap_or_else(|| panic!("{}", created.text())).to_owned()
}

pub fn is_question(frame: &SseFrame) -> bool {
    frame.data["type"] == "tool_call_update" && frame.data.get("options").is_some()
}

/// Waits until the task waits for the answer.
pub async fn pending(client: &TestClient, task: &str) -> Value {
    loop {
        let seen = client.get(&format!("/tasks/{task}")).await.json();
        if seen["status"]["state"] == "TASK_STATE_INPUT_REQUIRED" {
            return seen;
        }
        tokio::task::yield_now().await;
    }
}

pub fn answer(question: &Value, option: &str) -> Value {
    json!({"toolCallId": question["toolCallId"], "optionId": option})
}
