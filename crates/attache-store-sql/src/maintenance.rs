//! Maintenance of a database: check, back up, restore, compact.
//!
//! Checking and backing up read a consistent state and may be done while a server writes. Restoring and compacting take the
//! lock that a server holds.

mod backup;
mod check;
mod check_tasks;
mod compact;
mod restore;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use backup::backup;
pub use check::{CheckReport, check};
pub use compact::{CompactReport, compact};
pub(crate) use restore::refuse_interrupted;
pub use restore::{RestoreReport, restore};

use crate::OpenError;

/// How long to retry when another process holds the database.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MaintenanceError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("there is no database at {}", path.display())]
    Missing { path: PathBuf },
    #[error("{} exists already", path.display())]
    Exists { path: PathBuf },
    #[error("{} has {} and is not restored", path.display(), count_of(faults))]
    Damaged { path: PathBuf, faults: Vec<String> },
    #[error("cannot copy {} to {}", from.display(), to.display())]
    Copy {
        from: PathBuf,
        to: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
    #[error("cannot write {}", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl MaintenanceError {
    fn sqlite(path: &Path, source: rusqlite::Error) -> Self {
        Self::Open(OpenError::sqlite(path, source))
    }

    fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.to_owned(), source }
    }
}

fn count_of(faults: &[String]) -> String {
    match faults {
        [_] => "one fault".to_owned(),
        faults => format!("{} faults", faults.len()),
    }
}

/// An empty file counts as missing: opening a database creates one.
fn holds_something(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.len() > 0)
}

fn require_database(path: &Path) -> Result<(), MaintenanceError> {
    if holds_something(path) { Ok(()) } else { Err(MaintenanceError::Missing { path: path.to_owned() }) }
}

/// Syncs the file at `path` and its folder entry.
fn sync(path: &Path) -> Result<(), MaintenanceError> {
    let failed = |source| MaintenanceError::write(path, source);
    File::open(path).and_then(|file| file.sync_all()).map_err(failed)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
}
