//! A message that is sent again after its turn: a new one, unless the idempotent-send extension is active.

use std::collections::BTreeSet;

use attache_testkit::TestClient;
use attache_testkit::pairs::{Ask, Pair, canonical};
use attache_wire::extensions::IDEMPOTENT_SEND;
use serde_json::{Value, json};

use crate::world::{launch, message, message_to};

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
