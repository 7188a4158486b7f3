//! What happens to a task, as it happens, whatever happens to the server.

use std::net::TcpListener;

use attache_testkit::WAIT_TIMEOUT;
use attache_testkit::model_server::{ModelServer, PlannedResponse, gemini};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStdout};
use tokio::time::timeout;

use super::{about_call, begin, calls, check, coding, command, edit, file, launch, says, send, tasks};

/// A long answer in small pieces.
const SCRIPT: &str = "rules:
  - text: '^count$'
    steps:
      - say: [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z]
        every: 20ms
";

/// Reads until `enough` is in what was read.
async fn read_until(out: &mut (impl AsyncRead + Unpin), enough: &str) -> String {
    let mut text = String::new();
    while !text.contains(enough) {
        let mut byte = [0];
        let length = timeout(WAIT_TIMEOUT, out.read(&mut byte)).await.expect("output in time").unwrap();
        assert!(length > 0, "it ended with {text:?}");
        text.push(char::from(byte[0]));
    }
    text
}

async fn rest(mut child: Child, mut out: ChildStdout) -> (String, Option<i32>) {
    let mut text = String::new();
    timeout(WAIT_TIMEOUT, out.read_to_string(&mut text)).await.expect("the rest in time").unwrap();
    (text, timeout(WAIT_TIMEOUT, child.wait()).await.unwrap().unwrap().code())
}

#[tokio::test]
async fn a_follower_survives_kill_9_and_misses_nothing() {
    // The same port again after the kill, so it is chosen here.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let launch = launch().durable().script(SCRIPT).argument("--port").argument(port);
    let server = launch.start().await;
    let id = begin(&server.client(), "m1", "count").await;
    let mut child = command(server.url(), &["follow", &id, "--from-start"]).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let before = read_until(&mut out, "c").await;
    server.kill().await;
    let _server = launch.start().await;
    let (after, code) = rest(child, out).await;
    assert_eq!((format!("{before}{after}").as_str(), code), ("abcdefghijklmnopqrstuvwxyz\n", Some(0)));
}

