//! Opens and configures connections.
//!
//! The page caches are small: the operating system caches the file, and a commit invalidates a reader's cache.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::{OpenError, SqliteOptions};

const WRITER_CACHE_KIB: u32 = 4096;
const READER_CACHE_KIB: u32 = 512;

/// The size of the write-ahead log, in pages, at which the writer moves it into the database. A larger value makes
/// this rarer and cheaper in total (a page changed often is moved once), but each time longer.
const CHECKPOINT_PAGES: u32 = 2000;

/// Other processes hold locks only briefly; this covers the readers' recovery after a crash.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Creates a missing folder, readable by its owner only.
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
    // Set first. The result row is the actual mode of the file.
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
