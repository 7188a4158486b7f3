//! `kill -9` at any moment of a task with ten calls, again and again.
//!
//! `ATTACHE_TEST_SEED=7` plays one course again; `ATTACHE_TEST_KILLS=200` tries harder.

use std::fs;
use std::time::{Duration, Instant};

use attache_testkit::model_server::{ModelServer, PlannedResponse, ReceivedRequest, gemini};
use attache_testkit::{ServerLaunch, TestClient, WAIT_TIMEOUT};
use serde_json::{Value, json};
use tokio::time::{interval, timeout};

use crate::agent_world::{answer_text, launch_with, state, work};
use crate::support::{message, message_to};
use crate::watching::{artifact, drop_in, is_question, replay, task};

const CALLS: usize = 10;

#[tokio::test]
async fn at_any_moment_nothing_is_lost_and_nothing_done_twice() {
    check("yolo").await;
}

#[tokio::test]
async fn at_any_moment_of_a_task_that_asks_a_lot_no_approval_is_lost_and_none_used_twice() {
    check("default").await;
}

async fn check(mode: &str) {
    let mut chance = Chance(announced_seed());
    let kills = wanted("ATTACHE_TEST_KILLS").unwrap_or(15);
    let model = ModelServer::with_handler(next_answer);
    let launch = launch_with(&model).argument("--approval-mode").argument(mode);
    fs::write(work(&launch).join("counter.txt"), "count 0\n").unwrap();
    let mut server = launch.start().await;
    let opened = drop_in(&server.client(), message("m1", "Ten things, please")).await;
    let id = opened["id"].as_str().unwrap();
    let mut killed = 0;
    for _ in 0..kills {
        let pause = Duration::from_micros(chance.below(90_000));
        let done = timeout(pause, drive(&launch, &server.client(), id)).await;
        if done.is_ok() {
            break;
        }
        server.kill().await;
        killed += 1;
        server = launch.start().await;
    }
    let client = server.client();
    drive(&launch, &client, id).await;
    assert!(killed > 0, "it was over before the first kill");
    check_effects(&launch);
    check_log(&client, id).await;
    check_told(&model.received().last().unwrap().json());
}

/// Which answer comes next can be told from how many results the model has seen, so a new start changes nothing.
fn next_answer(received: &ReceivedRequest) -> PlannedResponse {
    let number = parts(&received.json(), "functionResponse");
    let pause = Duration::from_millis(2);
    let begun = gemini::answer([gemini::chunk().text(&format!("{number}"))]).pause(pause);
    if number == CALLS {
        return begun.then(gemini::answer([gemini::chunk().text(".").finish("STOP").usage(9, 1)]));
    }
    let (name, input) = call(number);
    let rest = gemini::chunk().text(", ").call(name, input).finish("STOP").usage(9, 1);
    begun.then(gemini::answer([rest]).pause(pause))
}

fn call(number: usize) -> (&'static str, Value) {
    let round = number / 3;
    match number % 3 {
        0 => ("run_shell_command", json!({"command": format!("echo {number} >> log")})),
        1 => (
            "replace",
            json!({"file_path": "counter.txt", "instruction": "count", "old_string": format!("count {round}"),
                "new_string": format!("count {}", round + 1)}),
        ),
        _ => ("read_file", json!({"file_path": "counter.txt"})),
    }
}

/// Answers questions like a person who checks the effect, until the task is finished.
async fn drive(launch: &ServerLaunch, client: &TestClient, id: &str) {
    let mut ticks = interval(Duration::from_millis(3));
    let begun = Instant::now();
    loop {
        let task = task(client, id).await;
        assert!(begun.elapsed() < WAIT_TIMEOUT * 2, "it does not end: {task:#}");
        match state(&task).trim_start_matches("TASK_STATE_") {
            "COMPLETED" => return,
            "INPUT_REQUIRED" => {
                let asked = &task["status"]["message"];
                let verdict = look(launch, asked["parts"][0]["text"].as_str().unwrap());
                // One answer for each question, also when it is not known whether it arrived.
                let message_id = format!("answer-to-{}", asked["messageId"].as_str().unwrap());
                client.rpc("SendMessage", message_to(id, &message_id, verdict)).await;
            }
            "WORKING" | "SUBMITTED" => {}
            other => panic!("{other}: {task:#}"),
        }
        ticks.tick().await;
    }
}

/// Has the lost call taken effect?
fn look(launch: &ServerLaunch, question: &str) -> &'static str {
    let read = |name: &str| fs::read_to_string(work(launch).join(name)).unwrap_or_default();
    let took_effect = match question.split_once("\n+count ") {
        Some((_, after)) => read("counter.txt").starts_with(&format!("count {}", &after[..1])),
        None => {
            let (_, after) = question.split_once("\necho ").unwrap_or_else(|| panic!("{question}"));
            read("log").lines().any(|line| line == &after[..1])
        }
    };
    let is_lost = question.contains("not known whether it took effect");
    match took_effect {
        true => "skip",
        false if is_lost => "run_again",
        false => "proceed_once",
    }
}

fn check_effects(launch: &ServerLaunch) {
    assert_eq!(fs::read_to_string(work(launch).join("log")).unwrap(), "0\n3\n6\n9\n");
    assert_eq!(fs::read_to_string(work(launch).join("counter.txt")).unwrap(), "count 3\n");
}

async fn check_log(client: &TestClient, id: &str) {
    let said: String = (0..CALLS).map(|number| format!("{number}, ")).collect();
    let said = format!("{said}{CALLS}.");
    let task = task(client, id).await;
    let answer = artifact(&task, "answer-1");
    assert_eq!(answer_text(&task), answer);
    assert_eq!(answer, said);
    let history = task["history"].as_array().unwrap();
    let people = history.iter().filter(|message| message["role"] == "ROLE_USER").count();
    assert_eq!(people, 1, "answers to questions are no messages: {history:#?}");
    let frames = replay(client, id).await;
    let ids: Vec<_> = frames.iter().map(|frame| frame.id.unwrap()).collect();
    assert!(ids.is_sorted_by(|before, after| before < after), "{ids:?}");
    let asked = frames.iter().filter(|frame| is_question(frame)).count();
    let kept =
        history.iter().filter(|message| message["messageId"].as_str().unwrap().starts_with("ask-")).count();
    assert_eq!(asked, kept, "every question is in the history");
    let status = &frames.last().unwrap().payload()["statusUpdate"]["status"];
    assert_eq!(*status, task["status"]);
}

/// Every call has been told once, with one result.
fn check_told(request: &Value) {
    assert_eq!((parts(request, "functionCall"), parts(request, "functionResponse")), (CALLS, CALLS));
}

pub(crate) fn parts(request: &Value, member: &str) -> usize {
    let contents = request["contents"].as_array().cloned().unwrap_or_default();
    let parts = contents.iter().flat_map(|content| content["parts"].as_array().unwrap());
    parts.filter(|part| part.get(member).is_some()).count()
}

/// The seed that is wanted, or any.
#[expect(clippy::print_stderr, reason = "a course that fails is played again by its seed")]
pub(crate) fn announced_seed() -> u64 {
    let seed = wanted("ATTACHE_TEST_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    eprintln!("ATTACHE_TEST_SEED={seed}");
    seed
}

pub(crate) fn wanted(name: &str) -> Option<u64> {
    #[expect(clippy::disallowed_methods, reason = "tests are told how hard to try by the environment")]
    let wanted = std::env::var(name);
    wanted.ok()?.parse().ok()
}

/// Numbers without a pattern, the same for the same seed.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}
