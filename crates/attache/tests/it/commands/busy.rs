//! A command for a task that is at work, or that waits for a person.

use attache_testkit::model_server::gemini;
use attache_testkit::{CommandEvents, check_command_response};
use serde_json::{Value, json};

use super::world::{World, command};
use crate::agent_world::{calls, says};

fn to_task(task: &str, line: &str) -> Value {
    let mut params = command(line);
    params["taskId"] = task.into();
    params
}

fn said(id: &str, text: &str) -> Value {
    json!({"message": {"messageId": id, "contextId": "talk", "kind": "message", "role": "user",
        "parts": [{"kind": "text", "text": text}]}})
}

#[tokio::test]
async fn a_command_waits_for_the_turn_under_way() {
    let slow = gemini::answer([gemini::chunk().text("One ")]).hold().then(says("two."));
    let world = World::playing([slow]).await;
    let mut stream = world.client().rpc_stream("message/stream", said("m1", "Count")).await;
    let begun = stream.until(|frame| frame.payload().to_string().contains("One ")).await;
    let task = begun[0].payload()["id"].as_str().unwrap().to_owned();
    let client = world.client().with("accept", "text/event-stream");
    let mut watching = client.rpc_stream("command/execute", to_task(&task, "/memory list")).await;
    let first = watching.next().await.unwrap();
    let response = check_command_response(first.payload());
    assert_eq!((&response["status"], &response["execution_id"]), (&json!("STARTED"), &json!(task)));
    assert!(response["message"].as_str().unwrap().contains("queued"), "{response:#}");
    world.model.release();
    let told = CommandEvents::of_message(watching.rest().await);
    assert!(told.text().ends_with("There are no context files."), "{}", told.text());
    assert_eq!(told.state(), "completed");
    let task = world.task(&task).await;
    let texts: Vec<_> =
        task["history"].as_array().unwrap().iter().map(|it| it["parts"][0]["text"].clone()).collect();
    assert_eq!(texts, ["Count", "One two.", "/memory list", "There are no context files."], "{task:#}");
    assert_eq!(world.model.received().len(), 1);
}

#[tokio::test]
async fn a_command_is_no_answer_to_a_question() {
    let world =
        World::playing([calls("run_shell_command", json!({"command": "touch made"})), says("Made.")]).await;
    let asked = world.say_in("talk", "m1", "Make it").await;
    assert_eq!(asked.state(), "input-required");
    let response = world.give(to_task(asked.task(), "/memory list")).await;
    assert_eq!(response["status"], "STARTED", "{response:#}");
    assert!(response["message"].as_str().unwrap().contains("queued"), "{response:#}");
    assert_eq!(world.task(asked.task()).await["status"]["state"], "input-required");
    let told = world.answer(&asked, "proceed_once").await;
    assert!(world.file("made").is_some());
    assert!(told.text().contains("Made."), "{}", told.text());
    let settled = crate::agent_world::settled(&world.server.client(), asked.task()).await;
    let text = settled["history"].to_string();
    assert!(text.contains("There are no context files."), "{settled:#}");
}

#[tokio::test]
async fn a_command_waits_for_the_other_turns_of_its_conversation() {
    let slow = gemini::answer([gemini::chunk().text("One ")]).hold().then(says("two."));
    let world = World::playing([slow]).await;
    let mut stream = world.client().rpc_stream("message/stream", said("m1", "Count")).await;
    stream.until(|frame| frame.payload().to_string().contains("One ")).await;
    let mut params = command("/stats");
    params["contextId"] = "talk".into();
    let response = world.give(params).await;
    assert_eq!(response["status"], "STARTED");
    let id = response["execution_id"].as_str().unwrap();
    assert_eq!(world.task(id).await["status"]["state"], "submitted");
    world.model.release();
    let settled = crate::agent_world::settled(&world.server.client(), id).await;
    assert!(settled["history"].to_string().contains("Answers: 1"), "{settled:#}");
}

#[tokio::test]
async fn a_command_can_be_canceled() {
    let world = World::silent().await;
    let asked = world.line("/memory add tabs").await;
    let canceled = world.client().rpc("tasks/cancel", json!({"id": asked.task()})).await;
    assert_eq!(canceled["result"]["status"]["state"], "canceled", "{canceled:#}");
    assert_eq!(world.file("GEMINI.md"), None);
}
