//! Confirmations of calls over the REST API, and what is none.

use std::fs;

use attache_testkit::model_server::ModelServer;
use attache_testkit::model_server::gemini::{calls, says};
use attache_testkit::rest_tasks::{answer, create, is_question, pending};
use attache_testkit::{SseFrame, SseStream, TestClient};
use serde_json::{Value, json};

use crate::agent_world::{launch_with, work};

const TOUCH: &str = "touch made";

pub(super) fn model() -> ModelServer {
    ModelServer::with_responses([calls("run_shell_command", json!({"command": TOUCH})), says("Made.")])
}

/// A task that asks about a call: its id, its stream and the question.
async fn asking_task(client: &TestClient) -> (String, SseStream, Value) {
    let task = create(client, &json!({})).await;
    let prompt = json!({"message": "Make it"});
    let mut stream = client.post_stream(&format!("/tasks/{task}/execute"), &prompt).await;
    let question = stream.until(is_question).await.pop().unwrap().data;
    let seen = client.get(&format!("/tasks/{task}")).await.json();
    assert_eq!(
        seen["pendingConfirmations"][0]["toolCallId"], question["toolCallId"],
        "as soon as it is shown"
    );
    (task, stream, question)
}

fn statuses(frames: &[SseFrame]) -> Vec<String> {
    let calls = frames.iter().filter(|frame| frame.data["type"] == "tool_call_update");
    let mut statuses: Vec<_> = calls.map(|frame| frame.data["status"].as_str().unwrap().to_owned()).collect();
    statuses.dedup();
    statuses
}

#[tokio::test]
async fn a_command_is_confirmed_while_the_stream_stays_open() {
    let model = model();
    let launch = launch_with(&model);
    let server = launch.start().await;
    let client = server.client();
    let (task, mut stream, question) = asking_task(&client).await;
    assert_eq!(
        (&question["status"], &question["toolName"]),
        (&json!("requested"), &json!("run_shell_command"))
    );
    assert_eq!(
        (&question["details"]["kind"], &question["details"]["command"]),
        (&json!("execute"), &json!(TOUCH))
    );
    let seen = pending(&client, &task).await;
    assert_eq!(
        (&seen["state"], &seen["status"]["state"]),
        (&json!("running"), &json!("TASK_STATE_INPUT_REQUIRED"))
    );
    let open = &seen["pendingConfirmations"][0];
    for member in ["toolCallId", "toolName", "options", "details", "arguments"] {
        assert_eq!(open[member], question[member], "{member}");
    }
    let path = format!("/tasks/{task}/confirmations");
    let refused = client.post(&path, &answer(&question, "nonsense")).await;
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert!(refused.text().contains("proceed_once"), "it says what is right: {}", refused.text());
    let taken = client.post(&path, &answer(&question, "proceed_once")).await;
    assert_eq!(taken.status, 200, "{}", taken.text());
    let expected = json!({"taskId": task, "toolCallId": question["toolCallId"], "optionId": "proceed_once",
        "state": "running"});
    assert_eq!(taken.json(), expected);
    let rest = stream.rest().await;
    assert_eq!(statuses(&rest), ["requested", "executing", "completed"], "{rest:#?}");
    assert_eq!(rest[0].data["answer"]["optionId"], "proceed_once", "{rest:#?}");
    assert_eq!(rest.last().unwrap().data["state"], "completed");
    assert!(work(&launch).join("made").exists());
    let late = client.post(&path, &answer(&question, "cancel")).await;
    assert_eq!(late.status, 400, "{}", late.text());
    assert!(late.text().contains("answered already"), "{}", late.text());
    let seen = client.get(&format!("/tasks/{task}")).await.json();
    assert_eq!((&seen["state"], &seen["pendingConfirmations"]), (&json!("completed"), &json!([])));
}

