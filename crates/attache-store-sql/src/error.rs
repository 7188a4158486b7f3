//! Why a database could not be opened, and how errors of SQLite become errors of the seams.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use attache_store::StoreError;
use rusqlite::ErrorCode;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    #[error("cannot create the folder {}", path.display())]
    Folder {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot open {}", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The lock beside the database is taken; only one process at a time may use a database.
    #[error("{} is in use by another process", path.display())]
    InUse { path: PathBuf },
    /// Written by a later version of this program.
    #[error("{} has schema {found}, but this program knows schemas up to {known} only", path.display())]
    Newer { path: PathBuf, found: u32, known: u32 },
    /// A step of the schema was not the one this program would have taken.
    #[error("schema step {step} of {} is not the one this program knows", path.display())]
    Altered { path: PathBuf, step: u32 },
    /// A good database, but of another program.
    #[error("{} is a database of another program", path.display())]
    Foreign { path: PathBuf },
    #[error("{} is damaged or not a database", path.display())]
    Corrupt {
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
}

impl OpenError {
    pub(crate) fn file(path: &Path, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::File { path: path.to_owned(), source: source.into() }
    }

    pub(crate) fn sqlite(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::InUse { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt { path, source },
            _ => Self::File { path, source: source.into() },
        }
    }
}

/// An error met while reading.
pub(crate) fn read_failed(error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => corrupt(error),
        _ => StoreError::unavailable(error),
    }
}

pub(crate) fn corrupt(what: impl ToString) -> StoreError {
    StoreError::Corrupt { what: what.to_string() }
}
