//! What is no answer to a confirmation.

use serde_json::{Value, json};

use super::{answer, asking_task, model, pending};
use crate::agent_world::{launch_with, work};

fn violation(refused: &Value) -> &Value {
    &refused["error"]["details"][1]["fieldViolations"][0]["field"]
}

#[tokio::test]
async fn a_prompt_answers_none_even_if_it_says_yes() {
    let model = model();
    let launch = launch_with(&model);
    let server = launch.start().await;
    let client = server.client();
    let (task, mut stream, question) = asking_task(&client).await;
    pending(&client, &task).await;
    let path = format!("/tasks/{task}/execute");
    for prompt in ["yes", "list files", "proceed_once"] {
        let refused = client.post(&path, &json!({"message": prompt})).await;
        assert_eq!(refused.status, 400, "{}", refused.text());
        assert_eq!(violation(&refused.json()), "message", "{}", refused.text());
        assert!(refused.text().contains(&format!("/tasks/{task}/confirmations")), "{}", refused.text());
    }
    assert!(!work(&launch).join("made").exists());
    let confirmations = format!("/tasks/{task}/confirmations");
    client.post(&confirmations, &answer(&question, "proceed_once")).await;
    assert_eq!(stream.rest().await.last().unwrap().data["state"], "completed");
    let unknown = client.post(&confirmations, &json!({"toolCallId": "none", "optionId": "cancel"})).await;
    assert_eq!(unknown.status, 400, "{}", unknown.text());
    assert_eq!(violation(&unknown.json()), "toolCallId", "{}", unknown.text());
    assert!(!unknown.text().contains("create another task"), "{}", unknown.text());
}
