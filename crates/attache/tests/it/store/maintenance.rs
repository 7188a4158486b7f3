//! `attache store check|backup|restore|compact`, beside a running server and without one.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use attache_testkit::{ServerLaunch, TestClient};

use super::{durable, get, send, store};
use crate::operations::until_logged;

/// Backs up to `copy.db` while tasks are opened one after the other, some of them during the backup. What was acknowledged
/// before it began is in the copy, and nothing that came after its end.
async fn backup_while_writing(launch: &ServerLaunch, client: &TestClient) -> String {
    let (written, over) = (Cell::new(1), Cell::new(false));
    let writing = async {
        while !over.get() {
            send(client, &format!("more-{}", written.get()), "echo more").await;
            written.set(written.get() + 1);
        }
    };
    let backing_up = async {
        loop {
            let before = written.get();
            let (code, text) = store(launch, &["backup", "copy.db"]).await;
            assert_eq!(code, Some(0), "{text}");
            let copied =
                text.split(" tasks, ").next().and_then(|text| text.lines().last()?.parse::<u64>().ok());
            // The last of them may be in it before it is acknowledged.
            let range = before..=written.get() + 1;
            assert!(copied.is_some_and(|copied| range.contains(&copied)), "{range:?}: {text}");
            if written.get() > before {
                over.set(true);
                return text;
            }
            // On a busy machine the backup may have been faster than any task.
            fs::remove_file(launch.folder().join("copy.db")).unwrap();
        }
    };
    tokio::join!(backing_up, writing).0
}

#[tokio::test]
async fn a_backup_taken_while_a_server_writes_is_whole_and_can_be_restored() {
    let launch = durable();
    let server = launch.start().await;
    let client = server.client();
    let first = send(&client, "m1", "echo one").await;
    let backed_up = backup_while_writing(&launch, &client).await;
    assert!(backed_up.contains("copy.db: no fault"), "{backed_up}");
    let copy = launch.folder().join("copy.db");
    assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o600, "records may be secret");
    assert!(!launch.folder().join("copy.db.part").exists());
    let again = store(&launch, &["backup", "copy.db"]).await;
    assert!(again.0 == Some(1) && again.1.contains("copy.db exists already"), "{}", again.1);

    // Not over a running server, with or without force.
    for arguments in [&["restore", "copy.db"][..], &["restore", "copy.db", "--force"], &["compact"]] {
        let (code, text) = store(&launch, arguments).await;
        let holder = format!("is in use by another process ({}, attache)", server.pid());
        assert!(code == Some(1) && text.contains(&holder) && text.contains("stop the server"), "{text}");
    }
    let last = send(&client, "m2", "echo two").await;
    let before = client.get("/health").await.json();
    assert_eq!(server.terminate().await, Some(0));

    let refused = store(&launch, &["restore", "copy.db"]).await;
    assert!(refused.0 == Some(1) && refused.1.contains("tasks.db exists already"), "{}", refused.1);
    assert!(refused.1.contains("--force"), "{}", refused.1);
    let restored = store(&launch, &["restore", "copy.db", "--force"]).await;
    assert_eq!(restored.0, Some(0), "{}", restored.1);
    assert!(launch.folder().join("tasks.db.before-restore").exists(), "{}", restored.1);
    let restored = store(&launch, &["restore", "copy.db", "--force"]).await;
    let second = launch.folder().join("tasks.db.before-restore-2");
    assert!(restored.1.contains("tasks.db.before-restore-2\n") && second.exists(), "{}", restored.1);

    let server = launch.start().await;
    let client = server.client();
    assert_eq!(get(&client, &first).await["status"]["state"], "TASK_STATE_COMPLETED");
    assert!(get(&client, &last).await.is_null(), "it came after the backup");
    let health = client.get("/health").await.json();
    assert!(health.get("warnings").is_none(), "restored on purpose: {health:#}");
    assert!(health["totalTasks"].as_u64() < before["totalTasks"].as_u64());
    until_logged(&server, |log| log.contains("earlier cursors are not resumed")).await;
}

#[tokio::test]
async fn a_damaged_backup_is_not_restored() {
    let launch = durable();
    let server = launch.start().await;
    send(&server.client(), "needle", "echo one").await;
    assert_eq!(store(&launch, &["backup", "copy.db"]).await.0, Some(0));
    server.terminate().await;
    super::flip(&launch.folder().join("copy.db"), "needle");
    fs::remove_file(launch.folder().join("tasks.db")).unwrap();
    let (code, text) = store(&launch, &["restore", "copy.db"]).await;
    assert!(code == Some(1) && text.contains("copy.db has one fault and is not restored"), "{text}");
    let (code, text) = store(&launch, &["restore", "none.db"]).await;
    assert!(code == Some(1) && text.contains("there is no database at none.db"), "{text}");
    fs::write(launch.folder().join("notes.txt"), "These are my notes.\n".repeat(500)).unwrap();
    let (code, text) = store(&launch, &["restore", "notes.txt"]).await;
    assert!(code == Some(1) && text.contains("notes.txt is damaged or not a database"), "{text}");
}

#[tokio::test]
async fn a_sound_store_is_checked_and_compacted() {
    let launch = durable();
    let (code, text) = store(&launch, &["check"]).await;
    assert!(code == Some(1) && text.contains("there is no database at"), "{text}");
    let server = launch.start().await;
    let task = send(&server.client(), "m1", "echo one").await;
    let (code, text) = store(&launch, &["check"]).await;
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("1 tasks, ") && text.ends_with("tasks.db: no fault\n"), "{text}");
    server.kill().await;
    let (code, text) = store(&launch, &["check"]).await;
    assert_eq!(code, Some(0), "as a crash leaves it: {text}");
    let (code, text) = store(&launch, &["compact"]).await;
    assert!(code == Some(0) && text.contains("compacted"), "{text}");
    let server = launch.start().await;
    assert_eq!(get(&server.client(), &task).await["status"]["state"], "TASK_STATE_COMPLETED");
    let health = server.client().get("/health").await.json();
    assert!(health.get("warnings").is_none(), "{health:#}");
    assert!(!server.log().contains("cursors are not resumed"), "{}", server.log());
}
