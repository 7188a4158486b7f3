//! Opening, closing and opening again.

use std::error::Error;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::task::{Context, Waker};

use attache_domain::{Fact, Scope, Seq, TaskState};
use attache_store::conformance::{Sample, every_kind_of_fact};
use attache_store::{EventLog, ListQuery, Records, Snapshot, StoreError, TaskIndex};
use attache_store_sql::{OpenError, SqliteOptions, SqliteStore};

fn open(path: &Path) -> Result<SqliteStore, OpenError> {
    SqliteStore::open(path, SqliteOptions::default())
}

fn refusal(result: Result<SqliteStore, OpenError>) -> OpenError {
    match result {
        Ok(_) => panic!("should have been refused"),
        Err(error) => error,
    }
}

fn query(scope: &Scope) -> ListQuery {
    ListQuery { scope: scope.clone(), context: None, state: None, since: None, after: None, limit: 50 }
}

#[tokio::test]
async fn everything_is_there_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let mut working = Sample::new("working").in_state(TaskState::Working).unfinished(true);
    let mut done = Sample::new("done").with_status_at(5);
    let other = Scope::new("tenant", "other");
    let snapshot = Snapshot { at: Seq(2), bytes: vec![1, 2, 3] };

    let store = open(&path).unwrap();
    let events = working.append(&store, every_kind_of_fact()).await.unwrap();
    done.put(&store).await;
    Sample::new("hidden").hidden().put(&store).await;
    Sample::new("other").of(other.clone()).put(&store).await;
    store.save_snapshot(&working.key, snapshot.clone()).await.unwrap();
    store.get_or_put("space", "key", b"value".to_vec()).await.unwrap();
    let listed = store.list(&query(&done.key.scope)).await.unwrap();
    drop(store);

    let store = open(&path).unwrap();
    assert_eq!(store.read(&working.key, Seq::START, 1000).await.unwrap(), events);
    assert_eq!(store.list(&query(&done.key.scope)).await.unwrap(), listed);
    assert_eq!(listed.total, 2);
    assert_eq!(store.list(&query(&other)).await.unwrap().total, 1);
    assert_eq!(store.counts().await.unwrap().total, 3);
    assert_eq!(store.unfinished().await.unwrap(), [working.key.clone()]);
    assert_eq!(store.snapshot(&working.key, Seq(9)).await.unwrap(), Some(snapshot));
    assert_eq!(store.get("space", "key").await.unwrap(), Some(b"value".to_vec()));
    // The writer knows the heads again, and the totals go on from where they were.
    let conflict = store.append(Sample::new("working").append_of([Fact::TextEnded])).await;
    let head = Seq(events.len() as u64);
    assert!(matches!(conflict, Err(StoreError::Conflict { head: told, .. }) if told == head));
    working.summary.state = TaskState::Completed;
    working.put(&store).await;
    let completed = ListQuery { state: Some(TaskState::Completed), ..query(&done.key.scope) };
    assert_eq!(store.list(&completed).await.unwrap().total, 2);
}

#[tokio::test]
async fn totals_are_right_however_soon_after_opening_they_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let scope = Sample::new("any").key.scope;
    for round in 1..=20 {
        let store = open(&path).unwrap();
        // While the first reader may still be counting, tasks come and are asked for.
        Sample::new(&format!("first {round}")).put(&store).await;
        assert_eq!(store.list(&query(&scope)).await.unwrap().total, 2 * round - 1);
        Sample::new(&format!("second {round}")).in_state(TaskState::Failed).put(&store).await;
        assert_eq!(store.counts().await.unwrap().total, 2 * round);
    }
}

#[tokio::test]
async fn dropping_the_store_finishes_what_is_queued() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let store = open(&path).unwrap();
    let appends = (0..100).map(|number| Sample::new(&number.to_string()).append_of([Fact::TextEnded]));
    let mut appending: Vec<_> = appends.map(|append| store.append(append)).collect();
    for append in &mut appending {
        // Puts it in the queue without waiting for the answer.
        let _ = append.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    }
    drop(appending);
    drop(store);
    assert!(!folder.path().join("tasks.db-wal").exists(), "the write-ahead log was not moved");
    let store = open(&path).unwrap();
    assert_eq!(store.counts().await.unwrap().total, 100);
}

