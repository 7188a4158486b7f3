//! Puts a backup in the place of a database.

use std::path::{Path, PathBuf};

use super::backup::copy;
use super::{CheckReport, LOCK_TIMEOUT, MaintenanceError, check, holds_something, require_database, sync};
use crate::connection::prepare_folder;
use crate::file_identity::beside;
use crate::lock::DatabaseLock;
use crate::mark::MarkFile;

#[derive(Debug)]
pub struct Restored {
    pub report: CheckReport,
    /// Where the database is that was there before.
    pub replaced: Option<PathBuf>,
}

/// Puts the database in `backup` at `path`. No server may use `path`; what is there is moved aside if `replace` says so, and
/// is the reason to refuse otherwise. The restored database has no mark, so its log gets a new epoch with the next start.
pub fn restore(backup: &Path, path: &Path, replace: bool) -> Result<Restored, MaintenanceError> {
    require_database(backup)?;
    let report = check(backup)?;
    if !report.faults.is_empty() {
        return Err(MaintenanceError::Damaged { path: backup.to_owned(), faults: report.faults });
    }
    prepare_folder(path)?;
    let is_there = holds_something(path);
    // Locks it also when it must not be replaced: that a server uses it is the more important thing to know.
    let _lock = DatabaseLock::take(path, LOCK_TIMEOUT)?;
    if is_there && !replace {
        return Err(MaintenanceError::Exists { path: path.to_owned() });
    }
    let failed = |source| MaintenanceError::write(path, source);
    let real = path.canonicalize().map_err(failed)?;
    let unfinished = beside(&real, ".restoring");
    copy(backup, &unfinished)?;
    // The mark goes first: a restored database with the mark of another would be taken for damaged.
    remove(&MarkFile::path_for(&real)).map_err(failed)?;
    let replaced = is_there.then(|| beside(&real, ".before-restore"));
    if let Some(replaced) = &replaced {
        remove(&beside(replaced, "-wal")).map_err(failed)?;
        std::fs::rename(&real, replaced).map_err(failed)?;
        match std::fs::rename(beside(&real, "-wal"), beside(replaced, "-wal")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
    }
    for suffix in ["-wal", "-shm"] {
        remove(&beside(&real, suffix)).map_err(failed)?;
    }
    std::fs::rename(&unfinished, &real).map_err(failed)?;
    sync(&real)?;
    Ok(Restored { report, replaced })
}

/// Removing what is not there is no error.
fn remove(path: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
