//! `kill -9` at named points between the record of a call's start, its processes and the record of its end.
//!
//! At each of them the effect happens at most once, and a person is asked exactly when it may have happened unseen.

use std::fs;

use attache_testkit::model_server::{ModelServer, PlannedResponse, ReceivedRequest};
use serde_json::json;

use crate::agent_world::{answer_text, calls, launch_with, reply, says, state, work};
use crate::support::message;
use crate::watching::{drop_in, outputs, reaches};

/// What a new start finds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    /// The call is not known to have started: it runs now, without a question.
    RunsNow,
    Asks {
        ran: Ran,
    },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ran {
    No,
    Yes,
    AtMostOnce,
}

fn next_answer(received: &ReceivedRequest) -> PlannedResponse {
    match received.json()["contents"].to_string().contains("functionResponse") {
        false => calls("run_shell_command", json!({"command": "echo ran >> runs"})),
        true => says("Done."),
    }
}

async fn check(point: &str, then: Then) {
    let model = ModelServer::with_handler(next_answer);
    let launch = launch_with(&model).argument("--approval-mode").argument("yolo");
    let runs = || fs::read_to_string(work(&launch).join("runs")).unwrap_or_default().lines().count();
    let server = launch.start_until(point).await;
    let opened = drop_in(&server.client(), message("m1", "Run!")).await;
    let id = opened["id"].as_str().unwrap();
    server.wait_for_exit().await;
    let server = launch.start().await;
    let client = server.client();
    let ran = match then {
        Then::RunsNow => {
            let done = reaches(&client, id, "COMPLETED").await;
            assert_eq!(answer_text(&done), "Done.", "{point}");
            assert_eq!(runs(), 1, "{point}");
            return;
        }
        Then::Asks { ran } => ran,
    };
    let task = reaches(&client, id, "INPUT_REQUIRED").await;
    let question = task["status"]["message"]["parts"][0]["text"].as_str().unwrap();
    assert!(question.contains("not known whether it took effect"), "{point}: {question}");
    let before = runs();
    let as_expected = match ran {
        Ran::No => before == 0,
        Ran::Yes => before == 1,
        Ran::AtMostOnce => before <= 1,
    };
    assert!(as_expected, "{point}: it ran {before} times");
    let done = reply(&client, "m2", &task, "skip").await;
    assert_eq!((state(&done), answer_text(&done).as_str()), ("TASK_STATE_COMPLETED", "Done."), "{point}");
    assert_eq!(runs(), before, "{point}: nothing takes effect later");
    assert!(outputs(&model)[0].1.contains("not known whether"), "{point}");
}

#[tokio::test]
async fn before_the_start_is_durable_the_call_runs_after_all() {
    check("call-recorded", Then::RunsNow).await;
}

#[tokio::test]
async fn once_the_start_is_durable_a_person_is_asked_although_nothing_ran() {
    check("call-durable", Then::Asks { ran: Ran::No }).await;
}

#[tokio::test]
async fn once_the_process_is_there_a_person_is_asked_and_it_runs_no_further() {
    check("command-spawned", Then::Asks { ran: Ran::AtMostOnce }).await;
}

#[tokio::test]
async fn when_the_process_has_ended_a_person_is_asked_and_it_has_run() {
    check("call-ended", Then::Asks { ran: Ran::Yes }).await;
}

#[tokio::test]
async fn until_the_end_is_durable_a_person_is_asked() {
    check("call-end-recorded", Then::Asks { ran: Ran::Yes }).await;
}
