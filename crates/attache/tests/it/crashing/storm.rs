//! `kill -9` again and again while several clients have tasks at work. A file outside the log counts the effects: each has
//! to be there once.
//!
//! `ATTACHE_TEST_SEED=7` plays one course again; `ATTACHE_TEST_KILLS=200` tries harder.

use std::fs;
use std::time::{Duration, Instant};

use attache_testkit::model_server::{ModelServer, PlannedResponse, ReceivedRequest, gemini};
use attache_testkit::{ServerLaunch, TestClient, WAIT_TIMEOUT};
use futures_util::future::join_all;
use serde_json::json;
use tokio::time::{interval, timeout};

use super::randomly::{Chance, announced_seed, parts, wanted};
use crate::agent_world::{answer_text, launch_with, state, work};
use crate::support::{message, message_to};
use crate::watching::{drop_in, replay, task};

const TASKS: usize = 4;
const CALLS: usize = 6;

#[tokio::test]
async fn with_several_tasks_at_work_nothing_is_lost_and_nothing_done_twice() {
    let mut chance = Chance(announced_seed());
    let kills = wanted("ATTACHE_TEST_KILLS").unwrap_or(10);
    let model = ModelServer::with_handler(next_answer);
    let launch = launch_with(&model).argument("--approval-mode").argument("yolo");
    let mut server = launch.start().await;
    let mut ids = Vec::new();
    for name in 0..TASKS {
        let opened =
            drop_in(&server.client(), message(&format!("open-{name}"), &format!("Name: {name};"))).await;
        ids.push(opened["id"].as_str().unwrap().to_owned());
    }
    for _ in 0..kills {
        let pause = Duration::from_micros(chance.below(250_000));
        if timeout(pause, drive_all(&launch, &server.client(), &ids)).await.is_ok() {
            break;
        }
        server.kill().await;
        server = launch.start().await;
    }
    let client = server.client();
    drive_all(&launch, &client, &ids).await;
    let ledger = fs::read_to_string(work(&launch).join("ledger")).unwrap();
    let mut effects: Vec<&str> = ledger.lines().collect();
    effects.sort_unstable();
    let mut expected: Vec<String> =
        (0..TASKS).flat_map(|name| (0..CALLS).map(move |number| format!("{name}:{number}"))).collect();
    expected.sort_unstable();
    assert_eq!(effects, expected, "every effect once");
    for (name, id) in ids.iter().enumerate() {
        let done = task(&client, id).await;
        assert_eq!(answer_text(&done), format!("{name} is done."), "{done:#}");
        let numbers: Vec<_> = replay(&client, id).await.iter().map(|frame| frame.id.unwrap()).collect();
        assert!(numbers.is_sorted_by(|before, after| before < after), "{numbers:?}");
    }
}

/// Which answer comes next can be told from how many results the model has seen, so a new start changes nothing.
fn next_answer(received: &ReceivedRequest) -> PlannedResponse {
    let request = received.json();
    let told = request["contents"].to_string();
    let name = told.split_once("Name: ").unwrap().1.split_once(';').unwrap().0.to_owned();
    let number = parts(&request, "functionResponse");
    if number == CALLS {
        return gemini::answer([gemini::chunk()
            .text(&format!("{name} is done."))
            .finish("STOP")
            .usage(9, 1)]);
    }
    // Commands of every other call are not confined. All of them take a while, so that kills fall into them.
    let command = format!("sleep 0.0{number}; echo {name}:{number} >> ledger; sleep 0.0{number}");
    let input = json!({"command": command, "unconfined": number % 2 == 1});
    gemini::answer([gemini::chunk().call("run_shell_command", input).finish("STOP").usage(9, 1)])
        .pause(Duration::from_millis(2))
}

async fn drive_all(launch: &ServerLaunch, client: &TestClient, ids: &[String]) {
    join_all(ids.iter().map(|id| drive(launch, client, id))).await;
}

/// Answers questions like a person who checks the effect, until the task is finished.
async fn drive(launch: &ServerLaunch, client: &TestClient, id: &str) {
    let mut ticks = interval(Duration::from_millis(10));
    let begun = Instant::now();
    loop {
        let task = task(client, id).await;
        assert!(begun.elapsed() < WAIT_TIMEOUT * 2, "it does not end: {task:#}");
        match state(&task).trim_start_matches("TASK_STATE_") {
            "COMPLETED" => return,
            "INPUT_REQUIRED" => {
                let asked = &task["status"]["message"];
                let question = asked["parts"][0]["text"].as_str().unwrap();
                let message_id = format!("answer-to-{}", asked["messageId"].as_str().unwrap());
                client.rpc("SendMessage", message_to(id, &message_id, look(launch, question))).await;
            }
            "WORKING" | "SUBMITTED" => {}
            other => panic!("{other}: {task:#}"),
        }
        ticks.tick().await;
    }
}

/// Has the lost call taken effect? Nothing of it runs any more, so what is there stays.
fn look(launch: &ServerLaunch, question: &str) -> &'static str {
    let (_, after) = question.split_once("; echo ").unwrap_or_else(|| panic!("{question}"));
    let effect = after.split_once(" >>").unwrap().0;
    let ledger = fs::read_to_string(work(launch).join("ledger")).unwrap_or_default();
    match ledger.lines().any(|line| line == effect) {
        true => "skip",
        false if question.contains("run_again") => "run_again",
        false => "proceed_once",
    }
}