#[tokio::test]
async fn a_client_of_a2a_may_answer_and_the_stream_shows_it() {
    let model = model();
    let launch = launch_with(&model);
    let server = launch.start().await;
    let client = server.client();
    let (task, mut stream, question) = asking_task(&client).await;
    pending(&client, &task).await;
    let message = json!({"messageId": "m-1", "taskId": task, "role": "ROLE_USER", "parts": [
        {"data": {"call": question["toolCallId"], "choice": "cancel"}}]});
    let sent = client.rpc("SendMessage", json!({ "message": message })).await;
    assert!(sent.get("error").is_none(), "{sent:#}");
    let rest = stream.rest().await;
    assert_eq!(rest[0].data["answer"]["optionId"], "cancel", "{rest:#?}");
    assert_eq!(statuses(&rest).last().map(String::as_str), Some("error"), "{rest:#?}");
    let late = client.post(&format!("/tasks/{task}/confirmations"), &answer(&question, "proceed_once")).await;
    assert_eq!(late.status, 400, "{}", late.text());
    assert!(!work(&launch).join("made").exists());
}

#[tokio::test]
async fn an_edit_is_confirmed_with_other_content() {
    let write = calls("write_file", json!({"file_path": "new.txt", "content": "theirs\n"}));
    let model = ModelServer::with_responses([write, says("Written.")]);
    let launch = launch_with(&model);
    let server = launch.start().await;
    let client = server.client();
    let (task, mut stream, question) = asking_task(&client).await;
    assert_eq!(
        (&question["details"]["kind"], &question["details"]["newContent"]),
        (&json!("edit"), &json!("theirs\n"))
    );
    pending(&client, &task).await;
    let mut answer = answer(&question, "proceed_once");
    answer["newContent"] = json!("ours\n");
    let taken = client.post(&format!("/tasks/{task}/confirmations"), &answer).await;
    assert_eq!(taken.status, 200, "{}", taken.text());
    assert_eq!(stream.rest().await.last().unwrap().data["state"], "completed");
    assert_eq!(fs::read_to_string(work(&launch).join("new.txt")).unwrap(), "ours\n");
}

#[tokio::test]
async fn a_confirmation_survives_a_restart() {
    let model = model();
    let launch = launch_with(&model);
    let server = launch.start().await;
    let client = server.client();
    let (task, stream, question) = asking_task(&client).await;
    pending(&client, &task).await;
    drop(stream);
    server.kill().await;
    let server = launch.start().await;
    let client = server.client();
    let seen = pending(&client, &task).await;
    assert_eq!(seen["pendingConfirmations"][0]["toolCallId"], question["toolCallId"]);
    let taken =
        client.post(&format!("/tasks/{task}/confirmations"), &answer(&question, "proceed_once")).await;
    assert_eq!(taken.status, 200, "{}", taken.text());
    loop {
        let seen = client.get(&format!("/tasks/{task}")).await.json();
        if seen["state"] == "completed" {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert!(work(&launch).join("made").exists());
}

#[tokio::test]
async fn a_command_that_asks_shows_its_question_and_goes_on_with_the_answer() {
    let model = model();
    let launch = launch_with(&model);
    let server = launch.start().await;
    let client = server.client();
    let asked = client.post("/commands/memory%20add/execute", &json!({"args": ["we", "test"]})).await.json();
    assert_eq!((&asked["success"], &asked["state"]), (&json!(false), &json!("running")), "{asked}");
    let task = asked["taskId"].as_str().unwrap();
    let question = &asked["pendingConfirmations"][0];
    let path = format!("/tasks/{task}/confirmations");
    let taken = client.post(&path, &answer(question, "proceed_once")).await;
    assert_eq!(taken.status, 200, "{}", taken.text());
    loop {
        let seen = client.get(&format!("/tasks/{task}")).await.json();
        if seen["state"] != "running" {
            assert_eq!(seen["state"], "completed", "{seen}");
            break;
        }
        tokio::task::yield_now().await;
    }
}

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
