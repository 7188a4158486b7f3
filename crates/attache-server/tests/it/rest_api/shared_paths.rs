//! Paths that A2A 1.0 has too: clients that speak A2A get A2A alone, all others the union.

use attache_testkit::TestClient;
use serde_json::{Value, json};

use super::{create, execute};
use crate::world::launch;

/// The members that A2A does not have.
const OWN_MEMBERS: [&str; 3] = ["state", "timestamp", "pendingConfirmations"];

#[track_caller]
fn check_pure(task: &Value) {
    for member in OWN_MEMBERS {
        assert!(task.get(member).is_none(), "{member} in {task:#}");
    }
    assert!(task["status"]["state"].as_str().unwrap().starts_with("TASK_STATE_"), "{task:#}");
}

#[track_caller]
fn check_union(task: &Value) {
    assert_eq!(task["state"], "completed");
    assert_eq!(task["timestamp"], task["status"]["timestamp"]);
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED");
    assert!(task["id"].is_string() && task["contextId"].is_string(), "{task:#}");
}

async fn finished_task(client: &TestClient) -> String {
    let task = create(client, &json!({"contextId": "c-1"})).await;
    execute(client, &task, "echo hello").await;
    task
}

#[tokio::test]
async fn a_call_without_a_sign_of_a2a_gets_the_union() {
    let server = launch().start().await;
    let client = server.client();
    let task = finished_task(&client).await;
    let answer = client.get(&format!("/tasks/{task}")).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
    let seen = answer.json();
    check_union(&seen);
    assert_eq!(seen["pendingConfirmations"], json!([]));
    assert_eq!(seen["metadata"], json!({}));
    assert!(seen["history"].is_array() && seen["artifacts"].is_array(), "{seen:#}");
    let listed = client.get("/tasks").await;
    assert_eq!(listed.header("content-type"), Some("application/json"));
    let listed = listed.json();
    check_union(&listed["tasks"][0]);
    assert_eq!((&listed["totalSize"], &listed["nextPageToken"]), (&json!(1), &json!("")));
}

#[tokio::test]
async fn each_sign_of_a2a_gets_pure_a2a() {
    let server = launch().start().await;
    let plain = server.client();
    let task = finished_task(&plain).await;
    let path = format!("/tasks/{task}");
    for (client, query) in [
        (plain.with("A2A-Version", "1.0"), ""),
        (plain.with("A2A-Version", "1.0.0"), ""),
        (plain.with("Accept", "application/a2a+json"), ""),
        (plain.with("A2A-Extensions", ""), ""),
        (plain.with("X-A2A-Extensions", "https://example.com/x"), ""),
        (plain.clone(), "?A2A-Version=1.0"),
    ] {
        let seen = client.get(&format!("{path}{query}")).await;
        assert_eq!((seen.status, seen.header("content-type")), (200, Some("application/a2a+json")));
        check_pure(&seen.json());
        let listed = client.get(&format!("/tasks{query}")).await.json();
        check_pure(&listed["tasks"][0]);
    }
    for none in [plain.with("A2A-Version", ""), plain.with("Accept", "application/a2a+json;q=0")] {
        let seen = none.get(&path).await;
        assert_eq!((seen.status, seen.header("content-type")), (200, Some("application/json")));
        check_union(&seen.json());
    }
    let refused = plain.with("A2A-Version", "1.0").call("POST", "/tasks", b"{}").await;
    assert_eq!(refused.status, 405, "A2A creates no tasks this way: {}", refused.text());
    let refused = plain.with("A2A-Version", "0.3").get(&path).await;
    assert_eq!(refused.status, 400, "0.3 has other paths: {}", refused.text());
}

#[tokio::test]
async fn other_paths_of_a2a_have_no_union() {
    let server = launch().start().await;
    let client = server.client();
    let task = finished_task(&client).await;
    check_pure(&client.get(&format!("/acme/tasks/{}", other_tenant(&client).await)).await.json());
    let old = client.get(&format!("/v1/tasks/{task}")).await.json();
    assert!(old.get("state").is_none() && old.get("timestamp").is_none(), "{old:#}");
    let task = create(&client, &json!({})).await;
    let canceled = client.call("POST", &format!("/tasks/{task}:cancel"), b"").await;
    assert_eq!(canceled.header("content-type"), Some("application/a2a+json"));
    check_pure(&canceled.json());
}

async fn other_tenant(client: &TestClient) -> String {
    let body = crate::world::message("m-1", "echo x");
    let sent = client.post("/acme/message:send", &body).await.json();
    sent["task"]["id"].as_str().unwrap_or_else(|| panic!("{sent:#}")).to_owned()
}

#[tokio::test]
async fn a_server_that_is_strict_about_versions_wants_one_on_shared_paths_only() {
    let server = launch().options(|options| options.strict_version = true).start().await;
    let client = server.client();
    let task = finished_task(&client).await;
    let refused = client.get(&format!("/tasks/{task}")).await;
    assert_eq!(refused.status, 400, "{}", refused.text());
    let open = create(&client, &json!({})).await;
    assert_eq!(client.call("POST", &format!("/tasks/{open}/cancel"), b"").await.status, 200);
    check_pure(&client.with("A2A-Version", "1.0").get(&format!("/tasks/{task}")).await.json());
}

#[tokio::test]
async fn lists_have_filters_and_pages() {
    let server = launch().start().await;
    let client = server.client();
    for context in ["a", "a", "b"] {
        let task = create(&client, &json!({ "contextId": context })).await;
        execute(&client, &task, "echo x").await;
    }
    let listed = async |query: &str| client.get(&format!("/tasks?{query}")).await.json();
    assert_eq!(listed("contextId=a").await["totalSize"], 2);
    assert_eq!(listed("status=TASK_STATE_COMPLETED").await["totalSize"], 3);
    assert_eq!(listed("status=TASK_STATE_FAILED").await["totalSize"], 0);
    let first = listed("pageSize=2").await;
    assert_eq!(first["tasks"].as_array().unwrap().len(), 2);
    let token = first["nextPageToken"].as_str().unwrap();
    let second = listed(&format!("pageSize=2&pageToken={token}")).await;
    assert_eq!((second["tasks"].as_array().unwrap().len(), &second["nextPageToken"]), (1, &json!("")));
    let whole = listed("historyLength=10&includeArtifacts=true").await;
    assert!(
        whole["tasks"][0]["history"].is_array() && whole["tasks"][0]["artifacts"].is_array(),
        "{whole:#}"
    );
    for wrong in ["pageSize=0", "pageSize=x", "status=nonsense", "pageToken=x", "contextId=%00"] {
        assert_eq!(client.get(&format!("/tasks?{wrong}")).await.status, 400, "{wrong}");
    }
}
