//! What a task asks, and what is answered.

use std::fs;

use attache_testkit::model_server::{ModelServer, gemini};
use attache_testkit::{ServerProcess, WAIT_TIMEOUT};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use super::{about_call, calls, check, coding, edit, file, launch, says, send, tasks};

#[tokio::test]
async fn an_approval_is_listed_shown_and_given() {
    let model = ModelServer::with_responses([edit(), says("Done.")]);
    let (folder, server) = coding(&model).await;
    let id = send(&server.client(), "m1", "Greet the moon").await;
    check(
        &tasks(&server, &["list", "--state", "input-required"]).await,
        0,
        &["Greet the moon", "asks:", "replace"],
    );
    let shown = tasks(&server, &["show", &id]).await;
    check(&shown, 0, &["it asks:", "-Hello, world.\n+Hello, moon.", "proceed_once", "attache tasks answer"]);
    let yes = about_call(&server, &id, "yes").await;
    let answered = tasks(&server, &["answer", &id[..8], &yes, "--follow"]).await;
    check(&answered, 0, &["Done.\n", "artifact Changes:\n--- a/hello.txt", "[completed]"]);
    assert_eq!(fs::read_to_string(file(&folder, "hello.txt")).unwrap(), "Hello, moon.\n");
    let shown = tasks(&server, &["show", &id]).await;
    check(&shown, 0, &["artifact Changes:\n--- a/hello.txt\n+++ b/hello.txt", "state    completed"]);
}

#[tokio::test]
async fn an_edit_is_changed_before_it_is_agreed_to() {
    let model = ModelServer::with_responses([edit(), says("As you like.")]);
    let (folder, server) = coding(&model).await;
    let id = send(&server.client(), "m1", "Greet the moon").await;
    let path = folder.write("instead.txt", "Hello, sun.\n").display().to_string();
    let unnamed = tasks(&server, &["answer", &id, "--file", &path]).await;
    check(&unnamed, 1, &["has to name the call", "+Hello, moon.", "nothing was answered"]);
    let yes = about_call(&server, &id, "yes").await;
    check(&tasks(&server, &["answer", &id, &yes, "--file", &path, "--follow"]).await, 0, &["As you like."]);
    assert_eq!(fs::read_to_string(file(&folder, "hello.txt")).unwrap(), "Hello, sun.\n");
}

#[tokio::test]
async fn several_calls_are_answered_one_by_one_by_their_names() {
    let touch = |name: &str| json!({"command": format!("touch {name}")});
    let both = gemini::chunk()
        .call("run_shell_command", touch("one"))
        .id("call-one")
        .call("run_shell_command", touch("two"))
        .id("call-two")
        .finish("STOP")
        .usage(100, 10);
    let model = ModelServer::with_responses([gemini::answer([both]), says("Both.")]);
    let (folder, server) = coding(&model).await;
    let id = send(&server.client(), "m1", "Make two").await;
    let shown: Value = serde_json::from_str(&tasks(&server, &["show", &id, "--json"]).await.out).unwrap();
    let question = shown["status"]["message"]["parts"][0]["text"].as_str().unwrap();
    assert!(question.contains("(call-one)") && question.contains("(call-two)"), "{question}");
    let answered =
        tasks(&server, &["answer", &id, "call-one=yes", "call-two=proceed_once", "--follow"]).await;
    check(&answered, 0, &["Both.", "[completed]"]);
    assert!(file(&folder, "one").exists() && file(&folder, "two").exists());
}

