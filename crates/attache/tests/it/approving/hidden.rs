//! Characters that a terminal or a text view does not draw are written out on the surfaces of the binary: its commands,
//! and a run without a person.

use std::process::Stdio;

use attache_testkit::WAIT_TIMEOUT;
use attache_testkit::model_server::ModelServer;
use tokio::process::Command;
use tokio::time::timeout;

use super::runs;
use crate::agent_world::{launch_with, says, send, start, state, work};

/// A command, and how a person must see it.
const LIES: [(&str, &str); 5] = [
    ("ls src\u{1b}]; touch P; :\u{7}", r"ls src\u{1b}]; touch P; :\u{7}"),
    ("touch P; :\rls src      ", r"touch P; :\u{d}ls src"),
    ("touch \u{202e}P\u{2066}", r"touch \u{202e}P\u{2066}"),
    ("touch\u{200b}er P\u{feff}\u{ad}\u{3164}", r"touch\u{200b}er P\u{feff}\u{ad}\u{3164}"),
    ("touch\u{a0}P\u{2028}\u{e0041}\u{9b}2K", r"touch\u{a0}P\u{2028}\u{e0041}\u{9b}2K"),
];

/// No character of a text hides anything.
#[track_caller]
fn check(text: &str, expected: &str) {
    let hidden = |it: char| attache_domain::is_hidden(it) && it != '\n' && it != '\t';
    assert!(!text.contains(hidden), "{text:?}");
    assert!(text.contains(expected), "{expected} in {text:?}");
}

async fn tasks(url: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_attache"));
    command.arg("tasks").args(arguments).env_clear().env("ATTACHE_SERVER", url).kill_on_drop(true);
    let output = command.stdin(Stdio::null()).output();
    let output = timeout(WAIT_TIMEOUT, output).await.expect("it ends in time").unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

#[tokio::test]
async fn a_command_that_hides_something_is_written_out_by_every_command_about_tasks() {
    let model = ModelServer::with_responses(LIES.map(|(command, _)| runs(command)));
    let (folder, server) = start(&model).await;
    for (number, (_, shown)) in LIES.iter().enumerate() {
        let task = send(&server.client(), &format!("m{number}"), "Run!").await;
        assert_eq!(state(&task), "TASK_STATE_INPUT_REQUIRED");
        let id = task["id"].as_str().unwrap();
        for arguments in [["show", id], ["list", "--limit=1"], ["follow", id]] {
            check(&tasks(server.url(), &arguments).await, shown);
        }
    }
    assert!(!work(&folder).join("P").exists());
}

#[tokio::test]
async fn a_run_without_a_person_tells_what_it_would_have_asked() {
    let (command, shown) = LIES[0];
    let model = ModelServer::with_responses([runs(command), says("A \u{1b}]0;title\u{7}word.\r\n")]);
    let launch = launch_with(&model);
    let mut run = Command::new(env!("CARGO_BIN_EXE_attache"));
    run.args(["-p", "Run!", "--model", "gemini-2.5-pro"]).env_clear().env("HOME", launch.folder());
    run.env("PATH", "/usr/bin:/bin").env("GEMINI_API_KEY", "key").env("GOOGLE_GEMINI_BASE_URL", model.url());
    let run = run.current_dir(work(&launch)).stdin(Stdio::null()).kill_on_drop(true).output();
    let output = timeout(WAIT_TIMEOUT, run).await.expect("it ends in time").unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    check(&said, r"A \u{1b}]0;title\u{7}word.\u{d}");
    assert!(!said.contains("touch P") || said.contains(shown), "{said}");
    assert!(!work(&launch).join("P").exists());
}
