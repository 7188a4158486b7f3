//! A task can be cancelled whatever it does: it ends at once, takes everything with it, and is never taken up again.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use attache_testkit::model_server::{ModelServer, PlannedResponse, gemini};
use attache_testkit::{TestClient, WAIT_TIMEOUT};
use serde_json::{Value, json};

use crate::agent_world::{
    answer_text, calls, last_output, launch_with, reply, says, send, start, state, work,
};
use crate::support::message_to;
use crate::watching::{
    artifact, asked, batch, check, drop_in, eventually, lives, message_in, open, reaches, silent, stuck,
    task, told,
};

/// Cancels, and shows the task as it is then.
async fn cancel(client: &TestClient, id: &str) -> Value {
    let canceled = client.rpc("CancelTask", json!({"id": id})).await["result"].clone();
    assert_eq!(state(&canceled), "TASK_STATE_CANCELED", "{canceled:#}");
    canceled
}

/// It stays canceled, it cannot be continued, and the model, which has one more answer, is not asked for it.
async fn is_over(client: &TestClient, model: &ModelServer, id: &str) {
    let before = model.received().len();
    for (number, text) in ["yes", "Go on!"].iter().enumerate() {
        let refused = client.rpc("SendMessage", message_to(id, &format!("late-{number}"), text)).await;
        assert_eq!(refused["error"]["code"], -32004, "{refused:#}");
    }
    let again = client.rpc("CancelTask", json!({"id": id})).await;
    assert_eq!(again["error"]["code"], -32002, "{again:#}");
    model.plan(says("Still here."));
    let other = send(client, &format!("other-than-{id}"), "Are you there?").await;
    assert_eq!(answer_text(&other), "Still here.");
    assert_eq!(model.received().len(), before + 1, "nobody else asked the model");
    assert_eq!(state(&task(client, id).await), "TASK_STATE_CANCELED");
}

