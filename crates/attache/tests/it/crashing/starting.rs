//! `kill -9` while a server starts: whether it was opening the store, bringing it up to date or taking up tasks, the next
//! start finds everything.
//!
//! `ATTACHE_TEST_SEED=7` plays one course again; `ATTACHE_TEST_KILLS=200` tries harder.

use std::fs;
use std::time::Duration;

use attache_testkit::ServerLaunch;
use rusqlite::Connection;
use serde_json::json;

use super::randomly::{Chance, announced_seed, wanted};
use crate::support::{launch, message};
use crate::watching::{artifact, drop_in, reaches, replay, task};

const SCRIPT: &str = "rules:
  - text: '^quick$'
    steps: [{say: quick}]
  - text: '^slow$'
    steps: [{say: [a, b]}, {wait: 1s}, {say: c}]
";

/// Takes back what the later steps of the schema did, so that the next start has to take them again.
fn make_older(launch: &ServerLaunch) {
    let connection = Connection::open(launch.folder().join("tasks.db")).unwrap();
    let found_by = |name: &str| {
        format!(
            "DROP INDEX {name}; CREATE TABLE {name} \
             (hash INTEGER NOT NULL, task INTEGER NOT NULL, PRIMARY KEY (hash, task)) STRICT, WITHOUT ROWID;"
        )
    };
    let third = "DROP TABLE task_count; CREATE TABLE filing (up_to INTEGER NOT NULL) STRICT; INSERT INTO filing VALUES (0);";
    for step in [found_by("task_by_id"), found_by("task_by_context"), third.to_owned()] {
        connection.execute_batch(&step).unwrap();
    }
    for table in ["batch", "snapshot", "record"] {
        connection.execute_batch(&format!("ALTER TABLE {table} DROP COLUMN checksum")).unwrap();
    }
    connection.execute_batch("DELETE FROM schema_step WHERE number > 1; PRAGMA user_version = 1").unwrap();
    drop(connection);
    // It names a checksum, which an older database does not have.
    fs::remove_file(launch.folder().join("tasks.db.mark")).unwrap();
}

#[tokio::test]
async fn a_server_that_is_killed_while_it_starts_loses_nothing() {
    let mut chance = Chance(announced_seed());
    let kills = wanted("ATTACHE_TEST_KILLS").unwrap_or(16);
    let launch = launch().durable().script(SCRIPT);
    let server = launch.start().await;
    let client = server.client();
    let mut finished = Vec::new();
    for number in 0..5 {
        let sent = client.rpc("SendMessage", message(&format!("quick-{number}"), "quick")).await;
        finished.push(sent["result"]["task"].clone());
    }
    let at_work = drop_in(&client, message("slow", "slow")).await["id"].as_str().unwrap().to_owned();
    server.kill().await;
    make_older(&launch);
    let path = launch.folder().join("tasks.db");
    let older = fs::read(&path).unwrap();
    for round in 0..kills {
        // Every other time the next start goes on from where the last was killed.
        if round % 2 == 0 {
            for suffix in ["-wal", "-shm", ".mark"] {
                let _ = fs::remove_file(launch.folder().join(format!("tasks.db{suffix}")));
            }
            fs::write(&path, &older).unwrap();
        }
        launch.start_and_kill(Duration::from_micros(chance.below(150_000))).await;
    }
    let server = launch.start().await;
    let client = server.client();
    for before in &finished {
        assert_eq!(task(&client, before["id"].as_str().unwrap()).await, *before);
    }
    let done = reaches(&client, &at_work, "COMPLETED").await;
    assert_eq!(artifact(&done, "answer-1"), "abc", "{done:#}");
    let numbers: Vec<_> = replay(&client, &at_work).await.iter().map(|frame| frame.id.unwrap()).collect();
    assert!(numbers.is_sorted_by(|before, after| before < after), "{numbers:?}");
    let listed = client.rpc("ListTasks", json!({})).await;
    assert_eq!(listed["result"]["totalSize"], 6, "{listed:#}");
    assert_eq!(server.terminate().await, Some(0));
    let (code, text) = crate::store::store(&launch, &["check"]).await;
    assert_eq!(code, Some(0), "{text}");
}
