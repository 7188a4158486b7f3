//! Opens connections and sets them up.
//!
//! Caches are small on purpose: the operating system caches the file anyway, and a reader's cache is
//! worth nothing after the next commit.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::{OpenError, SqliteOptions};

const WRITER_CACHE_KIB: u32 = 4096;
const READER_CACHE_KIB: u32 = 512;

/// Pages in the write-ahead log at which the writer moves them into the database. More makes this
/// rarer and cheaper in sum (a page changed often is moved once), but each time longer.
const CHECKPOINT_PAGES: u32 = 2000;

/// Other processes do not hold locks for long; this only bridges the readers' recovery after a crash.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Makes sure that the folder is there, readable by its owner only if made here.
pub(crate) fn prepare_folder(path: &Path) -> Result<(), OpenError> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|source| OpenError::Folder { path: folder.to_owned(), source })?;
    }
    Ok(())
}

pub(crate) fn open_writer(path: &Path, options: SqliteOptions) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Set first, and answered with a row: the mode the file is in afterwards.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.execute_batch(&format!(
        "PRAGMA synchronous = {};
         PRAGMA cache_size = -{WRITER_CACHE_KIB};
         PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES};
         PRAGMA temp_store = MEMORY;",
        options.synchronous.as_sql()
    ))?;
    Ok(connection)
}

pub(crate) fn open_reader(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection
        .execute_batch(&format!("PRAGMA cache_size = -{READER_CACHE_KIB}; PRAGMA temp_store = MEMORY;"))?;
    Ok(connection)
}