#[tokio::test]
async fn everything_is_there_after_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let store = open(&path).unwrap();
    let mut samples: Vec<_> =
        (0..50).map(|number| Sample::new(&number.to_string()).unfinished(number == 7)).collect();
    for sample in &mut samples {
        sample.put(&store).await;
    }
    // What a killed process would leave behind, taken while the store is open.
    let copy = folder.path().join("copy.db");
    std::fs::copy(&path, &copy).unwrap();
    std::fs::copy(folder.path().join("tasks.db-wal"), folder.path().join("copy.db-wal")).unwrap();

    let store = open(&copy).unwrap();
    assert_eq!(store.counts().await.unwrap().total, 50);
    assert_eq!(store.unfinished().await.unwrap(), [samples[7].key.clone()]);
    for sample in &mut samples {
        assert_eq!(store.read(&sample.key, Seq::START, 9).await.unwrap().len(), 1);
        let again = Sample { head: Seq::START, ..sample.clone() }.append_of([Fact::TextEnded]);
        let conflict = store.append(again).await;
        assert!(matches!(conflict, Err(StoreError::Conflict { head: Seq(1), .. })), "{conflict:?}");
        sample.put(&store).await;
    }
}

#[test]
fn missing_folders_are_made_and_private() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/tasks.db");
    let store = open(&path).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(&folder.path().join("a/b/tasks.db-wal")), 0o600);
    assert_eq!(mode(&folder.path().join("a/b")), 0o700);
    drop(store);
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let refused = refusal(open(&folder.path().join("file/below/tasks.db")));
    assert!(
        matches!(&refused, OpenError::Folder { path, .. } if path.ends_with("file/below")),
        "{refused:?}"
    );
    assert!(refused.source().is_some());
}

#[test]
fn a_folder_in_place_of_the_file_cannot_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let refused = refusal(open(folder.path()));
    assert!(matches!(refused, OpenError::File { .. }), "{refused:?}");
    assert!(refused.source().is_some());
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    let text = "These are my notes.\n".repeat(500);
    std::fs::write(&path, &text).unwrap();
    let refused = refusal(open(&path));
    assert!(matches!(refused, OpenError::Corrupt { .. }), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

/// As the first version of this program left it.
#[tokio::test]
async fn a_database_of_the_first_schema_is_brought_up_to_date_and_stays_readable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch(include_str!("../src/schema/0001_tasks.sql")).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE schema_step (number INTEGER PRIMARY KEY, checksum TEXT NOT NULL) STRICT;
             INSERT INTO schema_step VALUES (1, '58c58b27b8c8aef3');
             INSERT INTO scope VALUES (1, 'tenant', 'owner');
             INSERT INTO task VALUES (1, 1, 'a', 'context', 2, 0, 0, 0);
             INSERT INTO batch VALUES ((1 << 28) + 1, '[{\"seq\":1,\"at\":0,\"fact\":\"cancel_requested\"}]');
             INSERT INTO snapshot VALUES ((1 << 28) + 1, x'01');
             INSERT INTO record VALUES ('space', 'key', x'02');
             PRAGMA user_version = 1; PRAGMA application_id = 1635017576;",
        )
        .unwrap();
    drop(connection);
    // A check reads it as it is.
    let report = attache_store_sql::check(&path).unwrap();
    assert_eq!((report.tasks, report.events, report.without_checksum), (1, 1, 3));

    let store = open(&path).unwrap();
    let mut sample = Sample { head: Seq(1), ..Sample::new("a") };
    assert_eq!(store.read(&sample.key, Seq::START, 9).await.unwrap().len(), 1);
    assert_eq!(store.snapshot(&sample.key, Seq(9)).await.unwrap().unwrap().bytes, [1]);
    assert_eq!(store.get("space", "key").await.unwrap(), Some(vec![2]));
    sample.put(&store).await;
    assert_eq!(store.read(&sample.key, Seq::START, 9).await.unwrap().len(), 2);
    drop(store);
    assert_eq!(attache_store_sql::check(&path).unwrap().without_checksum, 3, "what is new has a checksum");
}
