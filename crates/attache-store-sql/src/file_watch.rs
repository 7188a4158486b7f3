//! Notices when the files of an open database are deleted or replaced.
//!
//! The process would go on writing into files that no path leads to. Looking takes one `stat` for each file.

use std::path::{Path, PathBuf};

use crate::file_identity::{FileIdentity, beside};

pub(crate) struct FileWatch {
    /// As the operator wrote it: a symbolic link that leads elsewhere by now is noticed too.
    database: PathBuf,
    identity: FileIdentity,
    log: PathBuf,
    /// SQLite creates the file once and keeps it as long as the database is open.
    log_identity: Option<FileIdentity>,
}

impl FileWatch {
    /// Watches an open database. `real` is where its symbolic links lead, if it has any.
    pub(crate) fn new(database: &Path, real: &Path, identity: FileIdentity) -> Self {
        let log = beside(real, "-wal");
        let log_identity = FileIdentity::at(&log).ok().flatten();
        Self { database: database.to_owned(), identity, log, log_identity }
    }

    /// What is wrong, if anything is.
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
