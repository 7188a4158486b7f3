//! A message that is sent again: the same while the turn that took it is under way, a new one after that.

use std::collections::BTreeSet;

use attache_testkit::TestClient;
use attache_testkit::model_server::ModelServer;
use serde_json::{Value, json};

use crate::agent_world::{answer_text, launch_with, says, start, state};
use crate::support::join_all;
use crate::support::{SCRIPT, launch, message, message_to};
use crate::watching::{asked, open, reaches, stuck};
use attache_testkit::pairs::canonical;
use attache_testkit::pairs::{Ask, Pair};

const IDEMPOTENT: &str = "urn:attache:extension:idempotent-send:v1";

async fn sent(client: &TestClient, params: Value) -> Value {
    let answer = client.rpc("SendMessage", params).await;
    answer["result"].get("task").cloned().unwrap_or_else(|| panic!("{answer:#}"))
}

async fn tasks(client: &TestClient) -> u64 {
    client.rpc("ListTasks", json!({})).await["result"]["totalSize"].as_u64().expect("a total")
}

fn at_once(id: &str, text: &str) -> Value {
    let mut params = message(id, text);
    params["configuration"] = json!({"returnImmediately": true});
    params
}

#[tokio::test]
async fn after_its_turn_a_message_opens_another_task_on_every_pair() {
    let server = launch().in_memory().script(SCRIPT).start().await;
    let client = server.client();
    let (mut ids, mut contexts) = (BTreeSet::new(), BTreeSet::new());
    for pair in Pair::ALL.into_iter().chain(Pair::ALL) {
        let answer = pair.result(&client, &Ask::Send(pair.text("m1", "echo a"))).await;
        let task = canonical::item(pair, &answer)["task"].take();
        assert!(task.to_string().contains("completed"), "{pair:?}: {task:#}");
        ids.insert(task["id"].to_string());
        contexts.insert(task["context"].to_string());
    }
    let sends = Pair::ALL.len() * 2;
    assert_eq!((ids.len(), contexts.len()), (sends, sends), "each has a conversation of its own");
    assert_eq!(tasks(&client).await, sends as u64);
}

#[tokio::test]
async fn while_its_turn_is_under_way_a_message_is_the_same() {
    let model = ModelServer::with_responses([stuck("One ").then(says("two.")), says("Again.")]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let (id, stream) = open(&client, "m1", "Go!").await;
    asked(&model, 1).await;
    assert_eq!(sent(&client, at_once("m1", "Go!")).await["id"], id);
    assert_eq!(tasks(&client).await, 1);
    drop(stream);
    model.release();
    reaches(&client, &id, "COMPLETED").await;
    let second = sent(&client, message("m1", "Go!")).await;
    assert_ne!(second["id"], id);
    assert_eq!(answer_text(&second), "Again.");
}

#[tokio::test]
async fn a_retry_after_kill_9_finds_the_task_that_is_under_way() {
    let model = ModelServer::with_responses([stuck("lost"), stuck("One ").then(says("two."))]);
    let launch = launch_with(&model);
    let server = launch.start().await;
    let (id, stream) = open(&server.client(), "m1", "Go!").await;
    asked(&model, 1).await;
    server.kill().await;
    drop(stream);
    let server = launch.start().await;
    let client = server.client();
    asked(&model, 2).await;
    assert_eq!(sent(&client, at_once("m1", "Go!")).await["id"], id);
    model.release();
    reaches(&client, &id, "COMPLETED").await;
    assert_eq!(tasks(&client).await, 1);
}

#[tokio::test]
async fn what_ended_before_a_restart_is_a_new_task_after_it() {
    let launch = launch().durable().script(SCRIPT);
    let server = launch.start().await;
    let first = sent(&server.client(), message("m1", "echo a")).await;
    let second = sent(&server.client(), message("m1", "echo a")).await;
    server.kill().await;
    let server = launch.start().await;
    let third = sent(&server.client(), message("m1", "echo a")).await;
    let ids: BTreeSet<_> = [&first, &second, &third].map(|task| task["id"].to_string()).into();
    assert_eq!(ids.len(), 3);
    assert_eq!(tasks(&server.client()).await, 3);
}

#[tokio::test]
async fn repeats_at_the_same_time_are_one_task() {
    let model = ModelServer::with_responses([says("One."), says("Two."), says("Three."), stuck("Four.")]);
    let (_launch, server) = start(&model).await;
    let client = server.client();
    let mut ids = BTreeSet::new();
    for _ in 0..3 {
        ids.insert(sent(&client, message("m1", "Go!")).await["id"].to_string());
    }
    let repeats = (0..16).map(|_| {
        let client = client.clone();
        async move { sent(&client, at_once("m1", "Go!")).await["id"].to_string() }
    });
    let repeats: BTreeSet<_> = join_all(repeats).await.into_iter().collect();
    assert_eq!(repeats.len(), 1, "{repeats:?}");
    assert!(ids.is_disjoint(&repeats));
    assert_eq!(tasks(&client).await, 4);
}

#[tokio::test]
async fn many_repeats_are_told_apart() {
    let server = launch().in_memory().script(SCRIPT).start().await;
    let client = server.client();
    let mut ids = BTreeSet::new();
    for _ in 0..20 {
        ids.insert(sent(&client, message("m1", "echo a")).await["id"].to_string());
    }
    assert_eq!(ids.len(), 20);
}

#[tokio::test]
async fn a_message_to_a_task_is_heard_again_after_its_turn() {
    let server = launch().in_memory().script(SCRIPT).start().await;
    let client = server.client();
    let asked = sent(&client, message("m1", "ask")).await;
    let id = asked["id"].as_str().expect("an id");
    assert_eq!(state(&sent(&client, message_to(id, "m2", "Ada")).await), "TASK_STATE_COMPLETED");
    let again = client.rpc("SendMessage", message_to(id, "m2", "Ada")).await;
    assert_eq!(again["error"]["code"], -32004, "a task that is over hears nothing more: {again:#}");
    let idempotent = client.with("A2A-Extensions", IDEMPOTENT);
    let again = sent(&idempotent, message_to(id, "m2", "Ada")).await;
    assert_eq!(again["id"], id, "with the extension it was heard for ever");
}
