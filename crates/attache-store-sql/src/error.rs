//! Why a database could not be opened, and the conversion of SQLite's errors to those of the store traits.

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
    /// The database is locked; only one process at a time may use it.
    #[error("{} is in use by another process{}", path.display(), by.as_ref().map(|by| format!(" ({by})")).unwrap_or_default())]
    InUse {
        path: PathBuf,
        /// The process id and name, if known.
        by: Option<String>,
    },
    /// There is no database because a restore was interrupted.
    #[error("{} is missing: `attache store restore` was interrupted; run it again", path.display())]
    Restoring { path: PathBuf },
    /// Written by a newer version of this program.
    #[error("{} has schema {found}, but this program knows schemas up to {known} only", path.display())]
    Newer { path: PathBuf, found: u32, known: u32 },
    /// A schema step differs from the one of this program.
    #[error("schema step {step} of {} is not the one this program knows", path.display())]
    Altered { path: PathBuf, step: u32 },
    /// A valid database of another program.
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
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::InUse { path, by: None },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt { path, source },
            _ => Self::File { path, source: source.into() },
        }
    }
}

/// An error of a read.
pub(crate) fn read_failed(error: rusqlite::Error) -> StoreError {
    if is_corrupt(&error) { corrupt(error) } else { StoreError::unavailable(error) }
}

/// Whether the error concerns one row only; the database itself works.
pub(crate) fn is_of_one_row(error: &rusqlite::Error) -> bool {
    !matches!(error, rusqlite::Error::SqliteFailure(..))
}

pub(crate) fn is_corrupt(error: &rusqlite::Error) -> bool {
    is_of_one_row(error)
        || matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

pub(crate) fn corrupt(what: impl ToString) -> StoreError {
    StoreError::Corrupt { what: what.to_string() }
}
