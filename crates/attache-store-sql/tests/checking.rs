//! A check names every kind of fault, and nothing else.

use std::path::Path;
use std::sync::Arc;

use attache_domain::{
    ContextId, Digest, Event, Fact, Message, MessageId, OpenTask, Presentation, Progress, ReplyShape, Scope,
    Seq, TaskEnding, TaskId, TaskKey, TaskSummary, Timestamp, TurnOutcome,
};
use attache_store::{Append, EventLog, Records, Snapshot};
use attache_store_sql::{MaintenanceError, SqliteOptions, SqliteStore, check, compact, restore};
use rusqlite::Connection;

/// Tasks as a session writes them, each with three batches: their listing rows follow from their logs.
async fn filled(path: &Path) {
    let store = SqliteStore::open(path, SqliteOptions::default()).expect("opens");
    for name in ["a", "b", "c"] {
        let scope = Scope::new("tenant", "owner");
        let key = TaskKey { scope: scope.clone(), task: TaskId::from(name) };
        let context = ContextId::from("context");
        let opening = OpenTask {
            task: key.task.clone(),
            scope,
            context: context.clone(),
            message: Message::from_agent(MessageId::from("m"), context, None, "text"),
            digest: Digest("00".into()),
            reply: ReplyShape::Task,
            metadata: None,
            ending: TaskEnding::Completes,
            presentation: Presentation::default(),
        };
        let facts = [
            opening.decide(),
            Fact::TurnStarted { turn: 1, model: None },
            Fact::TurnEnded { outcome: TurnOutcome::Completed, message: None, usage: None },
        ];
        let mut progress: Option<Progress> = None;
        for (expected, fact) in facts.into_iter().enumerate() {
            let event = Event { seq: Seq(expected as u64 + 1), at: Timestamp::UNIX_EPOCH, fact };
            match &mut progress {
                Some(progress) => progress.apply(&event),
                None => progress = Progress::open(&event),
            }
            let summary = TaskSummary::of(progress.as_ref().expect("is open"));
            let append = Append {
                key: key.clone(),
                expected: Seq(expected as u64),
                events: vec![Arc::new(event)],
                summary,
            };
            store.append(append).await.expect("appends");
        }
        store.save_snapshot(&key, Snapshot { at: Seq(3), bytes: vec![1] }).await.expect("keeps");
    }
    store.get_or_put("space", "key", b"value".to_vec()).await.expect("puts");
}

/// The one fault that a change of the file makes.
async fn fault_after(sql: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("tasks.db");
    filled(&path).await;
    assert_eq!(check(&path).expect("checks").faults, [""; 0], "before {sql}");
    let connection = Connection::open(&path).expect("opens");
    assert!(connection.execute(sql, []).expect("is SQL") > 0, "{sql} changed nothing");
    drop(connection);
    let report = check(&path).expect("checks");
    assert!(!report.faults.is_empty(), "nothing was found after {sql}");
    // What has a fault is not restored.
    let elsewhere = folder.path().join("elsewhere.db");
    let refused = restore(&path, &elsewhere, false);
    assert!(matches!(refused, Err(MaintenanceError::Damaged { .. })), "{refused:?}");
    report.faults.join("\n")
}

#[tokio::test]
async fn every_kind_of_fault_is_named() {
    let place = |task: i64, seq: i64| (task << 28) + seq;
    let cases = [
        (
            format!("UPDATE batch SET body = replace(body, '1', '2') WHERE place = {}", place(1, 2)),
            "task a: the events up to 2: ",
        ),
        (
            format!("DELETE FROM batch WHERE place = {}", place(2, 2)),
            "task b: the events after 1 and before 3 are missing",
        ),
        (format!("DELETE FROM batch WHERE place >> 28 = {}", 3), "task c has a listing row and no events"),
        (
            format!("DELETE FROM batch WHERE place = {}", place(2, 1)),
            "task b: the events after 0 and before 2 are missing",
        ),
        (
            format!("DELETE FROM batch WHERE place = {}", place(2, 3)),
            "task b: its listing row has another state than its log",
        ),
        (
            format!("DELETE FROM batch WHERE place = {}", place(3, 3)),
            "lacks tasks or events that were acknowledged",
        ),
        ("DELETE FROM task WHERE id = 'b'".into(), "task number 2 has events and no listing row"),
        (
            "UPDATE task SET state = 3 WHERE id = 'a'".into(),
            "task a: its listing row has another state than its log",
        ),
        (
            "UPDATE task SET unfinished = 1 WHERE id = 'a'".into(),
            "task a: its listing row has another need for work",
        ),
        ("UPDATE task SET id = 'x' WHERE id = 'a'".into(), "task x: its log is that of task a"),
        ("DELETE FROM scope".into(), "task a: its listing row, or the row of its owner, cannot be read"),
        ("UPDATE task_count SET tasks = 7".into(), "the counts of the listing are not those of its tasks"),
        ("DELETE FROM task_count".into(), "the counts of the listing are not those of its tasks"),
        ("UPDATE snapshot SET bytes = x'02'".into(), "snapshot at place "),
        ("UPDATE record SET value = x'02'".into(), "record of space: "),
    ];
    for (sql, expected) in cases {
        let found = fault_after(&sql).await;
        assert!(found.contains(expected), "{sql}:\n{found}");
    }
}

#[tokio::test]
async fn a_damaged_page_is_named_by_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    filled(&path).await;
    let mut bytes = std::fs::read(&path).unwrap();
    let page = bytes.windows(8).position(|bytes| bytes == b"\"seq\":1,").unwrap() / 4096 * 4096;
    bytes[page] = 0x77;
    std::fs::write(&path, bytes).unwrap();
    let report = check(&path).unwrap();
    assert!(report.faults.iter().any(|fault| fault.starts_with("SQLite: ")), "{:?}", report.faults);
    // The store can still be opened.
    SqliteStore::open(&path, SqliteOptions::default()).unwrap();
}

/// What was deleted leaves unused room in the file, which stays as large as it was until it is compacted.
#[tokio::test]
async fn compacting_makes_the_file_smaller_and_changes_nothing_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    filled(&path).await;
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch("CREATE TABLE large AS SELECT zeroblob(2000000) AS bytes; DROP TABLE large")
        .unwrap();
    drop(connection);
    let size = || std::fs::metadata(&path).unwrap().len();
    let before = size();
    let compacted = compact(&path).unwrap();
    assert_eq!((compacted.before, compacted.after), (before, size()));
    assert!(compacted.after + 1_900_000 < compacted.before, "{compacted:?}");
    let report = check(&path).unwrap();
    assert_eq!((report.faults, report.tasks), (Vec::<String>::new(), 3));
}