#[tokio::test]
async fn before_the_model_says_anything() {
    let model = ModelServer::with_responses([silent()]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let (id, mut stream) = open(&client, "m1", "Hello?").await;
    asked(&model, 1).await;
    cancel(&client, &id).await;
    model.until_abandoned().await;
    check(&stream.rest().await, &["WORKING", "CANCELED"]);
    is_over(&client, &model, &id).await;
}

#[tokio::test]
async fn in_the_middle_of_an_answer() {
    let model = ModelServer::with_responses([stuck("Half an")]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let (id, mut stream) = open(&client, "m1", "Hello?").await;
    stream.until(|frame| frame.raw.contains("Half an")).await;
    let canceled = cancel(&client, &id).await;
    assert_eq!(artifact(&canceled, "answer-1"), "Half an", "what was said was said");
    model.until_abandoned().await;
    check(&stream.rest().await, &["CANCELED"]);
    is_over(&client, &model, &id).await;
}

#[tokio::test]
async fn while_the_model_is_waited_for() {
    let busy = gemini::error_with_delay(429, "RESOURCE_EXHAUSTED", "slow down", "200s");
    let model = ModelServer::with_responses([busy]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let (id, mut stream) = open(&client, "m1", "Hello?").await;
    stream.until(|frame| frame.raw.contains("trying again in")).await;
    cancel(&client, &id).await;
    check(&stream.rest().await, &["CANCELED"]);
    is_over(&client, &model, &id).await;
}

#[tokio::test]
async fn while_a_question_is_open() {
    let touch = |name: &str| ("run_shell_command", json!({"command": format!("touch {name}")}));
    let model = ModelServer::with_responses([batch([touch("one"), touch("two")])]);
    let (launch, server) = start(&model).await;
    let client = server.client();
    let asked = send(&client, "m1", "Run!").await;
    assert_eq!(state(&asked), "TASK_STATE_INPUT_REQUIRED");
    let id = asked["id"].as_str().unwrap();
    cancel(&client, id).await;
    is_over(&client, &model, id).await;
    assert!(!work(&launch).join("one").exists() && !work(&launch).join("two").exists());
}

/// Starts children of all kinds, notes their process ids in `NAME.pids`, and hangs.
fn hanging(name: &str) -> Value {
    let start = "sleep 321 & echo $! >> $f; (sleep 321 & echo $! >> $f) ; setsid sleep 321 & echo $! >> $f";
    let command = format!(
        "f={name}.part; echo $$ >> $f; {start}; trap '' TERM HUP INT; mv $f {name}.pids; wait; sleep 321"
    );
    json!({"command": command})
}

fn pids(workspace: &Path, name: &str) -> Vec<u32> {
    let text = fs::read_to_string(workspace.join(format!("{name}.pids"))).unwrap_or_default();
    text.lines().map(|line| line.parse().unwrap()).collect()
}

#[tokio::test]
async fn one_call_alone_and_the_turn_goes_on() {
    let model = ModelServer::with_responses([calls("run_shell_command", hanging("a")), says("Then not.")]);
    let launch = launch_with(&model).argument("--approval-mode").argument("yolo");
    let server = launch.start().await;
    let client = server.client();
    let (id, mut stream) = open(&client, "m1", "Run!").await;
    let workspace = work(&launch).clone();
    eventually("the command runs", || pids(&workspace, "a").len() == 4).await;
    let running = pids(&workspace, "a");
    let wrong = json!({"id": id, "metadata": {"attache/call": "another"}});
    let wrong = client.rpc("CancelTask", wrong).await["error"].to_string();
    assert!(wrong.contains("names a call that is not under way (another)"), "{wrong}");
    let (_, call) = wrong.split_once("under way are: ").unwrap_or_else(|| panic!("{wrong}"));
    let call: String =
        call.chars().take_while(|letter| letter.is_ascii_alphanumeric() || "-_".contains(*letter)).collect();
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_attache"));
    command.args(["tasks", "cancel", &id, "--call", &call]).env_clear().env("ATTACHE_SERVER", server.url());
    let ended =
        tokio::time::timeout(WAIT_TIMEOUT, command.kill_on_drop(true).output()).await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(said.starts_with(&format!("call {call} is cancelled; task {id} is ")), "{said} {ended:?}");
    let done = reaches(&client, &id, "COMPLETED").await;
    assert_eq!(answer_text(&done), "Then not.");
    let heard = last_output(&model);
    assert!(heard.starts_with("[Operation Cancelled] The user cancelled this call while it ran."), "{heard}");
    eventually("everything that the command started ends", || !running.iter().any(|pid| lives(*pid))).await;
    let told = ["WORKING", "answer-1 = Then not.", "answer-1 +  (.)", "COMPLETED"];
    check(&stream.rest().await, &told);
}

async fn cancelled_while_running(names: &[&str], calls: PlannedResponse) {
    let model = ModelServer::with_responses([calls]);
    let launch = launch_with(&model).argument("--approval-mode").argument("yolo");
    let server = launch.start().await;
    let client = server.client();
    let (id, mut stream) = open(&client, "m1", "Run!").await;
    let workspace = work(&launch).clone();
    let all = || names.iter().flat_map(|name| pids(&workspace, name)).collect::<Vec<_>>();
    eventually("every command runs", || all().len() == 4 * names.len()).await;
    assert!(all().into_iter().all(lives), "they run until somebody stops them");
    let begun = Instant::now();
    cancel(&client, &id).await;
    eventually("their end", || !all().into_iter().any(lives)).await;
    // By themselves they would go on for minutes; on a busy machine a second is not much.
    assert!(begun.elapsed() < Duration::from_secs(10), "dead after {:?}", begun.elapsed());
    check(&stream.rest().await, &["WORKING", "CANCELED"]);
    is_over(&client, &model, &id).await;
}

#[tokio::test]
async fn while_a_command_runs_it_dies_with_its_children() {
    cancelled_while_running(&["a"], calls("run_shell_command", hanging("a"))).await;
}

#[tokio::test]
async fn while_several_commands_run_all_of_them_die() {
    let names = ["a", "b", "c"];
    let calls = batch(names.map(|name| ("run_shell_command", hanging(name))));
    cancelled_while_running(&names, calls).await;
}

#[tokio::test]
async fn after_an_edit_the_changes_are_shown_all_the_same() {
    let edit = json!({"file_path": "hello.txt", "instruction": "greet", "old_string": "world", "new_string": "moon"});
    let model = ModelServer::with_responses([calls("replace", edit), silent()]);
    let launch = launch_with(&model).argument("--approval-mode").argument("yolo");
    let server = launch.start().await;
    let client = server.client();
    let (id, mut stream) = open(&client, "m1", "Greet the moon").await;
    asked(&model, 2).await;
    cancel(&client, &id).await;
    let canceled = task(&client.with("A2A-Extensions", attache_wire::devtool::URI), &id).await;
    let changes = artifact(&canceled, "changes-1");
    assert!(changes.contains("--- a/hello.txt\n") && changes.contains("+Hello, moon."), "{changes}");
    let last = stream.rest().await.pop().unwrap();
    assert!(last.raw.contains("CANCELED"), "{}", last.raw);
    is_over(&client, &model, &id).await;
}

#[tokio::test]
async fn a_queued_message_of_a_cancelled_task_is_not_answered() {
    let model = ModelServer::with_responses([stuck("Half an")]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let (id, mut stream) = open(&client, "m1", "Hello?").await;
    stream.until(|frame| frame.raw.contains("Half an")).await;
    drop_in(&client, message_to(&id, "m2", "And another thing")).await;
    stream.until(|frame| frame.raw.contains("queued")).await;
    cancel(&client, &id).await;
    is_over(&client, &model, &id).await;
}

#[tokio::test]
async fn while_it_waits_for_another_task_of_its_conversation() {
    let model = ModelServer::with_responses([stuck("One").then(says("."))]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let (first, mut stream) = open(&client, "m1", "First").await;
    stream.until(|frame| frame.raw.contains("One")).await;
    let context = task(&client, &first).await["contextId"].clone();
    let second = drop_in(&client, message_in(&context, "m2", "Second")).await;
    let second = second["id"].as_str().unwrap();
    cancel(&client, second).await;
    model.release();
    reaches(&client, &first, "COMPLETED").await;
    is_over(&client, &model, second).await;
}

#[tokio::test]
async fn a_conversation_goes_on_after_a_cancelled_call_and_every_call_has_its_result() {
    let model = ModelServer::with_responses([batch([
        ("read_file", json!({"file_path": "hello.txt"})),
        ("run_shell_command", hanging("a")),
    ])]);
    let launch = launch_with(&model).argument("--approval-mode").argument("yolo");
    let server = launch.start().await;
    let client = server.client();
    let (id, _stream) = open(&client, "m1", "Run!").await;
    let workspace = work(&launch);
    eventually("the command runs", || !pids(&workspace, "a").is_empty()).await;
    let context = cancel(&client, &id).await["contextId"].clone();
    model.plan(says("I see."));
    let next =
        client.rpc("SendMessage", message_in(&context, "m2", "What happened?")).await["result"]["task"]
            .clone();
    assert_eq!(answer_text(&next), "I see.");
    let told = told(&model);
    let count = |member: &str| {
        let parts = told.iter().flat_map(|content| content["parts"].as_array().unwrap());
        parts.filter(|part| part.get(member).is_some()).count()
    };
    assert_eq!(count("functionCall"), count("functionResponse"), "{told:#?}");
}

#[tokio::test]
async fn an_answer_that_comes_with_the_cancel_is_taken_or_refused_and_never_half_done() {
    let model =
        ModelServer::with_responses([calls("run_shell_command", json!({"command": "echo ran >> runs"}))]);
    let (launch, server) = start(&model).await;
    let client = server.client();
    let asked = send(&client, "m1", "Run!").await;
    let id = asked["id"].as_str().unwrap();
    model.plan(silent());
    let (answered, canceled) = tokio::join!(
        drop_in(&client, message_to(id, "m2", "yes")),
        client.rpc("CancelTask", json!({"id": id})),
    );
    assert_eq!(state(&canceled["result"]), "TASK_STATE_CANCELED", "{answered:#}");
    let refused = reply(&client, "m3", &asked, "yes").await;
    // The task is over; where the first answer was taken, that is said instead.
    let code = refused["error"]["code"].as_i64();
    assert!(matches!(code, Some(-32004 | -32602)), "{refused:#}");
    let runs = fs::read_to_string(work(&launch).join("runs")).unwrap_or_default();
    assert!(runs.lines().count() <= 1, "{runs}");
    assert!(model.received().len() <= 2);
}