#[tokio::test]
async fn a_finished_task_is_shown_or_replayed() {
    let server = launch().in_memory().script(SCRIPT).start().await;
    let id = send(&server.client(), "m1", "count").await;
    for arguments in [&["follow", &id][..], &["follow", &id, "--from-start"]] {
        let followed = tasks(&server, arguments).await;
        check(&followed, 0, &["[completed]"]);
        assert_eq!(followed.out, "abcdefghijklmnopqrstuvwxyz\n");
    }
    let events = tasks(&server, &["follow", &id, "--from-start", "--json"]).await;
    let lines: Vec<Value> = events.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["task"]["status"]["state"], "TASK_STATE_SUBMITTED");
    assert_eq!(lines.last().unwrap()["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
}

#[tokio::test]
async fn a_replay_goes_past_questions_that_were_answered() {
    let model = ModelServer::with_responses([edit(), says("Done.")]);
    let (_folder, server) = coding(&model).await;
    let id = send(&server.client(), "m1", "Greet the moon").await;
    check(&tasks(&server, &["follow", &id]).await, 6, &["[input-required]", "+Hello, moon."]);
    check(&tasks(&server, &["follow", &id, "--from-start"]).await, 6, &["[input-required]"]);
    let yes = about_call(&server, &id, "yes").await;
    check(&tasks(&server, &["answer", &id, &yes, "--follow"]).await, 0, &["[completed]"]);
    let replayed = tasks(&server, &["follow", &id, "--from-start"]).await;
    check(&replayed, 0, &["Done.", "artifact Changes:", "[completed]"]);
}

#[tokio::test]
async fn waiting_for_the_model_is_seen() {
    let busy = gemini::error_with_delay(429, "RESOURCE_EXHAUSTED", "slow down", "0.1s");
    let model = ModelServer::with_responses([busy, says("Here I am.")]);
    let (_folder, server) = coding(&model).await;
    let id = send(&server.client(), "m1", "Hello?").await;
    let followed = tasks(&server, &["follow", &id, "--from-start"]).await;
    check(&followed, 0, &["trying again in", "Here I am.\n"]);
}

/// A thought, a command that writes and waits, and an answer.
fn busy() -> [PlannedResponse; 2] {
    let command = json!({"command": "echo first; until [ -e go ]; do sleep 0.05; done; echo second"});
    let works = gemini::chunk()
        .thought("**Planning** I run it.")
        .call("run_shell_command", command)
        .id("call-run")
        .finish("STOP")
        .usage(100, 10);
    [gemini::answer([works]), says("It ran.")]
}

#[tokio::test]
async fn calls_live_output_and_thoughts_are_followed_and_shown() {
    let model = ModelServer::with_responses(busy());
    let (folder, server) = coding(&model).await;
    let id = send(&server.client(), "m1", "Run it").await;
    let mut child = command(server.url(), &["answer", &id, "call-run=yes", "--follow"]).spawn().unwrap();
    let mut err = child.stderr.take().unwrap();
    // The command waits for the file, so this was shown while it ran.
    read_until(&mut err, "\n  first\n").await;
    check(
        &tasks(&server, &["show", &id]).await,
        0,
        &["call run_shell_command (call-run), executing:", "\nfirst\n"],
    );
    std::fs::write(file(&folder, "go"), "").unwrap();
    let out = child.stdout.take().unwrap();
    let (said, code) = rest(child, out).await;
    assert_eq!((said.as_str(), code), ("It ran.\n", Some(0)));
    let rest = read_until(&mut err, "[completed]").await;
    let told = "  second\n  \n  exited with code 0\n[run_shell_command (call-run): succeeded]\n";
    assert!(rest.contains(told) && !rest.contains("first"), "{rest}");
    let replayed = tasks(&server, &["follow", &id, "--from-start"]).await;
    assert_eq!(replayed.out, "It ran.\n");
    let steps = [
        "[thought: Planning: I run it.]",
        "[run_shell_command (call-run): echo first;",
        "  first\n  second\n",
    ];
    check(&replayed, 0, &steps);
    let shown = tasks(&server, &["show", &id]).await;
    let page = [
        "\nuser:\nRun it\n\nthought:\nPlanning: I run it.\n\ncall run_shell_command (call-run), succeeded:\necho first;",
        "Approved by ",
        "\nfirst\nsecond\n\nexited with code 0\n\nagent:\nIt ran.\n",
    ];
    check(&shown, 0, &page);
    assert_eq!(shown.out.matches("It ran.").count(), 1, "{}", shown.out);
}

#[tokio::test]
async fn the_changes_of_a_cancelled_turn_are_shown() {
    let hang = calls("run_shell_command", json!({"command": "sleep 321"}));
    let model = ModelServer::with_responses([edit(), hang]);
    let (_folder, server) = coding(&model).await;
    let id = send(&server.client(), "m1", "Greet the moon").await;
    let yes = about_call(&server, &id, "yes").await;
    check(&tasks(&server, &["answer", &id, &yes, "--follow"]).await, 6, &["[input-required]", "sleep 321"]);
    check(&tasks(&server, &["cancel", &id]).await, 0, &["is canceled"]);
    let diff = "artifact Changes:\n--- a/hello.txt\n+++ b/hello.txt";
    check(&tasks(&server, &["show", &id]).await, 0, &["state    canceled", diff, "replace (", "succeeded:"]);
    check(&tasks(&server, &["follow", &id]).await, 5, &["[canceled]", diff]);
}

#[tokio::test]
async fn an_interrupt_leaves_the_task_alone() {
    let script = "rules:\n  - text: wait\n    steps: [{say: so}, {wait: 60s}]\n";
    let server = launch().in_memory().script(script).start().await;
    let id = begin(&server.client(), "m1", "wait").await;
    let mut child = command(server.url(), &["follow", &id, "--from-start"]).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    read_until(&mut out, "so").await;
    let pid = child.id().unwrap().to_string();
    assert!(tokio::process::Command::new("kill").args(["-INT", &pid]).status().await.unwrap().success());
    assert_eq!(rest(child, out).await.1, Some(130));
    check(&tasks(&server, &["list", "--state", "working"]).await, 0, &["wait"]);
}
