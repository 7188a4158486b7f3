//! A cancel ends the processes of a call, wherever they are. `attache-server` tests every other moment of a task.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use attache_testkit::WAIT_TIMEOUT;
use attache_testkit::canceled_tasks::{cancel, is_over};
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use serde_json::{Value, json};

use crate::agent_world::{answer_text, calls, last_output, launch_with, says, work};
use crate::watching::{batch, check, eventually, lives, message_in, open, reaches, told};

/// Starts children of all kinds, notes their process ids in `NAME.pids`, and hangs.
fn hanging(name: &str) -> Value {
    let start = "sleep 321 & echo $! >> $f; (sleep 321 & echo $! >> $f) ; setsid sleep 321 & echo $! >> $f";
    let command = format!(
        "f={name}.part; echo $$ >> $f; {start}; trap '' TERM HUP INT; mv $f {name}.pids; wait; sleep 321"
    );
    json!({"command": command})
}

fn pids(workspace: &Path, name: &str) -> Vec<u32> {
    let text = fs::read_to_string(workspace.join(format!("{name}.pids"))).unwrap_or_default();
    text.lines().map(|line| line.parse().unwrap()).collect()
}

#[tokio::test]
async fn one_call_alone_and_the_turn_goes_on() {
    let model = ModelServer::with_responses([calls("run_shell_command", hanging("a")), says("Then not.")]);
    let launch = launch_with(&model).argument("--approval-mode").argument("yolo");
    let server = launch.start().await;
    let client = server.client();
    let (id, mut stream) = open(&client, "m1", "Run!").await;
    let workspace = work(&launch).clone();
    eventually("the command runs", || pids(&workspace, "a").len() == 4).await;
    let running = pids(&workspace, "a");
    let wrong = json!({"id": id, "metadata": {"attache/call": "another"}});
    let wrong = client.rpc("CancelTask", wrong).await["error"].to_string();
    assert!(wrong.contains("names a call that is not under way (another)"), "{wrong}");
    let (_, call) = wrong.split_once("under way are: ").unwrap_or_else(|| panic!("{wrong}"));
    let call: String =
        call.chars().take_while(|letter| letter.is_ascii_alphanumeric() || "-_".contains(*letter)).collect();
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_attache"));
    command.args(["tasks", "cancel", &id, "--call", &call]).env_clear().env("ATTACHE_SERVER", server.url());
    let ended =
        tokio::time::timeout(WAIT_TIMEOUT, command.kill_on_drop(true).output()).await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(said.starts_with(&format!("call {call} is cancelled; task {id} is ")), "{said} {ended:?}");
    let done = reaches(&client, &id, "COMPLETED").await;
    assert_eq!(answer_text(&done), "Then not.");
    let heard = last_output(&model);
    assert!(heard.starts_with("[Operation Cancelled] The user cancelled this call while it ran."), "{heard}");
    eventually("everything that the command started ends", || !running.iter().any(|pid| lives(*pid))).await;
    let told = ["WORKING", "answer-1 = Then not.", "answer-1 +  (.)", "COMPLETED"];
    check(&stream.rest().await, &told);
}

async fn cancelled_while_running(names: &[&str], calls: PlannedResponse) {
    let model = ModelServer::with_responses([calls]);
    let launch = launch_with(&model).argument("--approval-mode").argument("yolo");
    let server = launch.start().await;
    let client = server.client();
    let (id, mut stream) = open(&client, "m1", "Run!").await;
    let workspace = work(&launch).clone();
    let all = || names.iter().flat_map(|name| pids(&workspace, name)).collect::<Vec<_>>();
    eventually("every command runs", || all().len() == 4 * names.len()).await;
    assert!(all().into_iter().all(lives), "they run until somebody stops them");
    let begun = Instant::now();
    cancel(&client, &id).await;
    eventually("their end", || !all().into_iter().any(lives)).await;
    // By themselves they would go on for minutes; on a busy machine a second is not much.
    assert!(begun.elapsed() < Duration::from_secs(10), "dead after {:?}", begun.elapsed());
    check(&stream.rest().await, &["WORKING", "CANCELED"]);
    is_over(&client, &model, &id).await;
}

#[tokio::test]
async fn while_a_command_runs_it_dies_with_its_children() {
    cancelled_while_running(&["a"], calls("run_shell_command", hanging("a"))).await;
}

#[tokio::test]
async fn while_several_commands_run_all_of_them_die() {
    let names = ["a", "b", "c"];
    let calls = batch(names.map(|name| ("run_shell_command", hanging(name))));
    cancelled_while_running(&names, calls).await;
}

#[tokio::test]
async fn a_conversation_goes_on_after_a_cancelled_call_and_every_call_has_its_result() {
    let model = ModelServer::with_responses([batch([
        ("read_file", json!({"file_path": "hello.txt"})),
        ("run_shell_command", hanging("a")),
    ])]);
    let launch = launch_with(&model).argument("--approval-mode").argument("yolo");
    let server = launch.start().await;
    let client = server.client();
    let (id, _stream) = open(&client, "m1", "Run!").await;
    let workspace = work(&launch);
    eventually("the command runs", || !pids(&workspace, "a").is_empty()).await;
    let context = cancel(&client, &id).await["contextId"].clone();
    model.plan(says("I see."));
    let next =
        client.rpc("SendMessage", message_in(&context, "m2", "What happened?")).await["result"]["task"]
            .clone();
    assert_eq!(answer_text(&next), "I see.");
    let told = told(&model);
    let count = |member: &str| {
        let parts = told.iter().flat_map(|content| content["parts"].as_array().unwrap());
        parts.filter(|part| part.get(member).is_some()).count()
    };
    assert_eq!(count("functionCall"), count("functionResponse"), "{told:#?}");
}
