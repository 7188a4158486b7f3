//! `kill -9` in every state of a coding task, and a new start: nothing is lost, and nothing is done twice.

mod children;
mod commands;
mod failpoints;
pub(crate) mod randomly;
mod starting;
mod storm;

use std::fs;

use attache_testkit::model_server::{ModelServer, gemini};
use serde_json::json;

use crate::agent_world::{answer_text, calls, launch_with, reply, says, send, start, state, work};
use crate::support::{message, message_to};
use crate::watching::{
    artifact, asked, batch, check, drop_in, message_in, open, outputs, reaches, silent, stuck, task, told,
};

#[tokio::test]
async fn before_the_model_says_anything_it_is_asked_again() {
    let model = ModelServer::with_responses([silent(), says("Here.")]);
    let (launch, server) = start(&model).await;
    let (id, _stream) = open(&server.client(), "m1", "Hello?").await;
    asked(&model, 1).await;
    server.kill().await;
    let server = launch.start().await;
    let done = reaches(&server.client(), &id, "COMPLETED").await;
    assert_eq!(answer_text(&done), "Here.");
    let requests = model.received();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].json()["contents"], requests[1].json()["contents"], "it is told the same");
}

#[tokio::test]
async fn in_the_middle_of_an_answer_what_was_said_is_taken_back_and_begun_again() {
    let model = ModelServer::with_responses([stuck("Half"), says("Whole.")]);
    let (launch, server) = start(&model).await;
    let (id, mut stream) = open(&server.client(), "m1", "Hello?").await;
    stream.until(|frame| frame.raw.contains("Half")).await;
    server.kill().await;
    let server = launch.start().await;
    let client = server.client();
    let done = reaches(&client, &id, "COMPLETED").await;
    assert_eq!((answer_text(&done).as_str(), artifact(&done, "answer-1").as_str()), ("Whole.", "Whole."));
    let client = client.with("last-event-id", "1");
    let replayed = client.rpc_stream("SendStreamingMessage", message("m1", "Hello?")).await.rest().await;
    check(
        &replayed,
        &[
            "task SUBMITTED",
            "WORKING",
            "answer-1 = Half",
            "answer-1 = ",
            "answer-1 = Whole.",
            "answer-1 +  (.)",
            "COMPLETED",
        ],
    );
}

#[tokio::test]
async fn what_the_model_said_in_whole_answers_of_the_turn_stays() {
    let read = gemini::answer([gemini::chunk()
        .text("First. ")
        .call("read_file", json!({"file_path": "hello.txt"}))
        .finish("STOP")
        .usage(1, 1)]);
    let model = ModelServer::with_responses([read, stuck("Half"), says("Whole.")]);
    let (launch, server) = start(&model).await;
    let (id, mut stream) = open(&server.client(), "m1", "Hello?").await;
    stream.until(|frame| frame.raw.contains("Half")).await;
    server.kill().await;
    let server = launch.start().await;
    let done = reaches(&server.client(), &id, "COMPLETED").await;
    assert_eq!(answer_text(&done), "First. Whole.");
    assert_eq!(model.received().len(), 3, "the first answer and what was read are known");
    assert!(outputs(&model)[0].1.contains("Second line."));
}

#[tokio::test]
async fn while_it_waits_for_a_busy_model_it_is_asked_again_at_once() {
    let busy = gemini::error_with_delay(429, "RESOURCE_EXHAUSTED", "slow down", "200s");
    let model = ModelServer::with_responses([busy, says("Here.")]);
    let (launch, server) = start(&model).await;
    let (id, mut stream) = open(&server.client(), "m1", "Hello?").await;
    stream.until(|frame| frame.raw.contains("trying again in")).await;
    server.kill().await;
    let server = launch.start().await;
    let done = reaches(&server.client(), &id, "COMPLETED").await;
    assert_eq!(answer_text(&done), "Here.");
}

#[tokio::test]
async fn with_a_message_in_the_queue_both_are_answered_in_order() {
    let model = ModelServer::with_responses([stuck("Half"), says("One."), says("Two.")]);
    let (launch, server) = start(&model).await;
    let client = server.client();
    let (id, mut stream) = open(&client, "m1", "First").await;
    stream.until(|frame| frame.raw.contains("Half")).await;
    drop_in(&client, message_to(&id, "m2", "Second")).await;
    stream.until(|frame| frame.raw.contains("queued")).await;
    server.kill().await;
    let server = launch.start().await;
    let client = server.client();
    let done = reaches(&client, &id, "COMPLETED").await;
    let history = done["history"].as_array().unwrap();
    let said: Vec<_> = history.iter().map(|message| message["parts"][0]["text"].as_str().unwrap()).collect();
    assert_eq!(said, ["First", "One.", "Second", "Two."]);
    assert_eq!(model.received().len(), 3);
    // The client that does not know whether its message arrived sends it again.
    let again = client.rpc("SendMessage", message_to(&id, "m2", "Second")).await;
    assert_eq!(model.received().len(), 3, "{again}");
}

