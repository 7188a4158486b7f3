//! Files that go away under a running server, and a past that is not what it was.

use std::fs;

use serde_json::{Value, json};

use super::{durable, flip, get, send};
use crate::operations::until_logged;
use crate::support::message;

const REPLAY: &str = "urn:attache:extension:replay:v1";

#[tokio::test]
async fn nothing_is_acknowledged_once_the_database_is_deleted_or_replaced() {
    for replaced in [false, true] {
        let launch = durable();
        let server = launch.start().await;
        let client = server.client();
        let first = send(&client, "m1", "echo one").await;
        let path = launch.folder().join("tasks.db");
        if replaced {
            fs::copy(&path, launch.folder().join("copy")).unwrap();
            fs::rename(launch.folder().join("copy"), &path).unwrap();
        } else {
            fs::remove_file(&path).unwrap();
        }
        for number in 0..5 {
            let answer = client.rpc("SendMessage", message(&format!("lost-{number}"), "echo x")).await;
            assert!(answer.get("result").is_none() && answer.get("error").is_some(), "{answer:#}");
        }
        let health = client.get("/health").await;
        assert_eq!(health.status, 503);
        let reason = health.json()["reason"].as_str().unwrap().to_owned();
        assert!(reason.contains("deleted or replaced"), "{reason}");
        until_logged(&server, |log| log.contains("nothing is acknowledged any more")).await;
        assert!(client.get("/metrics").await.text().contains("attache_store_writable 0\n"));
        // What it has can still be read.
        assert_eq!(get(&client, &first).await["status"]["state"], "TASK_STATE_COMPLETED");
        server.terminate().await;
    }
}

/// The task's cursor, as the replay extension tells it.
async fn cursor(client: &attache_testkit::TestClient, task: &Value) -> String {
    let shown = client.with("A2A-Extensions", REPLAY).rpc("GetTask", json!({"id": task["id"]})).await;
    shown["result"]["metadata"][REPLAY]["cursor"].as_str().unwrap_or_else(|| panic!("{shown:#}")).to_owned()
}

fn epoch(cursor: &str) -> &str {
    cursor.split_once('.').unwrap().0
}

#[tokio::test]
async fn an_older_copy_in_place_of_the_database_is_told_and_has_another_epoch() {
    let launch = durable();
    let server = launch.start().await;
    let first = send(&server.client(), "m1", "echo one").await;
    let before = cursor(&server.client(), &first).await;
    server.terminate().await;
    let path = launch.folder().join("tasks.db");
    let backup = fs::read(&path).unwrap();
    let server = launch.start().await;
    send(&server.client(), "m2", "echo two").await;
    assert_eq!(cursor(&server.client(), &first).await, before, "a restart changes nothing");
    assert!(server.client().get("/health").await.json().get("warnings").is_none());
    server.terminate().await;

    fs::write(&path, backup).unwrap();
    let server = launch.start().await;
    let client = server.client();
    let after = cursor(&client, &first).await;
    assert_ne!(epoch(&after), epoch(&before));
    let health = client.get("/health").await;
    assert_eq!(health.status, 200, "it serves");
    let warning = health.json()["warnings"][0].as_str().unwrap().to_owned();
    assert!(warning.contains("lacks tasks or events"), "{warning}");
    until_logged(&server, |log| log.contains("lacks tasks or events")).await;
    assert!(client.get("/metrics").await.text().contains("attache_store_warnings 1\n"));
    // A reader who comes back with the old cursor hears that something is missing.
    let reader = client.with("A2A-Extensions", REPLAY).with("a2a-replay-cursor", &before);
    let mut stream = reader.rpc_stream("SubscribeToTask", json!({"id": first["id"]})).await;
    let shown = stream.next().await.unwrap();
    assert!(shown.raw.contains("\"gap\""), "{}", shown.raw);
}

#[tokio::test]
async fn a_lost_or_damaged_write_ahead_log_is_told() {
    for damaged in [false, true] {
        let launch = durable();
        let server = launch.start().await;
        let task = send(&server.client(), "needle", "echo one").await;
        server.kill().await;
        let log = launch.folder().join("tasks.db-wal");
        if damaged {
            flip(&log, "needle");
        } else {
            fs::remove_file(&log).unwrap();
        }
        let server = launch.start().await;
        let client = server.client();
        assert!(get(&client, &task).await.is_null(), "it is lost");
        let health = client.get("/health").await.json();
        assert!(
            health["warnings"][0].as_str().is_some_and(|it| it.contains("write-ahead log")),
            "{health:#}"
        );
        until_logged(&server, |log| log.contains("lacks tasks or events")).await;
    }
}
