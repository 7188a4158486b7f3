//! Replaces a database with a backup.
//!
//! A crash at any point loses nothing and is noticed. The old database is moved aside, never changed or overwritten. While
//! there is no database, the next start finds the unfinished copy and refuses (`refuse_interrupted`). The mark is removed
//! last, so that an incomplete database is noticed.

use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use super::backup::copy;
use super::{CheckReport, LOCK_TIMEOUT, MaintenanceError, check, holds_something, require_database, sync};
use crate::connection::{open_writer, prepare_folder};
use crate::file_identity::beside;
use crate::lock::DatabaseLock;
use crate::mark_file::MarkFile;
use crate::{OpenError, SqliteOptions};

/// The name of the copy during the restore.
const RESTORING_SUFFIX: &str = ".restoring";

#[derive(Debug)]
pub struct RestoreReport {
    pub report: CheckReport,
    /// The new path of the replaced database.
    pub replaced: Option<PathBuf>,
}

/// A completed step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RestoreStep {
    /// The old database has another name.
    Moved,
    /// The backup is in its place.
    Swapped,
}

/// Replaces the database at `path` with `backup`. No server may use `path`. An existing database is moved aside if
/// `replace` is set; otherwise it is an error. The restored database has no mark, so its log gets a new epoch at the
/// next start.
pub fn restore(backup: &Path, path: &Path, replace: bool) -> Result<RestoreReport, MaintenanceError> {
    restore_in_steps(backup, path, replace, |_| Ok(()))
}

/// `after` is called after each step and can stop there with an error.
fn restore_in_steps(
    backup: &Path,
    path: &Path,
    replace: bool,
    after: impl Fn(RestoreStep) -> std::io::Result<()>,
) -> Result<RestoreReport, MaintenanceError> {
    require_database(backup)?;
    let report = check(backup)?;
    if !report.faults.is_empty() {
        return Err(MaintenanceError::Damaged { path: backup.to_owned(), faults: report.faults });
    }
    prepare_folder(path)?;
    let is_there = holds_something(path);
    // Locked first: that a server uses the database is the more important error.
    let _lock = DatabaseLock::take(path, LOCK_TIMEOUT)?;
    if is_there && !replace {
        return Err(MaintenanceError::Exists { path: path.to_owned() });
    }
    let failed = |source| MaintenanceError::write(path, source);
    let real = path.canonicalize().map_err(failed)?;
    let unfinished = beside(&real, RESTORING_SUFFIX);
    copy(backup, &unfinished)?;
    // Locked before it gets the database's name, so that no server uses it before the restore is complete.
    let _restored_lock = DatabaseLock::take(&unfinished, LOCK_TIMEOUT)?;
    let replaced = if is_there { Some(move_aside(&real).map_err(failed)?) } else { None };
    after(RestoreStep::Moved).map_err(failed)?;
    // SQLite would add a write-ahead log that it finds to the restored database.
    for suffix in ["-wal", "-shm"] {
        remove(&beside(&real, suffix)).map_err(failed)?;
    }
    std::fs::rename(&unfinished, &real).map_err(failed)?;
    after(RestoreStep::Swapped).map_err(failed)?;
    // Removed last: until then, a database that does not match the mark is detected.
    remove(&MarkFile::path_for(&real)).map_err(failed)?;
    sync(&real)?;
    Ok(RestoreReport { report, replaced })
}

/// Moves the database to an unused name.
fn move_aside(database: &Path) -> std::io::Result<PathBuf> {
    // Usually leaves a single file to move. A damaged database may not allow it.
    if let Err(error) = empty_write_ahead_log(database) {
        tracing::info!(%error, "the write-ahead log of {} is moved with it", database.display());
    }
    let is_free = |name: &Path| std::fs::symlink_metadata(name).is_err();
    let names = (1_u32..).map(|number| match number {
        1 => beside(database, ".before-restore"),
        _ => beside(database, &format!(".before-restore-{number}")),
    });
    let free = names.into_iter().find(|name| is_free(name) && is_free(&beside(name, "-wal")));
    let name = free.ok_or_else(|| Error::new(ErrorKind::AlreadyExists, "every name for it is taken"))?;
    // The write-ahead log first: a database without it is detected by its mark.
    match std::fs::rename(beside(database, "-wal"), beside(&name, "-wal")) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    std::fs::rename(database, &name)?;
    Ok(name)
}

fn empty_write_ahead_log(database: &Path) -> rusqlite::Result<()> {
    let connection = open_writer(database, SqliteOptions::default())?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)
}

