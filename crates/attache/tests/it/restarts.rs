//! What clients hold on to stays good when the server is killed and starts again on its file.

use attache_testkit::TestClient;
use attache_testkit::pairs::{Ask, Pair, task_of};
use serde_json::{Value, json};

use crate::support::{SCRIPT, launch, message, message_to};

/// Every task from the first page to the last, by pages of five; and the token of the second page.
async fn walk(client: &TestClient) -> (Vec<Value>, String) {
    let (mut tasks, mut tokens) = (Vec::new(), vec![String::new()]);
    loop {
        let params = json!({"pageSize": 5, "pageToken": tokens[tokens.len() - 1]});
        let page = client.rpc("ListTasks", params).await["result"].take();
        tasks.extend(page["tasks"].as_array().expect("tasks").clone());
        let token = page["nextPageToken"].as_str().expect("always there").to_owned();
        if token.is_empty() {
            return (tasks, tokens.swap_remove(1));
        }
        tokens.push(token);
    }
}

#[tokio::test]
async fn a_list_is_the_same_after_a_restart() {
    let launch = launch().durable().script(SCRIPT);
    let server = launch.start().await;
    for number in 0..12 {
        task_of(Pair::Rpc10, &server.client(), &format!("many-{number}"), "echo x").await;
    }
    task_of(Pair::Rpc10, &server.client(), "m1", "ask").await;
    let (before, token) = walk(&server.client()).await;
    assert_eq!(before.len(), 13);
    server.kill().await;
    let server = launch.start().await;
    let (after, _) = walk(&server.client()).await;
    assert_eq!(after, before);
    let page = server.client().rpc("ListTasks", json!({"pageSize": 5, "pageToken": token})).await;
    let tasks = page["result"]["tasks"].as_array().expect("tasks");
    assert_eq!(tasks[..], before[5..10], "an old token still leads on");
}

#[tokio::test]
async fn tenants_stay_apart_after_a_restart() {
    let of_acme = |mut params: Value| {
        params["tenant"] = "acme".into();
        params
    };
    let launch = launch().durable().script(SCRIPT);
    let server = launch.start().await;
    let client = server.client().with("A2A-Version", "1.0");
    let sent = client.rpc("SendMessage", of_acme(message("m1", "ask"))).await;
    let id = sent["result"]["task"]["id"].as_str().expect("a task").to_owned();
    server.kill().await;
    let server = launch.start().await;
    let client = server.client().with("A2A-Version", "1.0");
    for (path, expected) in [("/acme", 200), ("/other", 404), ("", 404)] {
        let answer = client.get(&format!("{path}/tasks/{id}")).await;
        assert_eq!(answer.status, expected, "{path:?}: {}", answer.text());
    }
    let answered = client.rpc("SendMessage", of_acme(message_to(&id, "m2", "Ada"))).await;
    assert_eq!(answered["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{answered:#}");
}

#[tokio::test]
async fn cursors_stay_good_over_a_restart() {
    const URI: &str = "urn:attache:extension:replay:v1";
    let cursor = |item: &Value| item["metadata"][URI]["cursor"].as_str().expect("a cursor").to_owned();
    let inner = |payload: &Value| payload.as_object().expect("an item").values().next().expect("one").clone();
    let launch = launch().durable().script(SCRIPT);
    let server = launch.start().await;
    let client = server.client().with("A2A-Extensions", URI);
    let mut stream = Pair::Rpc10.stream(&client, &Ask::Stream(Pair::Rpc10.text("m", "stream"))).await;
    let items: Vec<Value> = stream.rest().await.iter().map(|frame| inner(frame.payload())).collect();
    let task = items[0]["id"].as_str().expect("a task").to_owned();
    server.kill().await;
    let server = launch.start().await;
    let client = server.client().with("A2A-Extensions", URI).with("a2a-replay-cursor", &cursor(&items[2]));
    let again = Pair::Rest10.stream(&client, &Ask::Subscribe(task)).await.rest().await;
    let cursors: Vec<String> = again.iter().map(|frame| cursor(&inner(frame.payload()))).collect();
    assert_eq!(cursors, items[2..].iter().map(cursor).collect::<Vec<_>>());
}

#[tokio::test]
async fn idempotent_sends_hold_over_a_restart() {
    const URI: &str = "urn:attache:extension:idempotent-send:v1";
    let launch = launch().durable().script(SCRIPT);
    let server = launch.start().await;
    let client = server.client().with("A2A-Extensions", URI);
    let first = task_of(Pair::Rpc10, &client, "m", "echo one").await;
    server.kill().await;
    let server = launch.start().await;
    let client = server.client().with("A2A-Extensions", URI);
    assert_eq!(task_of(Pair::Rest10, &client, "m", "echo one").await, first);
    let refused = Pair::Rest10.call(&client, &Ask::Send(Pair::Rest10.text("m", "echo two"))).await.refusal();
    assert_eq!(refused.fields, ["message.messageId"]);
}
