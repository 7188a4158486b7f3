//! Reserved ids on every binding, before their first message.

use std::time::Duration;

use attache_domain::TaskId;
use attache_testkit::TestClient;
use attache_testkit::pairs::{Ask, Pair};
use serde_json::json;

use crate::live_socket::{activity, connect, live, next, prompt, send, texts};
use crate::world::Launch;

async fn reserve(client: &TestClient) -> String {
    client.post("/tasks", &json!({"contextId": "c1"})).await.json()["taskId"].as_str().unwrap().to_owned()
}

async fn listed(client: &TestClient, filter: &str) -> Vec<(String, String)> {
    let path = format!("/tasks?{filter}");
    let list = client.with("a2a-version", "1.0").get(&path).await.json();
    let tasks = list["tasks"].as_array().unwrap_or_else(|| panic!("{list:#}")).clone();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    tasks.iter().map(|task| (text(&task["id"]), text(&task["status"]["state"]))).collect()
}

#[tokio::test]
async fn a_reserved_id_is_listed_until_it_is_an_ordinary_task() {
    let server = live().start().await;
    let client = server.client();
    let (one, two) = (reserve(&client).await, reserve(&client).await);
    let submitted = "TASK_STATE_SUBMITTED".to_owned();
    assert_eq!(
        listed(&client, "").await,
        [(two.clone(), submitted.clone()), (one.clone(), submitted.clone())]
    );
    assert_eq!(listed(&client, "contextId=c1&status=TASK_STATE_SUBMITTED").await.len(), 2);
    assert_eq!(listed(&client, "contextId=c2").await, []);
    assert_eq!(listed(&client, "status=TASK_STATE_WORKING").await, []);
    client.post_stream(&format!("/tasks/{one}/messages/stream"), &prompt("echo a")).await.rest().await;
    let now = listed(&client, "").await;
    assert_eq!(now, [(one, "TASK_STATE_INPUT_REQUIRED".into()), (two.clone(), submitted)]);
    client.rpc("tasks/cancel", json!({"id": two})).await;
    assert_eq!(listed(&client, "").await[0], (two, "TASK_STATE_CANCELED".into()));
}

#[tokio::test]
async fn pages_lead_through_tasks_and_reserved_ids() {
    let server = live().start().await;
    let client = server.client().with("a2a-version", "1.0");
    let mut expected = Vec::new();
    for number in 0..5 {
        let task = reserve(&server.client()).await;
        if number % 2 == 0 {
            let path = format!("/tasks/{task}/messages/stream");
            server.client().post_stream(&path, &prompt("echo a")).await.rest().await;
        }
        expected.push(task);
    }
    expected.sort();
    let (mut seen, mut token) = (Vec::new(), String::new());
    loop {
        let page = client.get(&format!("/tasks?pageSize=2&pageToken={token}")).await.json();
        assert_eq!(page["totalSize"], 5, "{page:#}");
        seen.extend(
            page["tasks"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap().to_owned()),
        );
        token = page["nextPageToken"].as_str().unwrap_or_default().to_owned();
        if token.is_empty() {
            break;
        }
    }
    seen.sort();
    assert_eq!(seen, expected);
}

/// The states and the pieces of the answer that a client of plain A2A sees, and nothing of the extension.
fn plain_events(pair: Pair, frames: &[String]) -> Vec<String> {
    for raw in frames {
        let is_extension = raw.contains("coderAgent") || raw.contains("developer-profile");
        assert!(!is_extension, "{pair:?}: {raw}");
    }
    let state = |raw: &String| {
        let raw = raw.to_lowercase().replace(['_', ' '], "-");
        let states = ["submitted", "working", "input-required"];
        states.into_iter().find(|state| raw.contains(&format!("{state}\""))).map(str::to_owned)
    };
    let answer = |raw: &String| raw.contains("hello there").then(|| "hello there".to_owned());
    frames.iter().filter_map(|raw| answer(raw).or_else(|| state(raw))).collect()
}

#[tokio::test]
async fn every_binding_subscribes_to_it_and_sees_its_first_message_lead_to_work() {
    let server = live().start().await;
    let client = server.client();
    for pair in Pair::ALL {
        let task = reserve(&client).await;
        let mut stream = pair.stream(&client, &Ask::Subscribe(task.clone())).await;
        let first = stream.next().await.unwrap_or_else(|| panic!("{pair:?}"));
        let prompt = prompt("echo hello there");
        client.post_stream(&format!("/tasks/{task}/messages/stream"), &prompt).await.rest().await;
        let rest = stream.rest().await;
        let frames: Vec<_> = [first].into_iter().chain(rest).map(|item| item.raw.clone()).collect();
        let mut seen = plain_events(pair, &frames);
        seen.dedup();
        assert_eq!(seen, ["submitted", "working", "hello there", "input-required"], "{pair:?}: {frames:#?}");
    }
}

