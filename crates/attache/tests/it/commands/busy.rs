//! A command for a task that is at work. When commands run is tested in `attache-agent`.

use attache_testkit::model_server::gemini;
use attache_testkit::{CommandEvents, check_command_response};
use serde_json::{Value, json};

use super::world::{World, command};
use crate::agent_world::says;

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
