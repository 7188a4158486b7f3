//! One flipped bit concerns one task.

use serde_json::json;

use super::{durable, flip, get, send, store};
use crate::support::message;
use crate::watching::eventually;

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
        eventually("a line of the log", || server.log().contains(task["id"].as_str().unwrap())).await;
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
