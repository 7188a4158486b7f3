//! An answer that `attache tasks` gives counts for the question that was shown, and for no other.

use std::process::Stdio;

use attache_testkit::WAIT_TIMEOUT;
use attache_testkit::agent_client::{call_in, question};
use attache_testkit::model_server::{ModelServer, gemini};
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::time::timeout;

use super::runs;
use crate::agent_world::{calls, reply, says, send, start, work};

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
