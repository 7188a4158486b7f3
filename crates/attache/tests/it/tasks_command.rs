//! `attache tasks` against a running server: the real binary on both sides.

mod answering;
mod following;
mod sending;

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use attache_testkit::model_server::{ModelServer, PlannedResponse, gemini};
use attache_testkit::{ServerLaunch, ServerProcess, TestClient, WAIT_TIMEOUT};
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::time::timeout;

use crate::support::{SCRIPT, launch, message};

const TOKEN: &str = "correct-horse-battery-staple";

struct Ended {
    code: Option<i32>,
    out: String,
    err: String,
}

/// `attache tasks` with these arguments, asking the server at `url`.
fn command(url: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_attache"));
    command.arg("tasks").args(arguments).env_clear().env("ATTACHE_SERVER", url).kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

async fn end(command: &mut Command) -> Ended {
    let output = timeout(WAIT_TIMEOUT, command.output()).await.expect("it ends in time").unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    Ended { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

async fn tasks(server: &ServerProcess, arguments: &[&str]) -> Ended {
    end(&mut command(server.url(), arguments)).await
}

#[track_caller]
fn check(ended: &Ended, code: i32, words: &[&str]) {
    assert_eq!(ended.code, Some(code), "{}{}", ended.out, ended.err);
    let said = format!("{}{}", ended.out, ended.err);
    for words in words {
        assert!(said.contains(words), "{words:?} in {said}");
    }
}

/// A coding agent with a workspace in the folder `work`.
async fn coding(model: &ModelServer) -> (ServerLaunch, ServerProcess) {
    let launch = launch();
    let workspace = launch.folder().join("work");
    fs::create_dir_all(&workspace).unwrap();
    fs::write(workspace.join("hello.txt"), "Hello, world.\n").unwrap();
    let launch = launch
        .in_memory()
        .argument("--workspace")
        .argument(workspace.display().to_string())
        .argument("--model")
        .argument("gemini-2.5-pro")
        .variable("GEMINI_API_KEY", "key-for-tests")
        .variable("GOOGLE_GEMINI_BASE_URL", &model.url());
    let server = launch.start().await;
    (launch, server)
}

fn file(launch: &ServerLaunch, name: &str) -> PathBuf {
    launch.folder().join("work").join(name)
}

fn says(text: &str) -> PlannedResponse {
    gemini::answer([gemini::chunk().text(text).finish("STOP").usage(100, 10)])
}

fn calls(name: &str, arguments: Value) -> PlannedResponse {
    gemini::answer([gemini::chunk().call(name, arguments).finish("STOP").usage(100, 10)])
}

fn edit() -> PlannedResponse {
    let input = json!({"file_path": "hello.txt", "instruction": "greet the moon", "old_string": "world", "new_string": "moon"});
    calls("replace", input)
}

/// Sends a message and waits until its task settles: the task's id.
async fn send(client: &TestClient, id: &str, text: &str) -> String {
    let answer = client.rpc("SendMessage", message(id, text)).await;
    answer["result"]["task"]["id"].as_str().unwrap_or_else(|| panic!("{answer:#}")).to_owned()
}

/// Sends a message and does not wait.
async fn begin(client: &TestClient, id: &str, text: &str) -> String {
    let mut params = message(id, text);
    params["configuration"] = json!({"returnImmediately": true});
    let answer = client.rpc("SendMessage", params).await;
    answer["result"]["task"]["id"].as_str().unwrap_or_else(|| panic!("{answer:#}")).to_owned()
}

/// `CALL=WORD` for the only call that the task asks about.
async fn about_call(server: &ServerProcess, id: &str, word: &str) -> String {
    let shown: Value = serde_json::from_str(&tasks(server, &["show", id, "--json"]).await.out).unwrap();
    let open = &shown["status"]["message"]["metadata"]["attache/open-calls"];
    assert_eq!(open.as_array().map(Vec::len), Some(1), "{shown:#}");
    format!("{}={word}", open[0]["call"].as_str().unwrap())
}

#[tokio::test]
async fn tasks_are_listed_with_their_first_words() {
    let server = launch().in_memory().argument("--model").argument("offline").start().await;
    check(&tasks(&server, &["list"]).await, 0, &["no tasks"]);
    let first = send(&server.client(), "m1", "echo one two").await;
    let second = send(&server.client(), "m2", "ask me something").await;
    let listed = tasks(&server, &["list"]).await;
    let asked = ["input-required", "asks: What is your favourite colour?"];
    check(&listed, 0, &["ID ", "echo one two", "completed", asked[0], asked[1], &first[..8], &second[..8]]);
    let completed = tasks(&server, &["list", "--state", "completed"]).await;
    assert!(completed.out.contains("echo one two") && !completed.out.contains("ask me"), "{}", completed.out);
    let json: Value =
        serde_json::from_str(&tasks(&server, &["list", "--json", "--limit", "1"]).await.out).unwrap();
    assert_eq!((json.as_array().unwrap().len(), &json[0]["id"]), (1, &json!(second)));
    check(&tasks(&server, &["list", "--state", "asleep"]).await, 2, &["input-required"]);
    let line = listed.out.lines().nth(1).unwrap();
    let updated =
        line.split("  ").map(str::trim).find(|column| column.contains(':') && column.ends_with('Z'));
    let updated = updated.unwrap_or_else(|| panic!("times are marked: {}", listed.out));
    assert_eq!((updated.len(), &updated[10..11]), (20, " "), "{}", listed.out);
}

#[tokio::test]
async fn more_tasks_than_a_page_holds_are_listed_and_a_beginning_that_two_share_is_not_enough() {
    let server = launch().in_memory().argument("--model").argument("offline").start().await;
    let client = server.client();
    for number in 0..30 {
        send(&client, &format!("m{number}"), &format!("echo number {number}.")).await;
    }
    let listed = tasks(&server, &["list"]).await;
    assert_eq!(listed.out.lines().count(), 31, "{}", listed.out);
    // Thirty ids and sixteen hexadecimal digits: two begin alike.
    let json: Value = serde_json::from_str(&tasks(&server, &["list", "--json"]).await.out).unwrap();
    let mut firsts: Vec<_> =
        json.as_array().unwrap().iter().map(|task| &task["id"].as_str().unwrap()[..1]).collect();
    firsts.sort_unstable();
    let shared = firsts.windows(2).find(|pair| pair[0] == pair[1]).unwrap()[0];
    check(&tasks(&server, &["show", shared]).await, 1, &["tasks begin with", "give more of the id"]);
    let some = tasks(&server, &["list", "--limit", "27"]).await;
    assert_eq!(some.out.lines().count(), 28, "{}", some.out);
}

#[tokio::test]
async fn a_task_and_a_conversation_are_named_by_the_beginning_of_their_ids() {
    let server = launch().in_memory().argument("--model").argument("offline").start().await;
    let id = send(&server.client(), "m1", "echo one two").await;
    send(&server.client(), "m2", "echo three.").await;
    let shown = tasks(&server, &["show", &id[..6]]).await;
    check(
        &shown,
        0,
        &[&format!("task     {id}"), "state    completed", "user:\necho one two", "agent:\none two"],
    );
    assert!(!shown.out.contains("artifact"), "the answer is shown once: {}", shown.out);
    let json: Value = serde_json::from_str(&tasks(&server, &["show", &id, "--json"]).await.out).unwrap();
    assert_eq!(json["status"]["state"], "TASK_STATE_COMPLETED");
    check(
        &tasks(&server, &["show", "nothing-like-it"]).await,
        1,
        &["there is no task nothing-like-it", "hint:"],
    );
    let listed = tasks(&server, &["list"]).await;
    let line = listed.out.lines().find(|line| line.contains("echo three.")).unwrap();
    let context = line.split_whitespace().nth(2).unwrap();
    let found = tasks(&server, &["list", "--context", context]).await;
    assert!(
        found.out.contains("echo three.") && !found.out.contains("echo one"),
        "{}{}",
        found.out,
        found.err
    );
    check(
        &tasks(&server, &["list", "--context", "nothing"]).await,
        1,
        &["there is no conversation nothing", "hint:"],
    );
}

#[tokio::test]
async fn a_working_task_is_cancelled() {
    let script = "rules:\n  - text: wait\n    steps: [{say: so}, {wait: 60s}]\n";
    let server = launch().in_memory().script(script).start().await;
    let id = begin(&server.client(), "m1", "wait").await;
    check(&tasks(&server, &["cancel", &id[..8]]).await, 0, &[&format!("task {id} is canceled")]);
    check(&tasks(&server, &["cancel", &id]).await, 1, &["already canceled"]);
    check(&tasks(&server, &["follow", &id]).await, 5, &["[canceled]"]);
}

#[tokio::test]
async fn no_server_and_a_wrong_token_are_reported_with_advice() {
    let nobody = end(&mut command("http://127.0.0.1:9", &["list"])).await;
    check(&nobody, 1, &["no server listens at http://127.0.0.1:9", "attache serve"]);
    check(&end(&mut command("http://example.com", &["list"])).await, 1, &["use https", "hint:"]);
    let server = launch().in_memory().script(SCRIPT).variable("ATTACHE_TOKEN", TOKEN).start().await;
    check(
        &tasks(&server, &["list"]).await,
        1,
        &["wants a credential", "--token-file FILE or in ATTACHE_TOKEN"],
    );
    let wrong = end(command(server.url(), &["list"]).env("ATTACHE_TOKEN", "not-the-right-token-1234")).await;
    check(&wrong, 1, &["is not the one that the server was started with"]);
    assert!(!wrong.err.contains("not-the-right-token-1234"), "{}", wrong.err);
    check(&end(command(server.url(), &["list"]).env("ATTACHE_TOKEN", TOKEN)).await, 0, &["no tasks"]);
    let folder = launch();
    let path = folder.write("token", &format!("{TOKEN}\n")).display().to_string();
    check(&tasks(&server, &["list", "--token-file", &path]).await, 0, &["no tasks"]);
}
