//! The examples of the server document, as they are printed there.

use serde_json::{Value, json};

use super::{create, events};
use crate::world::launch;

/// Every member of `printed` is in `real`, with a value of the same kind.
#[track_caller]
fn check_shape(printed: &Value, real: &Value) {
    match (printed, real) {
        (Value::Object(printed), Value::Object(members)) => {
            for (name, value) in printed {
                let found = members.get(name).unwrap_or_else(|| panic!("no {name} in {real:#}"));
                check_shape(value, found);
            }
        }
        (Value::Array(printed), Value::Array(items)) => {
            if let (Some(printed), Some(item)) = (printed.first(), items.first()) {
                check_shape(printed, item);
            }
        }
        _ => {
            assert_eq!(std::mem::discriminant(printed), std::mem::discriminant(real), "{printed} and {real}")
        }
    }
}

#[tokio::test]
async fn the_requests_and_responses_have_the_printed_shapes() {
    let script = "rules:\n  - text: '^Write a Python function to sort a list$'\n    steps:\n      - say: I'll write a sort function...\n";
    let server = launch().script(script).start().await;
    let client = server.client();

    let request = json!({
        "contextId": "context-123",
        "agentSettings": {"workspaceRoot": "/path/to/workspace", "model": "gemini-2.0-flash-exp"}
    });
    let created = client.post("/tasks", &request).await;
    assert_eq!(created.status, 201, "{}", created.text());
    let created = created.json();
    check_shape(&json!({"taskId": "task-456", "state": "running"}), &created);
    assert_eq!((&created["state"], &created["contextId"]), (&json!("running"), &json!("context-123")));
    let task = created["taskId"].as_str().unwrap();

    let request = json!({"message": "Write a Python function to sort a list"});
    let mut stream = client.post_stream(&format!("/tasks/{task}/execute"), &request).await;
    let events = events(&stream.rest().await);
    let text = json!({"type": "text_content", "text": "I'll write a sort function..."});
    assert!(events.contains(&text), "{events:#?}");
    let last = json!({"type": "state_change", "state": "completed", "timestamp": "2025-10-24T12:00:00Z"});
    check_shape(&last, events.last().unwrap());
    assert_eq!(events.last().unwrap()["state"], "completed");

    let seen = client.get(&format!("/tasks/{task}")).await.json();
    let printed = json!({
        "id": "task-456",
        "contextId": "context-123",
        "state": "completed",
        "timestamp": "2025-10-24T12:00:00Z",
        "metadata": {},
        "history": [],
        "artifacts": []
    });
    check_shape(&printed, &seen);
    assert_eq!((&seen["id"], &seen["state"]), (&json!(task), &json!("completed")));

    let listed = client.get("/tasks").await.json();
    let printed = json!({"tasks": [{"id": "task-456", "contextId": "context-123", "state": "completed"}]});
    check_shape(&printed, &listed);
    assert_eq!(listed["tasks"][0]["id"], task);
}

#[tokio::test]
async fn health_has_the_suggested_members() {
    let server = launch().start().await;
    let client = server.client();
    let idle = create(&client, &json!({})).await;
    let health = client.get("/health").await.json();
    let printed = json!({"status": "healthy", "uptime": 1.5, "activeTasks": 0, "totalTasks": 0});
    check_shape(&printed, &health);
    assert_eq!((&health["status"], &health["activeTasks"]), (&json!("healthy"), &json!(0)));
    client.post_stream(&format!("/tasks/{idle}/execute"), &json!({"message": "echo x"})).await.rest().await;
    assert_eq!(client.get("/health").await.json()["totalTasks"], 1);
}
