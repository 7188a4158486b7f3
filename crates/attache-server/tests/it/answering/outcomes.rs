//! The outcomes of Gemini CLI's clients, a fixed list: each means the nearest that a call offers, and never more.

use attache_testkit::model_server::gemini::{calls, says};
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use serde_json::{Value, json};

use super::{Speaker, Words, asked_in, task_in};
use crate::agent_world::{launch_with, work};
use attache_testkit::pairs::{Ask, Pair};

const LASTING: [&str; 4] =
    ["proceed_always", "proceed_always_tool", "proceed_always_server", "proceed_always_and_save"];

fn run(command: &str) -> PlannedResponse {
    calls("run_shell_command", json!({ "command": command }))
}

fn write(file: &str) -> PlannedResponse {
    calls("write_file", json!({"file_path": file, "content": "new\n"}))
}

/// What the server understood when the first call of `answers` was answered with `outcome`, and what it asked about then.
async fn understood(answers: Vec<PlannedResponse>, outcome: &str) -> (String, Vec<String>, Vec<bool>) {
    let model = ModelServer::with_responses(answers);
    let launch = launch_with(&model);
    let server = launch.start().await;
    let speaker = Speaker::new(Pair::Rpc03, Words::Gemini, &server.client());
    let asked = speaker.stream(speaker.opening(&launch, "m1", "Go!")).await;
    let (task, first) = (task_in(&asked[0]), asked_in(&asked.iter().cloned().collect()).remove(0));
    let then = speaker.stream(speaker.answering(&task, "m2", &[(&first, outcome)])).await;
    let shown: Value = Pair::Rpc10.result(&server.client(), &Ask::Get(task)).await;
    let messages = shown["history"].as_array().unwrap().iter().chain([&shown["status"]["message"]]);
    let choice = messages.filter_map(|it| it["metadata"]["attache/approval"]["choice"].as_str()).next();
    let made = ["one", "two", "three"].map(|file| work(&launch).join(file).exists()).to_vec();
    (choice.unwrap().to_owned(), asked_in(&then.iter().cloned().collect()), made)
}

#[tokio::test]
async fn a_lasting_outcome_of_a_command_is_the_grant_that_was_shown_and_no_wider() {
    for outcome in LASTING {
        // The like of it is not asked about again, and another program is.
        let answers = vec![run("touch one"), run("touch two"), run("mkdir three"), says("Done.")];
        let (choice, asked, made) = understood(answers, outcome).await;
        assert_eq!((choice.as_str(), asked.len()), ("proceed_always", 1), "{outcome}");
        assert_eq!(made, [true, true, false], "{outcome}");
    }
}

#[tokio::test]
async fn a_lasting_outcome_of_an_edit_is_the_grant_that_was_shown_and_no_wider() {
    for outcome in LASTING {
        let answers = vec![write("one"), write("two"), run("touch three"), says("Done.")];
        let (choice, asked, made) = understood(answers, outcome).await;
        assert_eq!((choice.as_str(), asked.len()), ("proceed_always", 1), "{outcome}");
        assert_eq!(made, [true, true, false], "{outcome}");
    }
}

#[tokio::test]
async fn where_nothing_lasting_is_offered_it_is_agreed_to_once() {
    for outcome in LASTING {
        let answers = vec![run("echo 1 > one"), run("echo 1 > one"), says("Done.")];
        let (choice, asked, made) = understood(answers, outcome).await;
        assert_eq!((choice.as_str(), asked.len()), ("proceed_once", 1), "{outcome}");
        assert_eq!(made, [true, false, false], "{outcome}");
    }
}
