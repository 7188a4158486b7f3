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

/// All schemas with these names in the document, and what is in them.
fn find<'a>(value: &'a Value, wanted: &dyn Fn(&Value) -> bool, found: &mut Vec<&'a Value>) {
    if wanted(value) {
        found.push(value);
    }
    match value {
        Value::Object(members) => members.values().for_each(|value| find(value, wanted, found)),
        Value::Array(items) => items.iter().for_each(|value| find(value, wanted, found)),
        _ => {}
    }
}

#[tokio::test]
async fn client_generators_understand_states_events_and_the_new_task() {
    let server = launch().start().await;
    let document = server.client().get("/openapi.json").await.json();
    let schemas = &document["components"]["schemas"];
    assert_eq!(schemas["TaskState"]["enum"], json!(["running", "completed", "error"]), "{schemas:#}");
    let created = &document["paths"]["/tasks"]["post"]["responses"]["201"]["content"]["application/json"];
    assert!(created["schema"]["$ref"].is_string(), "an object and nothing else: {created}");
    let events = &schemas["RestEvent"];
    assert_eq!(events["discriminator"]["propertyName"], "type");
    for (kind, reference) in events["discriminator"]["mapping"].as_object().unwrap() {
        let name = reference.as_str().unwrap().rsplit('/').next().unwrap();
        assert_eq!(schemas[name]["properties"]["type"]["const"], json!(kind), "{name}");
        assert!(events["oneOf"].as_array().unwrap().contains(&json!({ "$ref": reference })), "{name}");
    }
    assert_eq!(events["oneOf"].as_array().unwrap().len(), 5, "{events}");
    assert!(schemas["ToolCallUpdateEvent"]["properties"]["toolCallId"].is_object(), "{schemas:#}");
    for name in ["Created", "Task", "RestEvent", "CommandResult"] {
        assert!(schemas[name].is_object(), "{name}");
    }
    for name in ["text", "data", "raw", "url", "mediaType", "filename"] {
        assert!(!schemas["Part"]["properties"][name].is_null(), "{name}: {}", schemas["Part"]);
    }
    for name in ["reason", "waitingTasks", "warnings", "totalTasks"] {
        assert!(schemas["Health"]["properties"][name].is_object(), "{name}: {}", schemas["Health"]);
    }
    for parameter in document["paths"]["/tasks"]["get"]["parameters"].as_array().unwrap() {
        assert_eq!(parameter["allowEmptyValue"], true, "{parameter}");
        let empty = server.client().get(&format!("/tasks?{}=", parameter["name"].as_str().unwrap())).await;
        assert_eq!(empty.status, 200, "{parameter}: {}", empty.text());
    }
    let mut formats = Vec::new();
    find(&document, &|value| value["format"].as_str().is_some_and(|it| it.starts_with("uint")), &mut formats);
    assert!(formats.is_empty(), "OpenAPI knows no such formats: {formats:?}");
    for name in ["StateChangeEvent", "ToolCallUpdateEvent", "Task", "TaskList", "CommandResult"] {
        let mut nulls = Vec::new();
        find(&schemas[name], &|value| value == "null", &mut nulls);
        assert!(nulls.is_empty(), "an absent member is left out: {}", schemas[name]);
    }
}
