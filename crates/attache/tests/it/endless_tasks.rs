//! Tasks that never stop: what a command shows without end adds little to the log, and a history has its longest length.

use attache_testkit::ServerLaunch;
use attache_testkit::model_server::{ModelServer, PlannedResponse, ReceivedRequest};
use rusqlite::Connection;
use serde_json::json;

use crate::agent_world::{answer_text, calls, launch_with, refusal, reply, says, start, state};
use crate::support::message;
use crate::watching::{Pipe, drop_in, eventually, lines, message_in, open, reaches, replay, task};

/// Bytes of all that is in the log.
fn logged(launch: &ServerLaunch) -> u64 {
    let connection = Connection::open(launch.folder().join("tasks.db")).unwrap();
    let total: i64 =
        connection.query_row("SELECT sum(length(body)) FROM batch", [], |row| row.get(0)).unwrap();
    u64::try_from(total).unwrap()
}

#[tokio::test]
async fn a_command_that_writes_without_end_adds_little_to_the_log() {
    let yes = calls("run_shell_command", json!({"command": "timeout 3 yes"}));
    let model = ModelServer::with_responses([yes, says("Enough.")]);
    let launch = launch_with(&model)
        .argument("--approval-mode")
        .argument("yolo")
        .settings("[enforced]\ntools.shell.maxOutputMegabytes = 0\n");
    let server = launch.start().await;
    let client = server.client();
    let (id, _stream) = open(&client, "m1", "Run!").await;
    let done = reaches(&client, &id, "COMPLETED").await;
    assert_eq!(answer_text(&done), "Enough.");
    server.kill().await;
    let logged = logged(&launch);
    assert!((128 << 10..512 << 10).contains(&logged), "{logged} bytes");
    let connection = Connection::open(launch.folder().join("tasks.db")).unwrap();
    let left_out = "SELECT count(*) FROM batch WHERE body LIKE '%bytes left out%'";
    let count: i64 = connection.query_row(left_out, [], |row| row.get(0)).unwrap();
    assert!(count >= 2, "people see that it goes on: {count}");
}

/// Reads one file after the other, for ever.
fn never_done(received: &ReceivedRequest) -> PlannedResponse {
    let told = received.json()["contents"].to_string();
    if told.contains("Go on here") {
        return says("Here I am.");
    }
    let number = told.matches("functionResponse").count();
    calls("read_file", json!({"file_path": format!("file-{number}.txt")}))
}

#[tokio::test]
async fn a_task_that_never_ends_is_warned_of_its_longest_history_and_ends_there() {
    let model = ModelServer::with_handler(never_done);
    let launch = launch_with(&model).settings("[limits]\ntask_events = 200\n");
    let server = launch.start().await;
    let client = server.client();
    let (id, _stream) = open(&client, "m1", "Read!").await;
    let failed = reaches(&client, &id, "FAILED").await;
    let last = &failed["status"]["message"];
    assert_eq!(last["metadata"]["reason"], "history_limit", "{failed:#}");
    let text = last["parts"][0]["text"].as_str().unwrap();
    assert!(text.contains("200 events") && text.contains("new task"), "{text}");
    let shown = lines(&replay(&client, &id).await);
    let warnings = shown.iter().filter(|line| line.contains("nearly reached the longest history")).count();
    assert_eq!(warnings, 1, "{shown:#?}");
    // It stays readable, takes nothing more, and the conversation goes on in another task.
    let refused = reply(&client, "m2", &failed, "More!").await;
    assert!(refused["error"]["code"].is_i64(), "{refused:#}");
    let next = drop_in(&client, message_in(&failed["contextId"], "m3", "Go on here")).await;
    let next = reaches(&client, next["id"].as_str().unwrap(), "COMPLETED").await;
    assert_eq!(answer_text(&next), "Here I am.");
    server.kill().await;
    let server = launch.start().await;
    assert_eq!(task(&server.client(), &id).await["status"], failed["status"]);
}

#[tokio::test]
async fn what_runs_when_the_history_is_full_is_stopped() {
    let command = "exec 9>talker.alive; echo started >&9; seq 20000; for i in $(seq 100000); do echo $i; sleep 0.01; done";
    let model =
        ModelServer::with_responses([calls("run_shell_command", json!({"command": command})), says("?")]);
    let launch = launch_with(&model)
        .argument("--approval-mode")
        .argument("yolo")
        .settings("[limits]\ntask_megabytes = 1\n");
    let pipe = Pipe::of(&launch, "talker");
    let long = "x".repeat(1_000_000);
    let server = launch.start().await;
    let client = server.client();
    let opened = drop_in(&client, message("m1", &long)).await;
    let id = opened["id"].as_str().unwrap();
    let failed = reaches(&client, id, "FAILED").await;
    assert_eq!(state(&failed), "TASK_STATE_FAILED");
    assert_eq!(failed["status"]["message"]["metadata"]["reason"], "history_limit", "{failed:#}");
    assert!(pipe.has_started());
    eventually("the command's end", || pipe.is_over()).await;
}

#[tokio::test]
async fn agents_that_delegate_to_each_other_are_stopped() {
    let model = ModelServer::with_responses([says("Near enough."), says("Without a number.")]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let delegated = |depth: u32| json!({"attache/delegation": {"depth": depth, "chain": ["https://a#b"]}});
    let far = refusal(&client, "m1", delegated(4)).await;
    assert_eq!(far["code"], -32602, "{far}");
    assert!(far.to_string().contains("says that 4 agents delegated this"), "{far}");
    let unreadable = refusal(&client, "m2", json!({"attache/delegation": "deep"})).await;
    assert!(unreadable.to_string().contains("must be an object with the number"), "{unreadable}");
    assert_eq!(refusal(&client, "m3", delegated(3)).await, json!(null));
    assert_eq!(refusal(&client, "m4", json!({"other": 1})).await, json!(null));
}
