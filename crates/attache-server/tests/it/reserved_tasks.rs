//! Tasks that clients of Gemini CLI's server ask for with `POST /tasks`, before and around their first message.

use attache_testkit::model_server::gemini::{calls, says};
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use attache_testkit::{SseFrame, TestClient};
use serde_json::{Value, json};

use crate::agent_world::start;

async fn reserved(client: &TestClient) -> String {
    let answer =
        client.post("/tasks", &json!({"contextId": "c1", "agentSettings": {"kind": "agent-settings"}})).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json().as_str().expect("an id").to_owned()
}

fn message(task: &str, id: &str) -> Value {
    json!({"message": {"messageId": id, "taskId": task, "kind": "message", "role": "user",
        "parts": [{"kind": "text", "text": "Hello?"}]}})
}

fn states(frames: &[SseFrame]) -> Vec<String> {
    let state = |frame: &SseFrame| {
        let payload = frame.payload();
        let inner = payload.get("task").or(payload.get("statusUpdate")).unwrap_or(payload);
        inner["status"]["state"].as_str().unwrap_or_default().to_owned()
    };
    frames.iter().map(state).collect()
}

#[tokio::test]
async fn one_that_is_canceled_before_its_first_message_takes_none() {
    let model = ModelServer::with_responses(Vec::<PlannedResponse>::new());
    let (launch, server) = start(&model).await;
    let client = server.client();
    let task = reserved(&client).await;
    let canceled = client.rpc("tasks/cancel", json!({"id": task})).await["result"].clone();
    assert_eq!((&canceled["id"], &canceled["status"]["state"]), (&json!(task), &json!("canceled")));
    let check = async |client: &TestClient| {
        let seen = client.rpc("tasks/get", json!({"id": task})).await["result"].clone();
        assert_eq!(seen["status"]["state"], "canceled", "{seen:#}");
        assert!(seen["history"].as_array().is_none_or(Vec::is_empty), "nobody has said anything: {seen:#}");
        let said = client.rpc("message/send", message(&task, "m1")).await;
        assert_eq!(said["error"]["code"], -32004, "{said:#}");
        let again = client.rpc("tasks/cancel", json!({"id": task})).await;
        assert_eq!(again["error"]["code"], -32002, "{again:#}");
    };
    check(&client).await;
    server.kill().await;
    check(&launch.start().await.client()).await;
    assert!(model.received().is_empty());
}

#[tokio::test]
async fn a_task_that_was_never_reserved_cannot_be_canceled() {
    let model = ModelServer::with_responses(Vec::<PlannedResponse>::new());
    let (_launch, server) = start(&model).await;
    let never = json!({"id": "00000000-0000-4000-8000-000000000000"});
    let answer = server.client().rpc("tasks/cancel", never).await;
    assert_eq!(answer["error"]["code"], -32001, "{answer:#}");
}

#[tokio::test]
async fn a_subscriber_of_1_0_sees_it_before_its_first_message_and_from_there_on() {
    let model = ModelServer::with_responses([says("Hello.")]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let task = reserved(&client).await;
    let mut stream = client.rpc_stream("SubscribeToTask", json!({"id": task})).await;
    let first = stream.next().await.expect("the task");
    assert_eq!(states(&[first]), ["TASK_STATE_SUBMITTED"]);
    client.rpc("message/send", message(&task, "m1")).await;
    let frames = stream.rest().await;
    let states = states(&frames);
    assert_eq!(states.first().map(String::as_str), Some("TASK_STATE_WORKING"), "{frames:#?}");
    assert_eq!(states.last().map(String::as_str), Some("TASK_STATE_INPUT_REQUIRED"), "{frames:#?}");
}

#[tokio::test]
async fn a_subscriber_sees_that_it_is_canceled() {
    let model = ModelServer::with_responses(Vec::<PlannedResponse>::new());
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let task = reserved(&client).await;
    let mut stream = client.rpc_stream("SubscribeToTask", json!({"id": task})).await;
    stream.next().await.expect("the task");
    client.rpc("tasks/cancel", json!({"id": task})).await;
    assert_eq!(states(&stream.rest().await), ["TASK_STATE_CANCELED"]);
}

#[tokio::test]
async fn in_their_dialect_a_stream_ends_with_the_task_when_nothing_goes_on() {
    let model = ModelServer::with_responses([
        says("Hello."),
        calls("run_shell_command", json!({"command": "touch made"})),
    ]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let resubscribe = async |task: &str| {
        let mut stream = client.rpc_stream("tasks/resubscribe", json!({"id": task})).await;
        states(&stream.rest().await)
    };
    let task = reserved(&client).await;
    assert_eq!(resubscribe(&task).await, ["submitted"], "before its first message");
    client.rpc("message/send", message(&task, "m1")).await;
    assert_eq!(resubscribe(&task).await, ["input-required"], "between two turns");
    client.rpc("message/send", message(&task, "m2")).await;
    let asking = client.rpc("tasks/get", json!({"id": task})).await["result"].clone();
    assert!(asking["status"]["message"].to_string().contains("touch made"), "{asking:#}");
    assert_eq!(resubscribe(&task).await, ["input-required"], "while it asks");
    // In 1.0 a subscriber waits for what comes.
    let mut stream = client.rpc_stream("SubscribeToTask", json!({"id": task})).await;
    assert_eq!(states(&[stream.next().await.expect("the task")]), ["TASK_STATE_INPUT_REQUIRED"]);
    client.rpc("tasks/cancel", json!({"id": task})).await;
    assert_eq!(states(&stream.rest().await).last().map(String::as_str), Some("TASK_STATE_CANCELED"));
}
