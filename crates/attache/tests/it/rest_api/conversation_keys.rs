//! The key of a client is that of its whole conversation, whatever its tasks wait for.

use attache_testkit::model_server::ModelServer;
use attache_testkit::rest_tasks::{answer, create, is_question, pending};
use attache_testkit::{SseFrame, TestClient};
use serde_json::json;

use super::{KEY, keys_received};
use crate::agent_world::{calls, launch_with, says, work};
use crate::support::launch;

async fn execute(client: &TestClient, task: &str) -> SseFrame {
    let path = format!("/tasks/{task}/execute");
    client.post_stream(&path, &json!({"message": "Go"})).await.rest().await.pop().unwrap()
}

#[tokio::test]
async fn another_task_uses_it_while_the_first_one_waits_for_a_confirmation() {
    let touch = calls("run_shell_command", json!({"command": "touch made"}));
    let model = ModelServer::with_responses([touch, says("Another."), says("Made.")]);
    let server = launch_with(&model).start().await;
    let client = server.client();
    let first = create(&client, &json!({"contextId": "c", "agentSettings": {"apiKey": KEY}})).await;
    let path = format!("/tasks/{first}/execute");
    let mut stream = client.post_stream(&path, &json!({"message": "Make it"})).await;
    let question = stream.until(is_question).await.pop().unwrap().data;
    pending(&client, &first).await;
    let second = create(&client, &json!({"contextId": "c"})).await;
    assert_eq!(execute(&client, &second).await.data["state"], "completed");
    client.post(&format!("/tasks/{first}/confirmations"), &answer(&question, "proceed_once")).await;
    assert_eq!(stream.rest().await.pop().unwrap().data["state"], "completed");
    assert_eq!(keys_received(&model), [KEY, KEY, KEY], "never the operator's");
}

#[tokio::test]
async fn when_it_is_forgotten_every_task_asks_for_it_and_none_takes_the_operators() {
    let model = ModelServer::with_responses([says("One."), says("Two."), says("Three.")]);
    let launch = launch_with(&model);
    let server = launch.start().await;
    let client = server.client();
    let first = create(&client, &json!({"contextId": "c", "agentSettings": {"apiKey": KEY}})).await;
    let second = create(&client, &json!({"contextId": "c"})).await;
    for task in [&first, &second] {
        assert_eq!(execute(&client, task).await.data["state"], "completed");
    }
    server.kill().await;
    let server = launch.start().await;
    let client = server.client();
    let third = create(&client, &json!({"contextId": "c"})).await;
    // The first one asks, and waits.
    for task in [&first, &second, &third] {
        let last = execute(&client, task).await.data;
        let error = last["error"].as_str().unwrap_or_default();
        assert!(error.contains("agentSettings.apiKey is needed again"), "{last}");
    }
    assert_eq!(keys_received(&model), [KEY, KEY], "never the operator's");
    let body = json!({"message": "Go", "agentSettings": {"apiKey": KEY}});
    client.post_stream(&format!("/tasks/{first}/execute"), &body).await.rest().await;
    assert_eq!(keys_received(&model), [KEY, KEY, KEY]);
}

#[tokio::test]
async fn a_confirmation_after_a_restart_runs_the_call_and_the_key_is_asked_for_after_it() {
    let touch = calls("run_shell_command", json!({"command": "touch made"}));
    let model = ModelServer::with_responses([touch, says("Made.")]);
    let launch = launch_with(&model);
    let server = launch.start().await;
    let client = server.client();
    let task = create(&client, &json!({"agentSettings": {"apiKey": KEY}})).await;
    let path = format!("/tasks/{task}/execute");
    let mut stream = client.post_stream(&path, &json!({"message": "Make it"})).await;
    let question = stream.until(is_question).await.pop().unwrap().data;
    pending(&client, &task).await;
    drop(stream);
    server.kill().await;
    let server = launch.start().await;
    let client = server.client();
    let taken =
        client.post(&format!("/tasks/{task}/confirmations"), &answer(&question, "proceed_once")).await;
    assert_eq!(taken.status, 200, "{}", taken.text());
    let seen = loop {
        let seen = client.get(&format!("/tasks/{task}")).await.json();
        if seen["state"] != "running" {
            break seen;
        }
        tokio::task::yield_now().await;
    };
    assert!(work(&launch).join("made").exists(), "{seen}");
    assert_eq!(seen["status"]["state"], "TASK_STATE_AUTH_REQUIRED", "{seen}");
    assert!(seen["status"].to_string().contains("agentSettings.apiKey is needed again"), "{seen}");
    let body = json!({"message": "Go on", "agentSettings": {"apiKey": KEY}});
    let last = client.post_stream(&path, &body).await.rest().await.pop().unwrap().data;
    assert_eq!(last["state"], "completed", "{last}");
    assert!(model.received()[1].json().to_string().contains("functionResponse"), "the model sees the result");
    assert_eq!(keys_received(&model), [KEY, KEY]);
}

#[tokio::test]
async fn refused_requests_push_no_key_out() {
    let model = ModelServer::with_responses([says("One.")]);
    let server = launch_with(&model).start().await;
    let client = server.client();
    let task = create(&client, &json!({"agentSettings": {"apiKey": KEY}})).await;
    let refused = json!({"agentSettings": {"apiKey": "sk-other", "workspaceRoot": "/no/such/folder"}});
    let prompt = json!({"message": "Go", "agentSettings": {"apiKey": "sk-other"}});
    for _ in 0..600 {
        assert_eq!(client.post("/tasks", &refused).await.status, 400);
        assert_eq!(client.post("/tasks/none/execute", &prompt).await.status, 404);
    }
    assert_eq!(execute(&client, &task).await.data["state"], "completed");
    assert_eq!(keys_received(&model), [KEY]);
}

#[tokio::test]
async fn it_reaches_the_model_that_is_named_again() {
    let model = ModelServer::with_responses(["One.", "Two.", "Three."].map(says));
    let server = launch().durable().variable("GOOGLE_GEMINI_BASE_URL", &model.url()).start().await;
    let client = server.client();
    let named = json!({"model": "gemini-2.0-flash-exp"});
    let settings = json!({"model": "gemini-2.0-flash-exp", "apiKey": KEY});
    let task = create(&client, &json!({"contextId": "c", "agentSettings": settings})).await;
    let path = format!("/tasks/{task}/execute");
    let prompt = json!({"message": "Go", "agentSettings": named});
    for _ in 0..2 {
        let last = client.post_stream(&path, &prompt).await.rest().await.pop().unwrap().data;
        assert_eq!(last["state"], "completed", "{last}");
    }
    let second = create(&client, &json!({"contextId": "c", "agentSettings": named})).await;
    assert_eq!(execute(&client, &second).await.data["state"], "completed");
    assert_eq!(keys_received(&model), [KEY, KEY, KEY]);
    let other = client.post("/tasks", &json!({"contextId": "other", "agentSettings": named})).await;
    assert_eq!(other.status, 400, "{}", other.text());
    assert!(
        other.text().contains("GEMINI_API_KEY") && other.text().contains("agentSettings.apiKey"),
        "{}",
        other.text()
    );
}
