//! An answer counts for the question that its sender has read, and for no other.

use std::process::Stdio;

use attache_testkit::WAIT_TIMEOUT;
use attache_testkit::model_server::{ModelServer, gemini};
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::time::timeout;

use super::{call_in, question, runs};
use crate::agent_world::{calls, reply, says, send, start, state, work};

fn edit() -> Value {
    json!({"file_path": "hello.txt", "instruction": "greet", "old_string": "world", "new_string": "moon"})
}

async fn attache(url: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_attache"));
    command.arg("tasks").args(arguments).env_clear().env("ATTACHE_SERVER", url).kill_on_drop(true);
    let output =
        timeout(WAIT_TIMEOUT, command.stdin(Stdio::null()).output()).await.expect("in time").unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

#[tokio::test]
async fn a_yes_of_another_client_does_not_hit_the_question_that_has_just_come() {
    let model = ModelServer::with_responses([calls("replace", edit()), runs("touch P"), says("Done.")]);
    let (folder, server) = start(&model).await;
    let ann = server.client().with("User-Agent", "ann");
    let bob = server.client().with("User-Agent", "bob");
    let task = send(&ann, "m1", "Greet the moon").await;
    let seen = bob.rpc("GetTask", json!({"id": task["id"]})).await["result"].clone();
    assert!(question(&seen).contains("+Hello, moon."), "both look at the edit");
    let next = reply(&ann, "m2", &task, "yes").await;
    assert!(question(&next).contains("touch P"), "{next:#}");
    let refused = reply(&bob, "m3", &task, "yes").await;
    let told = refused["error"].to_string();
    let call = call_in(&question(&next));
    for words in ["another question", "run_shell_command", &call, "touch P", "Nothing was approved", "ann"] {
        assert!(told.contains(words), "{words} in {refused:#}");
    }
    assert!(!work(&folder).join("P").exists());
    // Named, it counts; and so do the words of the client that was shown the new question.
    let done = reply(&bob, "m4", &task, &format!("{call}: yes")).await;
    assert_eq!(state(&done), "TASK_STATE_COMPLETED", "{done:#}");
    assert!(work(&folder).join("P").exists());
}

#[tokio::test]
async fn the_client_that_answered_may_go_on_in_bare_words() {
    let model = ModelServer::with_responses([calls("replace", edit()), runs("touch P"), says("Done.")]);
    let (folder, server) = start(&model).await;
    let client = server.client().with("User-Agent", "ann");
    let task = send(&client, "m1", "Greet the moon").await;
    reply(&client, "m2", &task, "yes").await;
    let done = reply(&client, "m3", &task, "yes").await;
    assert_eq!(state(&done), "TASK_STATE_COMPLETED", "{done:#}");
    assert!(work(&folder).join("P").exists());
}

#[tokio::test]
async fn a_bare_yes_to_several_questions_is_refused_with_their_calls() {
    let touch = |name: &str| json!({"command": format!("touch {name}")});
    let both = gemini::chunk().call("run_shell_command", touch("one")).id("call-one");
    let both = both.call("run_shell_command", touch("two")).id("call-two").finish("STOP").usage(1, 1);
    let model = ModelServer::with_responses([gemini::answer([both])]);
    let (folder, server) = start(&model).await;
    let task = send(&server.client(), "m1", "Make two").await;
    let refused = reply(&server.client(), "m2", &task, "yes").await;
    let told = refused["error"].to_string();
    assert!(told.contains("call-one, call-two") && told.contains("`CALL: yes`"), "{refused:#}");
    assert!(told.contains("(call-one): run in ") && told.contains("touch one"), "{refused:#}");
    let (code, told) = attache(server.url(), &["answer", task["id"].as_str().unwrap(), "yes"]).await;
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("call-one, call-two") && told.contains("call-one=yes call-two=yes"), "{told}");
    assert!(!work(&folder).join("one").exists() && !work(&folder).join("two").exists());
}

#[tokio::test]
async fn the_command_that_was_shown_with_a_question_answers_no_other() {
    let model = ModelServer::with_responses([calls("replace", edit()), runs("touch P"), says("Done.")]);
    let (folder, server) = start(&model).await;
    let client = server.client();
    let task = send(&client, "m1", "Greet the moon").await;
    let id = task["id"].as_str().unwrap();
    let call = call_in(&question(&task));
    let (_, shown) = attache(server.url(), &["show", id]).await;
    let answer = format!("{call}=yes");
    assert!(shown.contains(&format!("answer with: attache tasks answer {id} {answer} (or")), "{shown}");
    let next = reply(&client, "m2", &task, &format!("{call}: yes")).await;
    assert!(question(&next).contains("touch P"), "{next:#}");
    let (code, told) = attache(server.url(), &["answer", id, &answer]).await;
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains(&call) && told.contains("answered already"), "{told}");
    assert!(!work(&folder).join("P").exists());
    // Bare words count for a question that a person was shown: here there is no terminal to show it at.
    let (code, told) = attache(server.url(), &["answer", id, "yes"]).await;
    let next = call_in(&question(&next));
    assert!(code == Some(1) && told.contains("touch P") && told.contains(&format!("{next}=yes")), "{told}");
    assert!(!work(&folder).join("P").exists());
    let (code, told) = attache(server.url(), &["answer", id, &format!("{next}=yes"), "--follow"]).await;
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("Approved by") && told.contains(&next) && told.contains("touch P"), "{told}");
    assert!(work(&folder).join("P").exists());
}