#[tokio::test]
async fn a_client_of_plain_a2a_subscribes_to_the_session_of_a_terminal() {
    let id = "0198c0de-0000-7000-8000-000000000001";
    let session = TaskId::from(id);
    let server = live().session_id(session.clone()).options(|options| options.live_session = Some(session));
    let server = server.start().await;
    let client = server.client();
    let pair = Pair::Rpc03;
    let mut stream = pair.stream(&client, &Ask::Subscribe(id.into())).await;
    let first = stream.next().await.unwrap();
    let path = format!("/tasks/{id}/messages/stream");
    client.post_stream(&path, &prompt("echo hello there")).await.rest().await;
    let rest = stream.rest().await;
    let frames: Vec<_> = [first].into_iter().chain(rest).map(|item| item.raw.clone()).collect();
    assert_eq!(plain_events(pair, &frames).last().unwrap(), "input-required", "{frames:#?}");
}

#[tokio::test]
async fn every_binding_cancels_it() {
    let server = live().start().await;
    let client = server.client();
    for pair in Pair::ALL {
        let task = reserve(&client).await;
        let mut socket = connect(&server, &format!("/ws?taskId={task}")).await;
        assert_eq!(next(&mut socket).await["state"], "submitted");
        let canceled = pair.result(&client, &Ask::Cancel(task.clone())).await;
        assert!(canceled["status"]["state"].as_str().unwrap().to_lowercase().contains("cancel"), "{pair:?}");
        let event = next(&mut socket).await;
        assert_eq!((&event["state"], &event["final"]), (&json!("canceled"), &json!(true)), "{pair:?}");
    }
}

#[tokio::test]
async fn sockets_join_it_before_its_first_message() {
    let server = live().start().await;
    let client = server.client();
    let mut early = connect(&server, "/ws").await;
    let task = reserve(&client).await;
    let mut narrow = connect(&server, &format!("/ws?taskId={task}")).await;
    let mut late = connect(&server, "/ws").await;
    for socket in [&mut early, &mut narrow, &mut late] {
        let event = next(socket).await;
        assert_eq!((&event["state"], &event["taskId"]), (&json!("submitted"), &json!(task)));
    }
    let mut request = prompt("echo hello");
    request["params"]["taskId"] = json!(task);
    send(&mut late, &request).await;
    let seen = activity(&mut late).await;
    assert_eq!(texts(&seen), "hello");
    assert_eq!((&seen[0]["kind"], &seen[0]["taskId"]), (&json!("USER_PROMPT"), &json!(task)));
    assert_eq!(activity(&mut early).await, seen);
    assert_eq!(activity(&mut narrow).await, seen);
}

/// Waits until the id is not known any more.
async fn until_gone(client: &TestClient, task: &str) {
    let waiting = async {
        while client.get(&format!("/tasks/{task}")).await.status != 404 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), waiting).await.expect("it expires");
}

async fn is_there(client: &TestClient, task: &str) -> bool {
    let is_listed = listed(client, "").await.iter().any(|(known, _)| known == task);
    let is_known = client.get(&format!("/tasks/{task}")).await.status == 200;
    assert_eq!(is_listed, is_known, "{task}");
    is_known
}

fn short_lived() -> Launch {
    live().session(|options| options.reservation_timeout = Duration::from_secs(1))
}

#[tokio::test]
async fn it_does_not_expire_while_a_client_reads_it_and_does_afterwards() {
    let server = short_lived().start().await;
    let client = server.client();
    let (watched, streamed, other) = (reserve(&client).await, reserve(&client).await, reserve(&client).await);
    let mut socket = connect(&server, &format!("/ws?taskId={watched}")).await;
    assert_eq!(next(&mut socket).await["state"], "submitted");
    let mut stream = client.stream("GET", &format!("/tasks/{streamed}/messages/stream"), b"").await;
    assert_eq!(stream.next().await.unwrap().payload()["state"], "submitted");
    until_gone(&client, &other).await;
    assert!(!is_there(&client, &other).await, "neither by its id nor in the list");
    for task in [&watched, &streamed] {
        assert!(is_there(&client, task).await);
    }
    // It can still be begun.
    send(&mut socket, &prompt("echo late")).await;
    assert_eq!(texts(&activity(&mut socket).await), "late");
    drop(stream);
    until_gone(&client, &streamed).await;
    assert!(is_there(&client, &watched).await, "it is a task now");
}

#[tokio::test]
async fn none_expires_while_a_client_of_all_tasks_is_connected() {
    let (server, other) = (short_lived().start().await, short_lived().start().await);
    let client = server.client();
    let mut socket = connect(&server, "/ws").await;
    let task = reserve(&client).await;
    assert_eq!(next(&mut socket).await["taskId"], json!(task));
    // Where nothing is connected, an id that was reserved later is gone first.
    let reference = reserve(&other.client()).await;
    until_gone(&other.client(), &reference).await;
    assert!(is_there(&client, &task).await);
    drop(socket);
    until_gone(&client, &task).await;
}
