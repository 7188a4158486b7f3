//! A database whose past has changed says so when it is opened.

use std::path::{Path, PathBuf};

use attache_store::EventLog;
use attache_store::conformance::Sample;
use attache_store::{StoreError, StoreStatus};
use attache_store_sql::{SqliteOptions, SqliteStore};

struct StoreFolder {
    path: tempfile::TempDir,
}

impl StoreFolder {
    fn new() -> Self {
        Self { path: tempfile::tempdir().expect("a folder") }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path.path().join(name)
    }

    fn open(&self) -> SqliteStore {
        open(&self.file("tasks.db"))
    }

    /// What a killed process leaves behind: the files as they are while it runs.
    fn copy_to(&self, other: &StoreFolder, names: &[&str]) {
        for name in names {
            std::fs::copy(self.file(name), other.file(name)).expect("copies");
        }
    }
}

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path, SqliteOptions::default()).expect("opens")
}

#[track_caller]
fn check_lost(store: &SqliteStore) {
    let StoreStatus { past_changed, warnings, .. } = store.status();
    assert!(past_changed);
    assert!(matches!(&warnings[..], [warning] if warning.contains("lacks tasks or events")), "{warnings:?}");
}

#[tokio::test]
async fn the_same_file_has_the_same_past_after_a_clean_end() {
    let folder = StoreFolder::new();
    for number in 0..3 {
        let store = folder.open();
        assert_eq!(store.status(), StoreStatus::default());
        Sample::new(&number.to_string()).put(&store).await;
    }
    // A start that appends nothing changes nothing.
    drop(folder.open());
    assert_eq!(folder.open().status(), StoreStatus::default());
}

#[tokio::test]
async fn a_lost_write_ahead_log_is_noticed_until_something_is_appended() {
    let (folder, crashed) = (StoreFolder::new(), StoreFolder::new());
    let store = folder.open();
    Sample::new("a").put(&store).await;
    folder.copy_to(&crashed, &["tasks.db", "tasks.db.mark"]);
    for _ in 0..2 {
        check_lost(&crashed.open());
    }
    let store = crashed.open();
    Sample::new("b").put(&store).await;
    drop(store);
    assert_eq!(crashed.open().status(), StoreStatus::default());
}

#[tokio::test]
async fn a_damaged_write_ahead_log_is_noticed() {
    let (folder, crashed) = (StoreFolder::new(), StoreFolder::new());
    let store = folder.open();
    for number in 0..10 {
        Sample::new(&number.to_string()).put(&store).await;
    }
    folder.copy_to(&crashed, &["tasks.db", "tasks.db-wal", "tasks.db.mark"]);
    let log = crashed.file("tasks.db-wal");
    let mut bytes = std::fs::read(&log).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&log, bytes).unwrap();
    check_lost(&crashed.open());
}

#[tokio::test]
async fn a_whole_crash_is_no_loss_but_a_copy() {
    let (folder, crashed) = (StoreFolder::new(), StoreFolder::new());
    let store = folder.open();
    Sample::new("a").put(&store).await;
    folder.copy_to(&crashed, &["tasks.db", "tasks.db-wal", "tasks.db.mark"]);
    // Another file, which may have lived on elsewhere: cursors are not resumed, and nothing is lost.
    assert_eq!(crashed.open().status(), StoreStatus { past_changed: true, ..StoreStatus::default() });
}

#[tokio::test]
async fn an_older_copy_put_back_is_noticed() {
    let folder = StoreFolder::new();
    let store = folder.open();
    Sample::new("a").put(&store).await;
    drop(store);
    std::fs::copy(folder.file("tasks.db"), folder.file("backup.db")).unwrap();
    let store = folder.open();
    Sample::new("b").put(&store).await;
    drop(store);
    // Into the same inode, as cp does.
    std::fs::copy(folder.file("backup.db"), folder.file("tasks.db")).unwrap();
    check_lost(&folder.open());
}

#[tokio::test]
async fn a_file_without_a_mark_has_an_unknown_past() {
    let (folder, moved) = (StoreFolder::new(), StoreFolder::new());
    let store = folder.open();
    Sample::new("a").put(&store).await;
    drop(store);
    folder.copy_to(&moved, &["tasks.db"]);
    assert_eq!(moved.open().status(), StoreStatus { past_changed: true, ..StoreStatus::default() });
}

#[tokio::test]
async fn a_database_that_is_gone_at_the_start_is_told() {
    let folder = StoreFolder::new();
    let store = folder.open();
    Sample::new("a").put(&store).await;
    drop(store);
    std::fs::remove_file(folder.file("tasks.db")).unwrap();
    check_lost(&folder.open());
}

#[track_caller]
fn check_gone(result: Result<(), StoreError>) {
    assert!(matches!(result, Err(StoreError::Gone { .. })), "{result:?}");
}

#[tokio::test]
async fn nothing_is_acknowledged_once_a_file_is_deleted_replaced_or_moved() {
    for name in ["tasks.db", "tasks.db-wal"] {
        let folder = StoreFolder::new();
        let store = folder.open();
        let mut sample = Sample::new("a");
        sample.put(&store).await;
        let file = folder.file(name);
        // Moved away and back: nothing was written meanwhile, so it goes on. Not right after a write: that one's look at the
        // files is good for a few milliseconds.
        std::thread::sleep(std::time::Duration::from_millis(50));
        std::fs::rename(&file, folder.file("elsewhere")).unwrap();
        let refused = store.append(Sample::new("b").append_of([attache_domain::Fact::TextEnded])).await;
        assert!(
            refused.as_ref().is_err_and(|error| error.to_string().contains("was deleted")),
            "{refused:?}"
        );
        std::fs::rename(folder.file("elsewhere"), &file).unwrap();
        sample.put(&store).await;
        // Replaced by a copy.
        std::fs::copy(&file, folder.file("copy")).unwrap();
        std::fs::rename(folder.file("copy"), &file).unwrap();
        let refused = store.append(Sample::new("b").append_of([attache_domain::Fact::TextEnded])).await;
        assert!(
            refused.as_ref().is_err_and(|error| error.to_string().contains("was replaced")),
            "{refused:?}"
        );
        std::fs::remove_file(&file).unwrap();
        check_gone(store.append(Sample::new("b").append_of([attache_domain::Fact::TextEnded])).await);
        // What is there can still be read, and closing touches none of the files that are there now.
        assert_eq!(store.read(&sample.key, attache_domain::Seq::START, 9).await.unwrap().len(), 2);
        std::fs::write(folder.file("other-wal"), "of another database").unwrap();
        std::fs::rename(folder.file("other-wal"), folder.file("tasks.db-wal")).unwrap();
        drop(store);
        assert!(std::fs::read(folder.file("tasks.db-wal")).unwrap() == b"of another database");
    }
}
