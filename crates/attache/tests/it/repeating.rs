//! A message that is sent again: the same while the turn that took it is under way, a new one after that.

use std::collections::BTreeSet;

use attache_testkit::TestClient;
use attache_testkit::model_server::ModelServer;
use serde_json::{Value, json};

use crate::agent_world::{answer_text, launch_with, says, start};
use crate::support::{SCRIPT, join_all, launch, message};
use crate::watching::{asked, open, reaches, stuck};

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
