//! What the other agent asks can be answered over every interface of the server.

use attache_testkit::SseFrame;
use attache_testkit::model_server::ModelServer;
use serde_json::{Value, json};

use super::world::{Delegating, asks, done, invoke, scripted_agent, sent, yolo_launch};
use crate::agent_world::{last_output, says};
use crate::live::{is_question, message as live_message};
use crate::support::{message, message_to};
use crate::watching::eventually;

const QUESTION: &str = "Which colour?";

fn agent() -> ModelServer {
    scripted_agent(|request| {
        let is_answer = request.json()["params"]["message"].get("taskId").is_some();
        if is_answer { done("It is painted.") } else { asks("INPUT_REQUIRED", QUESTION) }
    })
}

fn model() -> ModelServer {
    ModelServer::with_responses([invoke("painter", "Paint it!"), says("Done.")])
}

/// The answer went to the task that asked, and the model reads all of it.
async fn check_answered(agent: &ModelServer, model: &ModelServer) {
    eventually("a result for the model", || model.received().len() == 2).await;
    let sent = sent(agent);
    assert_eq!(sent.len(), 2, "{sent:#?}");
    assert_eq!((&sent[1]["taskId"], &sent[1]["parts"][0]["text"]), (&json!("t-1"), &json!("red")));
    let output = last_output(model);
    assert!(output.contains("The person answered: red") && output.contains("It is painted."), "{output}");
}

#[tokio::test]
async fn over_version_0_3() {
    let (agent, model) = (agent(), model());
    let world = Delegating::yolo(&model, &[("painter", &agent.url())]).await;
    let client = world.server.client();
    let send = |message: Value| client.rpc("message/send", json!({ "message": message }));
    let parts = |text: &str| json!([{"kind": "text", "text": text}]);
    let asked =
        send(json!({"kind": "message", "messageId": "m1", "role": "user", "parts": parts("Paint it")})).await;
    let task = &asked["result"];
    assert_eq!(task["status"]["state"], "input-required", "{asked:#}");
    assert!(task["status"]["message"]["parts"][0]["text"].as_str().unwrap().contains(QUESTION), "{task:#}");
    let answer = json!({
        "kind": "message", "messageId": "m2", "role": "user", "parts": parts("red"), "taskId": task["id"],
    });
    assert_eq!(send(answer).await["result"]["status"]["state"], "completed");
    check_answered(&agent, &model).await;
}

#[tokio::test]
async fn over_http_and_json() {
    let (agent, model) = (agent(), model());
    let world = Delegating::yolo(&model, &[("painter", &agent.url())]).await;
    let client = world.server.client().with("a2a-version", "1.0");
    let asked = client.post("/message:send", &message("m1", "Paint it")).await.json();
    assert_eq!(asked["task"]["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "{asked:#}");
    let answer = message_to(asked["task"]["id"].as_str().unwrap(), "m2", "red");
    let ended = client.post("/message:send", &answer).await.json();
    assert_eq!(ended["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{ended:#}");
    check_answered(&agent, &model).await;
}

#[tokio::test]
async fn over_the_rest_api() {
    let (agent, model) = (agent(), model());
    let world = Delegating::yolo(&model, &[("painter", &agent.url())]).await;
    let client = world.server.client();
    let created = client.post("/tasks", &json!({})).await.json();
    let task = created["taskId"].as_str().unwrap();
    let prompt = json!({"message": "Paint it"});
    let mut stream = client.post_stream(&format!("/tasks/{task}/execute"), &prompt).await;
    let asked =
        |frame: &SseFrame| frame.data["type"] == "tool_call_update" && frame.data.get("options").is_some();
    let question = stream.until(asked).await.pop().unwrap().data;
    assert!(question["details"].to_string().contains(QUESTION), "{question:#}");
    let wrong =
        json!({"toolCallId": question["toolCallId"], "optionId": "answer", "answers": {"colour": "red"}});
    let refused = client.post(&format!("/tasks/{task}/confirmations"), &wrong).await;
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert!(
        refused.text().contains(r#"has no question \"colour\"; the questions are \"0\" (painter)"#),
        "{}",
        refused.text()
    );
    let answer =
        json!({"toolCallId": question["toolCallId"], "optionId": "answer", "answers": {"Painter": "red"}});
    let taken = client.post(&format!("/tasks/{task}/confirmations"), &answer).await;
    assert_eq!(taken.status, 200, "{}", taken.text());
    assert_eq!(stream.rest().await.last().unwrap().data["state"], "completed");
    check_answered(&agent, &model).await;
}

/// By data, and in words.
#[tokio::test]
async fn over_the_live_endpoint() {
    for in_words in [false, true] {
        let (agent, model) = (agent(), model());
        let launch = yolo_launch(&model, &[("painter", &agent.url())]).argument("--live");
        let server = launch.start().await;
        let client = server.client();
        let session = client.post("/tasks", &json!({})).await.json();
        let path = format!("/tasks/{}/messages/stream", session["sessionId"].as_str().unwrap());
        let mut stream = client.post_stream(&path, &live_message(json!({"text": "Paint it"}))).await;
        let before = stream.until(|frame| frame.payload()["state"] == "input-required").await;
        let question = before.iter().map(SseFrame::payload).find(|event| is_question(event)).unwrap();
        assert!(question["confirmation_request"].to_string().contains(QUESTION), "{question:#}");
        let answer = match in_words {
            true => json!({"text": "red"}),
            false => json!({"data": {
                "kind": "TOOL_CALL_CONFIRMATION", "tool_call_id": question["tool_call_id"],
                "selected_option_id": "answer", "answers": {"0": "red"},
            }}),
        };
        let _rest = client.post_stream(&path, &live_message(answer)).await.rest().await;
        check_answered(&agent, &model).await;
    }
}