#[tokio::test]
async fn the_hints_for_several_calls_and_for_questions_hold() {
    let touch = |name: &str| json!({"command": format!("touch {name}")});
    let both = gemini::chunk()
        .call("run_shell_command", touch("one"))
        .id("call-one")
        .call("run_shell_command", touch("two"))
        .id("call-two")
        .finish("STOP")
        .usage(100, 10);
    let question = json!({"questions": [{"question": "Which colour?", "header": "Colour", "type": "text"}]});
    let model = ModelServer::with_responses([
        gemini::answer([both]),
        calls("ask_user", question),
        says("Blue it is."),
    ]);
    let (folder, server) = coding(&model).await;
    let id = send(&server.client(), "m1", "Make two").await;
    let shown = tasks(&server, &["show", &id]).await;
    let hint = format!("attache tasks answer {id} call-one=yes call-two=yes (or =no");
    check(&shown, 0, &[&hint, "all=no refuses all of them"]);
    assert!(!shown.out.contains("any text"), "{}", shown.out);
    let unnamed = tasks(&server, &["answer", &id, "all=yes"]).await;
    check(&unnamed, 1, &["call-one, call-two", "touch one", "touch two", "call-one=yes call-two=yes (or"]);
    let asked = tasks(&server, &["answer", &id, "call-one=yes", "call-two=yes", "--follow"]).await;
    let hint = format!("attache tasks answer {id} 'YOUR ANSWER'");
    check(&asked, 6, &["Which colour?", "[input-required]", &hint]);
    assert!(file(&folder, "one").exists() && file(&folder, "two").exists());
    let answered = tasks(&server, &["answer", &id, "deep blue", "--follow"]).await;
    check(&answered, 0, &["Blue it is.", "[completed]"]);
    let history = tasks(&server, &["show", &id]).await;
    let approvals = ["(call-one), proceed_once", "(call-two), proceed_once", "Answered by ", "deep blue"];
    check(&history, 0, &approvals);
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_refused_with_what_would() {
    let model = ModelServer::with_responses([
        calls("run_shell_command", json!({"command": "touch made"})),
        says("Fine."),
    ]);
    let (folder, server) = coding(&model).await;
    let id = send(&server.client(), "m1", "Make it").await;
    let perhaps = about_call(&server, &id, "perhaps").await;
    check(&tasks(&server, &["answer", &id, &perhaps]).await, 1, &["proceed_once", "perhaps"]);
    check(&tasks(&server, &["answer", &id]).await, 1, &["there is no answer"]);
    let refused = tasks(&server, &["answer", &id, "no", "--follow"]).await;
    check(&refused, 6, &["[input-required]", "attache tasks answer"]);
    check(&tasks(&server, &["answer", &id, "never", "mind", "--follow"]).await, 0, &["Fine.", "[completed]"]);
    assert!(!file(&folder, "made").exists());
}

/// Runs `attache tasks` at a terminal, where a person answers: exit code, and all that the terminal showed.
async fn at_terminal(server: &ServerProcess, arguments: &[&str], answer: &str) -> (Option<i32>, String) {
    let (mut terminal, other) = pty_process::open().unwrap();
    let command = pty_process::Command::new(env!("CARGO_BIN_EXE_attache")).arg("tasks").args(arguments);
    let command = command.env_clear().env("ATTACHE_SERVER", server.url()).kill_on_drop(true);
    let mut child = command.spawn(other).unwrap();
    terminal.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
    let mut shown = Vec::new();
    let ended = timeout(WAIT_TIMEOUT, async {
        let mut buffer = [0; 4096];
        // The terminal fails when the last program on it has ended.
        while let Ok(length @ 1..) = terminal.read(&mut buffer).await {
            shown.extend_from_slice(&buffer[..length]);
        }
        child.wait().await.unwrap()
    });
    let ended = ended.await.expect("it ends in time");
    (ended.code(), String::from_utf8_lossy(&shown).into_owned())
}

#[tokio::test]
async fn a_bare_yes_counts_only_where_the_question_was_shown_to_a_person() {
    let touch = |name: &str| calls("run_shell_command", json!({"command": format!("touch {name}")}));
    let model = ModelServer::with_responses([touch("one"), touch("two"), says("Done.")]);
    let (folder, server) = coding(&model).await;
    let id = send(&server.client(), "m1", "Make both").await;
    let yes = about_call(&server, &id, "yes").await;
    for word in ["yes", "always", "proceed_once"] {
        let refused = tasks(&server, &["answer", &id, word]).await;
        let command = format!("attache tasks answer {id} {yes} (or");
        check(&refused, 1, &["has to name the call", "touch one", &command, "nothing was answered"]);
    }
    let (code, shown) = at_terminal(&server, &["answer", &id, "yes"], "n").await;
    assert_eq!(code, Some(1), "{shown}");
    assert!(shown.contains("touch one") && shown.contains("Send this answer? [y/N]"), "{shown}");
    assert!(shown.contains("nothing was answered") && !file(&folder, "one").exists(), "{shown}");
    let (code, shown) = at_terminal(&server, &["answer", &id, "yes", "--follow"], "y").await;
    assert!(code == Some(6) && shown.contains("touch one") && shown.contains("touch two"), "{shown}");
    assert!(file(&folder, "one").exists() && !file(&folder, "two").exists());
    // What was meant for the first question does not hit the second.
    check(&tasks(&server, &["answer", &id, &yes]).await, 1, &["answered already"]);
    check(&tasks(&server, &["answer", &id, "yes"]).await, 1, &["touch two"]);
    assert!(!file(&folder, "two").exists());
}

#[tokio::test]
async fn a_task_that_asks_nothing_takes_no_answer() {
    let server = launch().in_memory().argument("--model").argument("offline").start().await;
    let id = send(&server.client(), "m1", "echo x").await;
    check(&tasks(&server, &["answer", &id, "yes"]).await, 1, &["is completed and asks nothing", "hint:"]);
    let id = send(&server.client(), "m2", "ask me something").await;
    let answered = tasks(&server, &["answer", &id, "deep", "blue"]).await;
    check(&answered, 0, &["answered; attache tasks follow"]);
    let shown = tasks(&server, &["follow", &id, "--from-start"]).await;
    check(&shown, 0, &["[completed]"]);
}
