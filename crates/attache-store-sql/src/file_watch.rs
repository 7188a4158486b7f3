//! Detects that the files of an open database were deleted or replaced.
//!
//! The process would continue to write into files without a path. A check takes one `stat` per file.

use std::path::{Path, PathBuf};

use crate::file_identity::{FileIdentity, beside};

pub(crate) struct FileWatch {
    /// The path of the settings, so that a changed symbolic link is detected too.
    database: PathBuf,
    identity: FileIdentity,
    log: PathBuf,
    /// SQLite creates the file once and keeps it as long as the database is open.
    log_identity: Option<FileIdentity>,
}

impl FileWatch {
    /// Watches an open database. `real` is the path with its symbolic links resolved, if it has any.
    pub(crate) fn new(database: &Path, real: &Path, identity: FileIdentity) -> Self {
        let log = beside(real, "-wal");
        let log_identity = FileIdentity::at(&log).ok().flatten();
        Self { database: database.to_owned(), identity, log, log_identity }
    }

    /// The problem, if there is one.
    pub(crate) fn fault(&mut self) -> Option<String> {
        if let Some(fault) = difference(&self.database, self.identity) {
            return Some(fault);
        }
        match self.log_identity {
            Some(identity) => difference(&self.log, identity),
            None => {
                self.log_identity = FileIdentity::at(&self.log).ok().flatten();
                None
            }
        }
    }
}

fn difference(path: &Path, expected: FileIdentity) -> Option<String> {
    match FileIdentity::at(path) {
        Ok(Some(found)) if found == expected => None,
        Ok(Some(_)) => Some(format!("{} was replaced by another file", path.display())),
        Ok(None) => Some(format!("{} was deleted or moved away", path.display())),
        Err(error) => Some(format!("{} cannot be looked at: {error}", path.display())),
    }
}
