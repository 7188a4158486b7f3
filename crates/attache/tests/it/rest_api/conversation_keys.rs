//! The key of a client is that of its whole conversation, whatever its tasks wait for.

use attache_testkit::model_server::ModelServer;
use attache_testkit::{SseFrame, TestClient};
use serde_json::json;

use super::{KEY, answer, create, is_question, keys_received};
use crate::agent_world::{calls, launch_with, says};

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
    let first = create(&client, json!({"contextId": "c", "agentSettings": {"apiKey": KEY}})).await;
    let path = format!("/tasks/{first}/execute");
    let mut stream = client.post_stream(&path, &json!({"message": "Make it"})).await;
    let question = stream.until(is_question).await.pop().unwrap().data;
    super::pending(&client, &first).await;
    let second = create(&client, json!({"contextId": "c"})).await;
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
    let first = create(&client, json!({"contextId": "c", "agentSettings": {"apiKey": KEY}})).await;
    let second = create(&client, json!({"contextId": "c"})).await;
    for task in [&first, &second] {
        assert_eq!(execute(&client, task).await.data["state"], "completed");
    }
    server.kill().await;
    let server = launch.start().await;
    let client = server.client();
    let third = create(&client, json!({"contextId": "c"})).await;
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
