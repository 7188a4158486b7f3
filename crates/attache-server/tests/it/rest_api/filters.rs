//! Filters of `GET /tasks`: the states of this API and those of A2A.

use std::collections::BTreeSet;

use attache_testkit::TestClient;
use serde_json::{Value, json};

use super::{create, execute};
use crate::world::launch;

async fn listed(client: &TestClient, query: &str) -> BTreeSet<String> {
    let list = client.get(&format!("/tasks?{query}")).await;
    assert_eq!(list.status, 200, "{query}: {}", list.text());
    let list = list.json();
    let tasks = list["tasks"].as_array().unwrap();
    tasks.iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect()
}

fn set(tasks: &[&String]) -> BTreeSet<String> {
    tasks.iter().map(|task| (*task).clone()).collect()
}

#[tokio::test]
async fn tasks_are_found_by_the_states_of_both_kinds() {
    for is_live in [false, true] {
        let server = launch().options(move |options| options.live = is_live).start().await;
        let client = server.client();
        let create = async |context: &str| create(&client, &json!({ "contextId": context })).await;
        let (waiting, done, failed, canceled, asking) = (
            create("c1").await,
            create("c1").await,
            create("c2").await,
            create("c2").await,
            create("c1").await,
        );
        execute(&client, &done, "echo a").await;
        execute(&client, &failed, "fail").await;
        client.call("POST", &format!("/tasks/{canceled}/cancel"), b"").await;
        let path = format!("/tasks/{asking}/execute");
        let mut stream = client.post_stream(&path, &json!({"message": "slow"})).await;
        stream.next().await.expect("it works");

        let (running, errors) = (set(&[&waiting, &asking]), set(&[&failed, &canceled]));
        for name in ["state", "status"] {
            let by = async |state: &str| listed(&client, &format!("{name}={state}")).await;
            assert_eq!(by("running").await, running, "{name}, {is_live}");
            assert_eq!(by("completed").await, set(&[&done]), "{name}, {is_live}");
            assert_eq!(by("error").await, errors, "{name}, {is_live}");
            assert_eq!(by("TASK_STATE_CANCELED").await, set(&[&canceled]));
            assert_eq!(by("TASK_STATE_SUBMITTED").await, set(&[&waiting]));
        }
        assert_eq!(listed(&client, "state=error&contextId=c1").await, set(&[]));
        assert_eq!(listed(&client, "state=running&contextId=c1").await, running);
        // A session waits for its next prompt after one that failed.
        let a2a_state = if is_live { "TASK_STATE_INPUT_REQUIRED" } else { "TASK_STATE_FAILED" };
        assert_eq!(listed(&client, &format!("state=error&status={a2a_state}")).await, set(&[&failed]));
        assert_eq!(listed(&client, "").await.len(), 5);
        // Every task that is listed has the state that was asked for.
        for state in ["running", "completed", "error"] {
            let list = client.get(&format!("/tasks?state={state}")).await.json();
            assert!(list["tasks"].as_array().unwrap().iter().all(|task| task["state"] == state), "{list:#}");
        }
    }
}

#[tokio::test]
async fn pages_of_a_state_lead_through_all_of_its_tasks() {
    let server = launch().start().await;
    let client = server.client();
    let mut expected = BTreeSet::new();
    for number in 0..7 {
        let task = create(&client, &json!({})).await;
        match number % 3 {
            0 => drop(client.call("POST", &format!("/tasks/{task}/cancel"), b"").await),
            1 => drop(execute(&client, &task, "fail").await),
            _ => drop(execute(&client, &task, "echo a").await),
        }
        if number % 3 < 2 {
            expected.insert(task);
        }
    }
    let (mut seen, mut token, mut pages) = (BTreeSet::new(), String::new(), 0);
    loop {
        let page: Value =
            client.get(&format!("/tasks?state=error&pageSize=2&pageToken={token}")).await.json();
        assert_eq!(page["totalSize"], 5, "{page:#}");
        for task in page["tasks"].as_array().unwrap() {
            assert!(seen.insert(task["id"].as_str().unwrap().to_owned()), "twice: {task}");
        }
        pages += 1;
        token = page["nextPageToken"].as_str().unwrap_or_default().to_owned();
        if token.is_empty() {
            break;
        }
    }
    assert_eq!((seen, pages), (expected, 3));
    let first = client.get("/tasks?state=error&pageSize=2").await.json();
    let token = first["nextPageToken"].as_str().unwrap();
    let other = client.get(&format!("/tasks?state=completed&pageToken={token}")).await;
    assert_eq!(other.status, 400, "a token belongs to its filters: {}", other.text());
}

#[tokio::test]
async fn a_filter_that_means_nothing_is_refused_with_what_would_be_right() {
    let server = launch().start().await;
    let client = server.client();
    for (query, part) in [
        ("status=done", "must be one of running, completed, error, TASK_STATE_SUBMITTED"),
        ("state=Running", "not \\\"Running\\\""),
        ("status=running&state=error", "given twice"),
        ("pageSize=5&pageSize=6", "given twice"),
        ("pageSize=many", "pageSize"),
        ("pageSize=0", "pageSize"),
        ("pageSize=101", "pageSize"),
        ("pageToken=rubbish", "token"),
        ("statusTimestampAfter=yesterday", "2025-10-28T10:30:00.000Z"),
        ("historyLength=-1", "historyLength"),
        ("includeArtifacts=maybe", "includeArtifacts"),
    ] {
        let refused = client.get(&format!("/tasks?{query}")).await;
        assert_eq!(refused.status, 400, "{query}: {}", refused.text());
        assert_eq!(refused.header("content-type"), Some("application/json"), "{query}");
        assert!(refused.text().contains(part), "{query}: {}", refused.text());
    }
    assert_eq!(client.get("/tasks?later=1&later=2").await.status, 200, "unknown ones are ignored");
    let pure = client.with("A2A-Version", "1.0").get("/tasks?status=running").await;
    assert_eq!(pure.status, 400, "A2A has no such state: {}", pure.text());
}

#[tokio::test]
async fn a_filter_that_cannot_be_read_is_refused_and_not_left_out() {
    let server = launch().start().await;
    let client = server.client();
    for (query, field) in [
        ("contextId=%ff", "contextId"),
        ("state=%ff", "state"),
        ("pageSize=%", "pageSize"),
        ("pageSize=1&pageSize=2", "pageSize"),
    ] {
        for client in [client.clone(), client.with("A2A-Version", "1.0")] {
            let refused = client.get(&format!("/tasks?{query}")).await;
            assert_eq!(refused.status, 400, "{query}: {}", refused.text());
            let violation = refused.json()["error"]["details"][1]["fieldViolations"][0]["field"].clone();
            assert_eq!(violation, field, "{query}: {}", refused.text());
        }
    }
    assert_eq!(client.get("/tasks?pageSize=2&pageSize=2&contextId=").await.status, 200);
}
