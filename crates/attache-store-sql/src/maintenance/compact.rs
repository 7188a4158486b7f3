//! Returns unused space to the file system.

use std::path::Path;

use super::{LOCK_TIMEOUT, MaintenanceError, require_database};
use crate::connection::open_writer;
use crate::file_identity::beside;
use crate::lock::DatabaseLock;
use crate::{SqliteOptions, schema};

/// The size of a database's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactReport {
    pub before: u64,
    pub after: u64,
}

/// Rewrites the database at `path` without unused space. No server may use it.
pub fn compact(path: &Path) -> Result<CompactReport, MaintenanceError> {
    require_database(path)?;
    let _lock = DatabaseLock::take(path, LOCK_TIMEOUT)?;
    let failed = |source| MaintenanceError::sqlite(path, source);
    let before = bytes(path);
    let mut connection = open_writer(path, SqliteOptions::default()).map_err(failed)?;
    schema::migrate(&mut connection, path)?;
    connection.execute_batch("VACUUM").map_err(failed)?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(failed)?;
    connection.close().map_err(|(_, source)| failed(source))?;
    Ok(CompactReport { before, after: bytes(path) })
}

fn bytes(path: &Path) -> u64 {
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    size(path) + size(&beside(path, "-wal"))
}
