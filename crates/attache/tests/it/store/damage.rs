//! One flipped bit concerns one task, and one damaged page what lies on it.

use std::path::Path;

use rusqlite::Connection;
use serde_json::json;

use super::{durable, flip, get, send, store};
use crate::operations::until_logged;
use crate::support::message;
use crate::watching::drop_in;

#[tokio::test]
async fn an_unreadable_task_is_quarantined_and_everything_else_is_served() {
    let launch = durable();
    let server = launch.start().await;
    let client = server.client();
    let mut at_work = message("slow-needle-one", "slow");
    at_work["configuration"] = json!({"returnImmediately": true});
    let at_work = client.rpc("SendMessage", at_work).await["result"]["task"].clone();
    let finished = send(&client, "needle-two", "echo lost").await;
    let sound = send(&client, "sound", "echo kept").await;
    assert_eq!(server.terminate().await, Some(0));
    let path = launch.folder().join("tasks.db");
    flip(&path, "slow-needle-one");
    flip(&path, "needle-two");

    let server = launch.start().await;
    let client = server.client();
    for task in [&at_work, &finished] {
        let shown = get(&client, task).await;
        assert_eq!(shown["status"]["state"], "TASK_STATE_FAILED", "{shown:#}");
        assert_eq!(shown["contextId"], task["contextId"]);
        let text = shown["status"]["message"]["parts"][0]["text"].as_str().unwrap();
        assert!(text.contains("cannot be read"), "{text}");
        until_logged(&server, |log| log.contains(task["id"].as_str().unwrap())).await;
        let refused = client.rpc("CancelTask", json!({"id": task["id"]})).await;
        assert_eq!(refused["error"]["code"], -32002, "not cancelable: {refused:#}");
    }
    assert_eq!(get(&client, &sound).await["status"]["state"], "TASK_STATE_COMPLETED");
    // A list of any page size leaves them out and reaches its end.
    for page_size in [1, 2, 50] {
        let (mut found, mut token) = (Vec::new(), String::new());
        loop {
            let list = json!({"pageSize": page_size, "pageToken": token});
            let page = client.rpc("ListTasks", list).await["result"].clone();
            found.extend(page["tasks"].as_array().unwrap().iter().map(|task| task["id"].clone()));
            token = page["nextPageToken"].as_str().unwrap_or_default().to_owned();
            if token.is_empty() {
                break;
            }
        }
        assert_eq!(found, [sound["id"].clone()], "{page_size} at a time");
    }
    let metrics = client.get("/metrics").await.text();
    assert!(metrics.contains("attache_tasks_unreadable 2\n"), "{metrics}");
    assert!(!metrics.contains("attache_unreadable_reads_total 0\n"), "{metrics}");
    send(&client, "another", "echo more").await;
    let (code, text) = store(&launch, &["check"]).await;
    assert_eq!(code, Some(1), "{text}");
    for task in [&at_work, &finished] {
        assert!(text.contains(&format!("fault: task {}: ", task["id"].as_str().unwrap())), "{text}");
    }
    assert!(text.contains("note: it is in use by process ") && text.ends_with("2 faults\n"), "{text}");
}

/// Overwrites the first page of a table or an index.
fn destroy_page(path: &Path, name: &str) {
    let connection = Connection::open(path).unwrap();
    let find = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let page: u32 = connection.query_row(find, [name], |row| row.get(0)).unwrap();
    let size: u32 = connection.query_row("PRAGMA page_size", [], |row| row.get(0)).unwrap();
    drop(connection);
    let mut bytes = std::fs::read(path).unwrap();
    bytes[((page - 1) * size) as usize..(page * size) as usize].fill(0xff);
    std::fs::write(path, bytes).unwrap();
}

#[tokio::test]
async fn a_server_with_a_damaged_page_in_its_listing_starts_and_says_so() {
    for index in ["task_unfinished", "task_by_status"] {
        let launch = durable();
        let server = launch.start().await;
        let client = server.client();
        let at_work = drop_in(&client, message("at-work", "slow")).await;
        let finished = send(&client, "finished", "echo one").await;
        assert_eq!(server.terminate().await, Some(0));
        destroy_page(&launch.folder().join("tasks.db"), index);

        let server = launch.start().await;
        let client = server.client();
        let list = client.rpc("ListTasks", json!({})).await;
        let mut listed: Vec<_> =
            list["result"]["tasks"].as_array().unwrap().iter().map(|task| task["id"].clone()).collect();
        listed.sort_by_key(ToString::to_string);
        let mut expected = vec![at_work["id"].clone(), finished["id"].clone()];
        expected.sort_by_key(ToString::to_string);
        assert_eq!(listed, expected, "{index}: {list:#}");
        assert_eq!(get(&client, &finished).await["status"]["state"], "TASK_STATE_COMPLETED", "{index}");
        until_logged(&server, |log| log.contains("`attache store check` names all")).await;
        let metrics = client.get("/metrics").await.text();
        assert!(!metrics.contains("attache_store_unreadable_rows 0\n"), "{index}: {metrics}");
        let (code, text) = store(&launch, &["check"]).await;
        assert_eq!(code, Some(1), "{index}: {text}");
    }
}
