//! A message that is sent again: the same while the turn that took it is under way, a new one after that, unless the
//! idempotent-send extension is active.

use std::collections::BTreeSet;

use attache_testkit::TestClient;
use attache_testkit::agent_client::{answer_text, open, reaches};
use attache_testkit::model_requests::asked;
use attache_testkit::model_server::ModelServer;
use attache_testkit::model_server::gemini::{says, stuck};
use attache_testkit::pairs::{Ask, Pair, canonical};
use attache_wire::extensions::IDEMPOTENT_SEND;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::agent_world::{launch_script, launch_with, start};
use crate::world::{SCRIPT, launch, message, message_to};

async fn sent(client: &TestClient, params: Value) -> Value {
    let answer = client.rpc("SendMessage", params).await;
    answer["result"].get("task").cloned().unwrap_or_else(|| panic!("{answer:#}"))
}

async fn tasks(client: &TestClient) -> u64 {
    client.rpc("ListTasks", json!({})).await["result"]["totalSize"].as_u64().expect("a total")
}

#[tokio::test]
async fn after_its_turn_a_message_opens_another_task_on_every_pair() {
    let server = launch().start().await;
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
async fn each_of_many_repeats_is_a_task_of_its_own() {
    let server = launch().start().await;
    let client = server.client();
    let mut ids = BTreeSet::new();
    for _ in 0..20 {
        ids.insert(sent(&client, message("m1", "echo a")).await["id"].to_string());
    }
    assert_eq!(ids.len(), 20);
}

#[tokio::test]
async fn a_message_to_a_finished_task_is_refused_unless_it_is_idempotent() {
    let server = launch().start().await;
    let client = server.client();
    let asked = sent(&client, message("m1", "ask")).await;
    let id = asked["id"].as_str().expect("an id");
    let answered = sent(&client, message_to(id, "m2", "Ada")).await;
    assert_eq!(answered["status"]["state"], "TASK_STATE_COMPLETED");
    let again = client.rpc("SendMessage", message_to(id, "m2", "Ada")).await;
    assert_eq!(again["error"]["code"], -32004, "a finished task takes no message: {again:#}");
    let idempotent = client.with("A2A-Extensions", IDEMPOTENT_SEND);
    let again = sent(&idempotent, message_to(id, "m2", "Ada")).await;
    assert_eq!(again["id"], id, "with the extension it counts as received for ever");
}

fn at_once(id: &str, text: &str) -> Value {
    let mut params = message(id, text);
    params["configuration"] = json!({"returnImmediately": true});
    params
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
    let launch = launch_script(SCRIPT);
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