/// Fails if a restore was interrupted after the old database had been moved aside. A new, empty database would hide
/// that.
pub(crate) fn refuse_interrupted(path: &Path) -> Result<(), OpenError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let real = std::fs::read_link(path).map_or_else(|_| path.to_owned(), |target| folder.join(target));
    match !holds_something(&real) && holds_something(&beside(&real, RESTORING_SUFFIX)) {
        true => Err(OpenError::Restoring { path: path.to_owned() }),
        false => Ok(()),
    }
}

/// Removes a file; a missing one is no error.
fn remove(path: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    use attache_store::conformance::Sample;
    use attache_store::{EventLog, TaskIndex};

    use super::*;
    use crate::SqliteStore;

    fn open(path: &Path) -> SqliteStore {
        SqliteStore::open(path, SqliteOptions::default()).unwrap()
    }

    async fn tasks(store: &SqliteStore) -> u64 {
        store.counts().await.unwrap().total
    }

    /// A store with two tasks, one of them in the write-ahead log only, as `kill -9` leaves it; and a backup of a
    /// store without any.
    async fn prepare(folder: &Path) -> (PathBuf, PathBuf) {
        let (path, backup, other) =
            (folder.join("tasks.db"), folder.join("copy.db"), folder.join("other.db"));
        drop(open(&other));
        super::super::backup(&other, &backup).unwrap();
        Sample::new("first").put(&open(&path)).await;
        let store = open(&path);
        Sample::new("second").put(&store).await;
        let files = [path.clone(), beside(&path, "-wal")].map(|file| (std::fs::read(&file).unwrap(), file));
        drop(store);
        for (bytes, file) in files {
            std::fs::write(file, bytes).unwrap();
        }
        (path, backup)
    }

    #[tokio::test]
    async fn a_crash_at_any_point_loses_nothing_and_is_noticed() {
        for step in [RestoreStep::Moved, RestoreStep::Swapped] {
            let folder = tempfile::tempdir().unwrap();
            let (path, backup) = prepare(folder.path()).await;
            let crash = |at| if at == step { Err(Error::other("a crash")) } else { Ok(()) };
            restore_in_steps(&backup, &path, true, crash).unwrap_err();
            let moved = folder.path().join("tasks.db.before-restore");
            assert_eq!(tasks(&open(&moved)).await, 2, "{step:?}: nothing is lost");
            match step {
                RestoreStep::Moved => {
                    let error = SqliteStore::open(&path, SqliteOptions::default()).err().unwrap();
                    assert!(error.to_string().contains("restore"), "{error}");
                    assert!(!path.exists(), "no empty store is made");
                }
                RestoreStep::Swapped => {
                    let store = open(&path);
                    assert_eq!((tasks(&store).await, store.status().warnings.len()), (0, 1));
                }
            }
            // The second try does what the first should have done, and overwrites nothing.
            restore(&backup, &path, true).unwrap();
            let store = open(&path);
            assert_eq!((tasks(&store).await, store.status().warnings.len()), (0, 0), "{step:?}");
            assert_eq!(tasks(&open(&moved)).await, 2, "{step:?}");
        }
    }

    #[tokio::test]
    async fn a_crash_between_the_log_and_the_database_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, backup) = prepare(folder.path()).await;
        // What a crash in `move_aside` leaves where the log could not be emptied.
        std::fs::rename(beside(&path, "-wal"), folder.path().join("tasks.db.before-restore-wal")).unwrap();
        let store = open(&path);
        assert_eq!((tasks(&store).await, store.status().warnings.len()), (1, 1));
        drop(store);
        let replaced = restore(&backup, &path, true).unwrap().replaced;
        assert_eq!(
            replaced,
            Some(folder.path().join("tasks.db.before-restore-2")),
            "the log is not overwritten"
        );
    }

    #[tokio::test]
    async fn every_store_that_was_replaced_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (path, backup) = prepare(folder.path()).await;
        let mut names = Vec::new();
        for count in [2, 0, 0] {
            let replaced = restore(&backup, &path, true).unwrap().replaced.unwrap();
            assert_eq!(tasks(&open(&replaced)).await, count, "{replaced:?}");
            names.push(replaced.file_name().unwrap().to_owned());
        }
        assert_eq!(
            names,
            ["tasks.db.before-restore", "tasks.db.before-restore-2", "tasks.db.before-restore-3"]
        );
    }
}
