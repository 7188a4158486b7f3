//! A task can be cancelled whatever it does: it ends at once, takes everything with it, and is never taken up again.

use std::fs;

use attache_testkit::agent_client::{
    artifact, check, drop_in, message_in, message_to, open, reaches, reply, send, state, task,
};
use attache_testkit::canceled_tasks::{cancel, is_over};
use attache_testkit::model_requests::asked;
use attache_testkit::model_server::gemini::{batch, calls, says, silent, stuck};
use attache_testkit::model_server::{ModelServer, gemini};
use attache_tool::policy::PolicyMode;
use serde_json::json;

use crate::agent_world::{launch_with, start, work};

#[tokio::test]
async fn before_the_model_says_anything() {
    let model = ModelServer::with_responses([silent()]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let (id, mut stream) = open(&client, "m1", "Hello?").await;
    asked(&model, 1).await;
    cancel(&client, &id).await;
    model.until_abandoned().await;
    check(&stream.rest().await, &["WORKING", "CANCELED"]);
    is_over(&client, &model, &id).await;
}

#[tokio::test]
async fn in_the_middle_of_an_answer() {
    let model = ModelServer::with_responses([stuck("Half an")]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let (id, mut stream) = open(&client, "m1", "Hello?").await;
    stream.until(|frame| frame.raw.contains("Half an")).await;
    let canceled = cancel(&client, &id).await;
    assert_eq!(artifact(&canceled, "answer-1"), "Half an", "what was said was said");
    model.until_abandoned().await;
    check(&stream.rest().await, &["CANCELED"]);
    is_over(&client, &model, &id).await;
}

#[tokio::test]
async fn while_the_model_is_waited_for() {
    let busy = gemini::error_with_delay(429, "RESOURCE_EXHAUSTED", "slow down", "200s");
    let model = ModelServer::with_responses([busy]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let (id, mut stream) = open(&client, "m1", "Hello?").await;
    stream.until(|frame| frame.raw.contains("trying again in")).await;
    cancel(&client, &id).await;
    check(&stream.rest().await, &["CANCELED"]);
    is_over(&client, &model, &id).await;
}

#[tokio::test]
async fn while_a_question_is_open() {
    let touch = |name: &str| ("run_shell_command", json!({"command": format!("touch {name}")}));
    let model = ModelServer::with_responses([batch([touch("one"), touch("two")])]);
    let (launch, server) = start(&model).await;
    let client = server.client();
    let asked = send(&client, "m1", "Run!").await;
    assert_eq!(state(&asked), "TASK_STATE_INPUT_REQUIRED");
    let id = asked["id"].as_str().unwrap();
    cancel(&client, id).await;
    is_over(&client, &model, id).await;
    assert!(!work(&launch).join("one").exists() && !work(&launch).join("two").exists());
}

#[tokio::test]
async fn after_an_edit_the_changes_are_shown_all_the_same() {
    let edit = json!({"file_path": "hello.txt", "instruction": "greet", "old_string": "world", "new_string": "moon"});
    let model = ModelServer::with_responses([calls("replace", edit), silent()]);
    let launch = launch_with(&model).mode(PolicyMode::Yolo);
    let server = launch.start().await;
    let client = server.client();
    let (id, mut stream) = open(&client, "m1", "Greet the moon").await;
    asked(&model, 2).await;
    cancel(&client, &id).await;
    let canceled = task(&client.with("A2A-Extensions", attache_wire::devtool::URI), &id).await;
    let changes = artifact(&canceled, "changes-1");
    assert!(changes.contains("--- a/hello.txt\n") && changes.contains("+Hello, moon."), "{changes}");
    let last = stream.rest().await.pop().unwrap();
    assert!(last.raw.contains("CANCELED"), "{}", last.raw);
    is_over(&client, &model, &id).await;
}

#[tokio::test]
async fn a_queued_message_of_a_cancelled_task_is_not_answered() {
    let model = ModelServer::with_responses([stuck("Half an")]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let (id, mut stream) = open(&client, "m1", "Hello?").await;
    stream.until(|frame| frame.raw.contains("Half an")).await;
    drop_in(&client, message_to(&id, "m2", "And another thing")).await;
    stream.until(|frame| frame.raw.contains("queued")).await;
    cancel(&client, &id).await;
    is_over(&client, &model, &id).await;
}

#[tokio::test]
async fn while_it_waits_for_another_task_of_its_conversation() {
    let model = ModelServer::with_responses([stuck("One").then(says("."))]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let (first, mut stream) = open(&client, "m1", "First").await;
    stream.until(|frame| frame.raw.contains("One")).await;
    let context = task(&client, &first).await["contextId"].clone();
    let second = drop_in(&client, message_in(&context, "m2", "Second")).await;
    let second = second["id"].as_str().unwrap();
    cancel(&client, second).await;
    model.release();
    reaches(&client, &first, "COMPLETED").await;
    is_over(&client, &model, second).await;
}

#[tokio::test]
async fn an_answer_that_comes_with_the_cancel_is_taken_or_refused_and_never_half_done() {
    let model =
        ModelServer::with_responses([calls("run_shell_command", json!({"command": "echo ran >> runs"}))]);
    let (launch, server) = start(&model).await;
    let client = server.client();
    let asked = send(&client, "m1", "Run!").await;
    let id = asked["id"].as_str().unwrap();
    model.plan(silent());
    let (answered, canceled) = tokio::join!(
        drop_in(&client, message_to(id, "m2", "yes")),
        client.rpc("CancelTask", json!({"id": id})),
    );
    assert_eq!(state(&canceled["result"]), "TASK_STATE_CANCELED", "{answered:#}");
    let refused = reply(&client, "m3", &asked, "yes").await;
    // The task is over; where the first answer was taken, that is said instead.
    let code = refused["error"]["code"].as_i64();
    assert!(matches!(code, Some(-32004 | -32602)), "{refused:#}");
    let runs = fs::read_to_string(work(&launch).join("runs")).unwrap_or_default();
    assert!(runs.lines().count() <= 1, "{runs}");
    assert!(model.received().len() <= 2);
}
