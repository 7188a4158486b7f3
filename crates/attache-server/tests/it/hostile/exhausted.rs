//! One caller that takes all it can get: health, the card, approvals and cancels work on, and a refusal names the limit.

use attache_testkit::{SseStream, TestClient};
use serde_json::{Value, json};

use super::world::{Connection, World};
use crate::world::{message, message_to};

/// Three of the connections are in reserve, and one caller may have 18 streams.
const CONNECTIONS: usize = 24;
const STREAMS: usize = 18;

async fn world() -> World {
    World::with(|limits| limits.connections = CONNECTIONS).await
}

/// The id of a task that waits for an answer.
async fn waiting_task(client: &TestClient, id: &str) -> String {
    let answer = client.rpc("SendMessage", message(id, "ask")).await;
    assert_eq!(answer["result"]["task"]["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "{answer}");
    answer["result"]["task"]["id"].as_str().unwrap().to_owned()
}

async fn subscriptions(client: &TestClient, task: &str) -> Vec<SseStream> {
    let mut streams = Vec::new();
    for _ in 0..STREAMS {
        let mut stream = client.rpc_stream("SubscribeToTask", json!({ "id": task })).await;
        assert!(stream.next().await.is_some(), "the task comes first");
        streams.push(stream);
    }
    streams
}

/// Takes every connection that is not in reserve and uses none.
async fn held_connections(world: &World) -> Vec<Connection> {
    let mut held = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut connection = world.connect().await;
        assert!(connection.say(b"POST / HTTP/1.1\r\nhost: localhost\r\nx-held: ").await);
        held.push(connection);
    }
    held
}

fn rpc(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

async fn everybody_sees_health_and_the_card(client: &TestClient) {
    for path in ["/health", "/.well-known/agent-card.json"] {
        assert_eq!(client.get(path).await.status, 200, "{path}");
    }
}

/// An answer to a waiting task, streamed and plain, and a cancel.
async fn answers_and_cancels_work(client: &TestClient, waiting: [&str; 3]) {
    let [streamed, plain, canceled] = waiting;
    let mut stream = client.rpc_stream("SendStreamingMessage", message_to(streamed, "a1", "Ada")).await;
    let mut said = String::new();
    while let Some(frame) = stream.next().await {
        said.push_str(&frame.data.to_string());
    }
    assert!(said.contains("Hello, Ada!"), "{said}");
    let answer = client.rpc("SendMessage", message_to(plain, "a2", "Bob")).await;
    assert!(answer["result"].to_string().contains("Hello, Bob!"), "{answer}");
    let answer = client.rpc("CancelTask", json!({ "id": canceled })).await;
    assert_eq!(answer["result"]["status"]["state"], "TASK_STATE_CANCELED", "{answer}");
}

#[tokio::test]
async fn one_caller_s_streams_leave_the_server_to_everybody_else() {
    let world = world().await;
    let client = world.server().client();
    let mut waiting = Vec::new();
    for id in ["w1", "w2", "w3", "w4"] {
        waiting.push(waiting_task(&client, id).await);
    }
    let streams = subscriptions(&client, &waiting[3]).await;
    let refused = client.post("/", &rpc("SubscribeToTask", json!({ "id": waiting[0] }))).await;
    check_limit("json-rpc", refused.status, refused.header("retry-after"), &refused.text());
    let refused = client.get(&format!("/tasks/{}:subscribe", waiting[0])).await;
    check_limit("rest", refused.status, refused.header("retry-after"), &refused.text());
    let refused = client.post("/message:send", &message("m9", "echo x")).await;
    check_limit("a send that waits", refused.status, refused.header("retry-after"), &refused.text());
    everybody_sees_health_and_the_card(&client).await;
    answers_and_cancels_work(&client, [&waiting[0], &waiting[1], &waiting[2]]).await;
    let mut at_once = message("m10", "echo x");
    at_once["configuration"] = json!({ "returnImmediately": true });
    assert!(client.rpc("SendMessage", at_once).await["result"].is_object());
    let metrics = client.get("/metrics").await.text();
    assert!(metrics.contains("attache_streams_refused_total 3\n"), "{metrics}");
    drop(streams);
    until_served(&client).await;
}

#[tokio::test]
async fn when_all_connections_are_taken_health_approvals_and_cancels_still_work() {
    let world = world().await;
    let client = world.server().client();
    let mut waiting = Vec::new();
    for id in ["w1", "w2", "w3"] {
        waiting.push(waiting_task(&client, id).await);
    }
    let held = held_connections(&world).await;
    everybody_sees_health_and_the_card(&client).await;
    answers_and_cancels_work(&client, [&waiting[0], &waiting[1], &waiting[2]]).await;
    for (path, body) in [
        ("/", rpc("SendMessage", message("m9", "echo x"))),
        ("/message:send", message("m9", "echo x")),
        ("/", rpc("SendStreamingMessage", message("m9", "echo x"))),
    ] {
        let refused = client.post(path, &body).await;
        assert_eq!(refused.status, 503, "{path}: {}", refused.text());
        assert_eq!(refused.header("retry-after"), Some("2"), "{path}: {}", refused.text());
        assert!(refused.text().contains("all connections are taken"), "{path}: {}", refused.text());
    }
    drop(held);
    until_served(&client).await;
}

/// The limits are given back with what was open.
async fn until_served(client: &TestClient) {
    loop {
        let answer = client.post("/", &rpc("SendMessage", message("again", "echo x"))).await;
        if answer.status == 200 {
            assert!(answer.json()["result"].is_object(), "{}", answer.text());
            return;
        }
        assert!(matches!(answer.status, 429 | 503), "{}", answer.text());
        tokio::task::yield_now().await;
    }
}

#[track_caller]
fn check_limit(what: &str, status: u16, retry_after: Option<&str>, text: &str) {
    assert_eq!((status, retry_after), (429, Some("2")), "{what}: {text}");
    assert!(text.contains("18 streams and waiting calls"), "{what}: {text}");
}