#[tokio::test]
async fn while_it_asks_what_was_answered_counts_and_the_rest_is_still_asked() {
    let run = |name: &str| ("run_shell_command", json!({"command": format!("echo ran >> {name}")}));
    let model = ModelServer::with_responses([batch([run("one"), run("two")]), says("Both.")]);
    let (launch, server) = start(&model).await;
    let client = server.client();
    let task = send(&client, "m1", "Run!").await;
    let question = task["status"]["message"]["parts"][0]["text"].as_str().unwrap().to_owned();
    let ids: Vec<_> =
        question.split("run_shell_command (").skip(1).map(|it| it.split_once(')').unwrap().0).collect();
    let half = reply(&client, "m2", &task, &format!("{}: yes", ids[1])).await;
    assert_eq!(state(&half), "TASK_STATE_INPUT_REQUIRED", "{half:#}");
    server.kill().await;
    let server = launch.start().await;
    let client = server.client();
    let id = task["id"].as_str().unwrap();
    let still = reaches(&client, id, "INPUT_REQUIRED").await;
    assert!(still["status"]["message"].to_string().contains(ids[0]), "{still:#}");
    assert!(!work(&launch).join("one").exists() && !work(&launch).join("two").exists());
    let twice = reply(&client, "m3", &task, &format!("{}: yes", ids[1])).await;
    assert_eq!(twice["error"]["code"], -32602, "it has been answered: {twice:#}");
    let done = reply(&client, "m4", &task, &format!("{}: yes", ids[0])).await;
    assert_eq!(state(&done), "TASK_STATE_COMPLETED", "{done:#}");
    for name in ["one", "two"] {
        assert_eq!(fs::read_to_string(work(&launch).join(name)).unwrap(), "ran\n", "{name}");
    }
}

#[tokio::test]
async fn between_the_answer_and_the_call_the_call_still_runs_once() {
    let run = calls("run_shell_command", json!({"command": "echo ran >> runs"}));
    let model = ModelServer::with_handler(move |received| {
        let told = received.json()["contents"].to_string();
        match (told.contains("Second"), told.contains("functionResponse")) {
            (true, false) => stuck("Half"),
            (_, true) => says("Ran."),
            (false, false) => run.clone(),
        }
    });
    let (launch, server) = start(&model).await;
    let client = server.client();
    let first = send(&client, "m1", "First").await;
    assert_eq!(state(&first), "TASK_STATE_INPUT_REQUIRED");
    // While another task of the conversation is at work, the approved call has to wait.
    let second = drop_in(&client, message_in(&first["contextId"], "m2", "Second")).await;
    asked(&model, 2).await;
    let id = first["id"].as_str().unwrap();
    drop_in(&client, message_to(id, "m3", "yes")).await;
    assert!(!work(&launch).join("runs").exists());
    server.kill().await;
    let server = launch.start().await;
    let client = server.client();
    client.rpc("CancelTask", json!({"id": second["id"]})).await;
    let done = reaches(&client, id, "COMPLETED").await;
    assert_eq!(answer_text(&done), "Ran.");
    assert_eq!(fs::read_to_string(work(&launch).join("runs")).unwrap(), "ran\n");
}

#[tokio::test]
async fn after_a_call_and_before_the_model_hears_of_it_it_is_told_and_the_call_not_repeated() {
    let run = calls("run_shell_command", json!({"command": "echo ran >> runs; cat runs"}));
    let model = ModelServer::with_responses([run, silent(), says("It ran.")]);
    let launch = launch_with(&model).argument("--approval-mode").argument("yolo");
    let server = launch.start().await;
    let (id, _stream) = open(&server.client(), "m1", "Run!").await;
    asked(&model, 2).await;
    let before = told(&model);
    server.kill().await;
    let server = launch.start().await;
    let done = reaches(&server.client(), &id, "COMPLETED").await;
    assert_eq!(answer_text(&done), "It ran.");
    assert_eq!(told(&model), before, "it is told the same");
    assert_eq!(fs::read_to_string(work(&launch).join("runs")).unwrap(), "ran\n");
}

#[tokio::test]
async fn all_tasks_of_one_conversation_go_on() {
    let model = ModelServer::with_responses([stuck("Half"), says("One."), says("Two.")]);
    let (launch, server) = start(&model).await;
    let client = server.client();
    let (first, mut stream) = open(&client, "m1", "First").await;
    stream.until(|frame| frame.raw.contains("Half")).await;
    let context = task(&client, &first).await["contextId"].clone();
    let second = drop_in(&client, message_in(&context, "m2", "Second")).await;
    assert_eq!(state(&second), "TASK_STATE_SUBMITTED");
    server.kill().await;
    let server = launch.start().await;
    let client = server.client();
    let first = reaches(&client, &first, "COMPLETED").await;
    let second = reaches(&client, second["id"].as_str().unwrap(), "COMPLETED").await;
    assert_eq!([answer_text(&first), answer_text(&second)], ["One.", "Two."], "in their order");
    assert_eq!(model.received().len(), 3);
    let told = model.received()[2].json()["contents"].to_string();
    assert!(told.contains("One."), "whoever comes later knows what was said: {told}");
}

#[tokio::test]
async fn while_the_conversation_is_being_shortened_it_is_shortened_again() {
    let read = gemini::answer([gemini::chunk()
        .call("read_file", json!({"file_path": "hello.txt"}))
        .finish("STOP")
        .usage(1_000_000, 10)]);
    let summary = says("<state_snapshot>They want hello.txt.</state_snapshot>");
    let model = ModelServer::with_responses([read, silent(), summary, says("It greets.")]);
    let (launch, server) = start(&model).await;
    let (id, _stream) = open(&server.client(), "m1", "Read hello.txt").await;
    asked(&model, 2).await;
    server.kill().await;
    let server = launch.start().await;
    let done = reaches(&server.client(), &id, "COMPLETED").await;
    assert_eq!(answer_text(&done), "It greets.");
    let told = model.received().last().unwrap().json()["contents"].to_string();
    assert!(told.contains("They want hello.txt."), "{told}");
}
