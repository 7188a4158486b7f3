//! The stored form of every kind of fact. Files in `golden` are never changed, only added to: logs
//! written long ago must stay readable.

use std::path::Path;

use attache_domain::Seq;
use attache_store::EventLog;
use attache_store::conformance::{Sample, every_kind_of_fact};
use attache_store_sql::{SqliteOptions, SqliteStore};
use rusqlite::Connection;

/// One event per line here, so that differences can be read; stored without the line breaks.
fn golden() -> String {
    include_str!("golden/batch.json").lines().collect()
}

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path, SqliteOptions::default()).expect("opens")
}

#[tokio::test]
async fn a_batch_is_stored_as_in_the_golden_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let store = open(&path);
    Sample::new("a").append(&store, every_kind_of_fact()).await.unwrap();
    drop(store);
    let connection = Connection::open(&path).unwrap();
    let body: String = connection.query_row("SELECT body FROM batch", [], |row| row.get(0)).unwrap();
    let events = |text: &str| text.replace("},{\"seq\"", "},\n{\"seq\"");
    assert_eq!(events(&body), events(&golden()));
}

#[tokio::test]
async fn the_golden_file_is_still_understood() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let store = open(&path);
    let mut sample = Sample::new("a");
    let events = sample.append(&store, every_kind_of_fact()).await.unwrap();
    drop(store);
    let connection = Connection::open(&path).unwrap();
    connection.execute("UPDATE batch SET body = ?1", [golden()]).unwrap();
    drop(connection);
    assert_eq!(open(&path).read(&sample.key, Seq::START, 1000).await.unwrap(), events);
}
