//! Idempotent sends: for clients that activate the extension, a message's id alone tells whether it came before.

use attache_testkit::TestClient;
use serde_json::{Value, json};

use crate::world::launch;
use attache_testkit::pairs::canonical;
use attache_testkit::pairs::{Ask, Pair};

const URI: &str = "urn:attache:extension:idempotent-send:v1";

async fn sent(pair: Pair, client: &TestClient, params: Value) -> Value {
    let sent = pair.result(client, &Ask::Send(params)).await;
    canonical::item(pair, &sent)["task"].take()
}

#[tokio::test]
async fn the_same_id_with_other_content_is_refused_on_every_pair() {
    let server = launch().start().await;
    let client = server.client().with("A2A-Extensions", URI);
    let first = sent(Pair::Rpc10, &client, Pair::Rpc10.text("m", "echo one")).await;
    for pair in Pair::ALL {
        let again = sent(pair, &client, pair.text("m", "echo one")).await;
        assert_eq!(again["id"], first["id"], "{pair:?}: the same message again is the same task");
        let refused = pair.call(&client, &Ask::Send(pair.text("m", "echo two"))).await.refusal();
        assert_eq!(refused.fields, ["message.messageId"], "{pair:?}");
        assert_eq!(refused.reason.as_deref().unwrap_or("MESSAGE_ID_TAKEN"), "MESSAGE_ID_TAKEN");
        let streamed = pair.call(&client, &Ask::Stream(pair.text("m", "echo three"))).await.refusal();
        assert_eq!(streamed.fields, ["message.messageId"], "{pair:?}");
    }
    let listed = client.with("A2A-Version", "1.0").get("/tasks").await.json();
    assert_eq!(listed["totalSize"], json!(1), "nothing was started for what was refused");
}

#[tokio::test]
async fn a_message_to_a_task_counts_too() {
    let server = launch().start().await;
    let client = server.client().with("A2A-Extensions", URI);
    for pair in Pair::ALL {
        let asked = sent(pair, &client, pair.text(&format!("ask-{pair:?}"), "ask")).await;
        let task = asked["id"].as_str().unwrap();
        let reply = format!("reply-{pair:?}");
        let done = sent(pair, &client, pair.text_to(task, &reply, "blue")).await;
        assert_eq!(done["id"], asked["id"]);
        let refused = pair.call(&client, &Ask::Send(pair.text_to(task, &reply, "red"))).await.refusal();
        assert_eq!(refused.fields, ["message.messageId"], "{pair:?}");
        let again = sent(pair, &client, pair.text_to(task, &reply, "blue")).await;
        assert_eq!(again["history"], done["history"], "{pair:?}: said once");
    }
}

#[tokio::test]
async fn who_does_not_activate_it_may_use_an_id_again() {
    let server = launch().start().await;
    let client = server.client();
    let one = sent(Pair::Rpc10, &client, Pair::Rpc10.text("m", "echo one")).await;
    let two = sent(Pair::Rpc10, &client, Pair::Rpc10.text("m", "echo two")).await;
    assert_ne!(one["id"], two["id"]);
}
