//! Tasks that are started at the command line.

use std::process::Stdio;

use attache_testkit::ServerProcess;
use serde_json::Value;
use tokio::io::AsyncWriteExt;

use super::{check, command, launch, tasks};

/// The task that is started and left alone.
async fn detached(server: &ServerProcess, arguments: &[&str]) -> Value {
    let sent = tasks(server, &[&["send", "--detach", "--json"], arguments].concat()).await;
    let mut event: Value =
        serde_json::from_str(&sent.out).unwrap_or_else(|error| panic!("{error}: {}", sent.err));
    event["task"].take()
}

#[tokio::test]
async fn commands_thoughts_and_limits_are_those_of_any_call() {
    let script = "rules:\n  - text: slow\n    steps: [{wait: 60s}, {say: late}]\n";
    let server = launch().in_memory().script(script).start().await;
    let late = tasks(&server, &["send", "slow", "--timeout", "1"]).await;
    check(&late, 124, &["[the time is over; task "]);
    let command = tasks(&server, &["send", "--command", "help", "memory add"]).await;
    check(&command, 0, &["memory add"]);
    check(&tasks(&server, &["send", "--command", "nothing"]).await, 1, &["nothing"]);
}

#[tokio::test]
async fn a_task_is_started_and_followed() {
    let server = launch().in_memory().argument("--model").argument("offline").start().await;
    let sent = tasks(&server, &["send", "count", "to", "3"]).await;
    check(&sent, 0, &[]);
    assert_eq!(sent.out, "1 2 3\n");
    let asked = tasks(&server, &["send", "ask me something"]).await;
    check(&asked, 6, &["What is your favourite colour?", "[input-required]", "'YOUR ANSWER'"]);
    let answered = tasks(&server, &["send", "ask me something", "--answer", "deep blue"]).await;
    check(&answered, 0, &["[input-required]", "deep blue"]);
    let failed =
        launch().in_memory().script("rules:\n  - text: x\n    steps: [{fail: no luck}]\n").start().await;
    check(&tasks(&failed, &["send", "x"]).await, 3, &["no luck", "[failed]"]);
}

#[tokio::test]
async fn a_task_is_started_and_left_alone() {
    let server = launch().in_memory().argument("--model").argument("offline").start().await;
    let sent = tasks(&server, &["send", "echo hello there", "--detach"]).await;
    check(&sent, 0, &["task ", "attache tasks follow "]);
    let id = sent.out.split_whitespace().nth(1).unwrap().to_owned();
    check(&tasks(&server, &["follow", &id]).await, 0, &["hello there", "[completed]"]);
    let json = detached(&server, &["echo x"]).await;
    assert!(json["id"].as_str().is_some(), "{json:#}");
    check(&tasks(&server, &["send"]).await, 2, &["there is no message", "hint:"]);
    check(&tasks(&server, &["send", "x", "--task", "nothing"]).await, 1, &["there is no task nothing"]);
}

#[tokio::test]
async fn files_are_sent_along_and_a_message_may_be_piped_in() {
    let launch = launch().in_memory().argument("--model").argument("offline");
    let server = launch.start().await;
    let note = launch.write("note.txt", "from a file");
    let note = note.display().to_string();
    let sent = detached(&server, &["echo hello", "--file", &note]).await;
    let shown = tasks(&server, &["show", sent["id"].as_str().unwrap(), "--json"]).await;
    let shown: Value = serde_json::from_str(&shown.out).unwrap();
    let parts = &shown["history"][0]["parts"];
    assert_eq!(
        (&parts[0]["text"], &parts[1]["filename"]),
        (&"echo hello".into(), &"note.txt".into()),
        "{shown:#}"
    );
    check(&tasks(&server, &["send", "x", "--file", "missing.txt"]).await, 1, &["cannot read missing.txt"]);
    let mut child = command(server.url(), &["send"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"reverse abc").await.unwrap();
    let output = child.wait_with_output().await.unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "cba\n");
}

#[tokio::test]
async fn a_message_goes_to_a_conversation_or_a_task() {
    let server = launch().in_memory().argument("--model").argument("offline").start().await;
    let first = detached(&server, &["ask me something"]).await;
    let (id, context) = (first["id"].as_str().unwrap(), first["contextId"].as_str().unwrap());
    check(&tasks(&server, &["follow", id]).await, 6, &["[input-required]"]);
    let answered = tasks(&server, &["send", "--task", &id[..8], "deep blue"]).await;
    check(&answered, 0, &["deep blue"]);
    check(&tasks(&server, &["send", "--context", &context[..8], "echo again"]).await, 0, &["again\n"]);
    let listed = tasks(&server, &["list", "--context", &context[..8]]).await;
    check(&listed, 0, &["ask me something", "echo again"]);
}
