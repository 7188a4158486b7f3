//! Keeps a second process out.
//!
//! SQLite's own locks would let two processes write in turn; each would then believe what it keeps in
//! memory. The lock is the operating system's, so it goes with its process, however that ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::OpenError;

/// Held as long as this lives. The lock file itself stays: removing it would race with the next one.
#[derive(Debug)]
pub(crate) struct FileLock {
    _file: File,
}

impl FileLock {
    /// Locks `PATH.lock` beside `database`.
    pub(crate) fn take(database: &Path) -> Result<Self, OpenError> {
        let path = beside(database);
        let file = open_private(&path).map_err(|source| OpenError::file(&path, source))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(OpenError::InUse { path: database.to_owned() }),
            Err(TryLockError::Error(source)) => Err(OpenError::file(&path, source)),
        }
    }
}

/// Opens or creates a file that only its owner may read: records may be secret.
pub(crate) fn open_private(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn beside(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(".lock");
    path.into()
}
