//! A run is stopped, or its output is not read any more.

use std::fs;
use std::path::Path;

use attache_testkit::WAIT_TIMEOUT;
use attache_testkit::model_server::{ModelServer, PlannedResponse, gemini};
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::{Run, calls, says};

pub(super) async fn interrupt(child: &Child) {
    let pid = child.id().unwrap().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().await.unwrap().success());
}

/// Waits until `path` holds a whole line.
async fn line(path: &Path) -> String {
    let reading = async {
        loop {
            match fs::read_to_string(path) {
                Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
                _ => tokio::task::yield_now().await,
            }
        }
    };
    timeout(WAIT_TIMEOUT, reading).await.expect("a line in time")
}

/// Gone, or dead and waiting to be buried.
fn is_dead(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.is_empty() || stat.contains(") Z ")
}

async fn until_dead(pid: &str) {
    let dying = async {
        while !is_dead(pid) {
            tokio::task::yield_now().await;
        }
    };
    timeout(WAIT_TIMEOUT, dying).await.unwrap_or_else(|_| panic!("{pid} lives on"));
}

#[tokio::test]
async fn an_interrupt_ends_the_command_and_all_it_started() {
    let command = "sleep 300 & echo $! > child; echo $$ > shell; wait";
    let model = ModelServer::with_responses([
        calls("run_shell_command", json!({"command": command})),
        says("Never."),
    ]);
    let mut run = Run::with(&model, &["-y", "-p", "Wait"]);
    let child = run.start().await;
    let pids = [line(&run.file("child")).await, line(&run.file("shell")).await];
    interrupt(&child).await;
    let output = timeout(WAIT_TIMEOUT, child.wait_with_output()).await.unwrap().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(String::from_utf8_lossy(&output.stderr).contains("[ERROR] cancelled"));
    for pid in pids {
        until_dead(&pid).await;
    }
}

#[tokio::test]
async fn what_runs_in_the_background_ends_with_the_run() {
    let arguments = json!({"command": "echo $$ > shell; exec sleep 300", "is_background": true});
    let last = PlannedResponse::stream().hold().then(says("It runs."));
    let model = ModelServer::with_responses([calls("run_shell_command", arguments), last]);
    let mut run = Run::with(&model, &["-y", "-p", "Start it"]);
    let child = run.start().await;
    let pid = line(&run.file("shell")).await;
    assert!(!is_dead(&pid));
    model.release();
    let output = timeout(WAIT_TIMEOUT, child.wait_with_output()).await.unwrap().unwrap();
    assert_eq!(
        (String::from_utf8_lossy(&output.stdout).as_ref(), output.status.code()),
        ("It runs.\n", Some(0))
    );
    until_dead(&pid).await;
}

#[tokio::test]
async fn an_interrupt_while_the_model_thinks_is_an_end_too() {
    let slow = gemini::answer([gemini::chunk().text("Well")]).hold();
    let model = ModelServer::with_responses([slow]);
    let mut run = Run::with(&model, &["-p", "Think", "-o", "stream-json"]);
    let mut child = run.start().await;
    let mut out = child.stdout.take().unwrap();
    let mut text = String::new();
    let mut buffer = [0; 4096];
    while !text.contains("Well") {
        let length = timeout(WAIT_TIMEOUT, out.read(&mut buffer)).await.unwrap().unwrap();
        assert!(length > 0, "{text}");
        text.push_str(&String::from_utf8_lossy(&buffer[..length]));
    }
    interrupt(&child).await;
    out.read_to_string(&mut text).await.unwrap();
    assert_eq!(child.wait().await.unwrap().code(), Some(130));
    assert!(text.contains("FatalCancellationError"), "{text}");
}

#[tokio::test]
async fn a_closed_pipe_ends_it_quietly() {
    let first = gemini::answer([gemini::chunk().text("Well, ")]).hold();
    let model = ModelServer::with_responses([first.then(says("that was it."))]);
    let mut run = Run::with(&model, &["-p", "Speak"]);
    let mut child = run.start().await;
    let mut out = child.stdout.take().unwrap();
    let mut beginning = [0; 6];
    timeout(WAIT_TIMEOUT, out.read_exact(&mut beginning)).await.unwrap().unwrap();
    drop(out);
    model.release();
    let output = timeout(WAIT_TIMEOUT, child.wait_with_output()).await.unwrap().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}
