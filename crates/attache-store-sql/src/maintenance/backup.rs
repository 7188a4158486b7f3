//! Copies a database while a server may use it.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::{CheckReport, MaintenanceError, check, require_database, sync};
use crate::connection::open_reader;
use crate::file_identity::beside;

/// Copies the database at `path` to `destination`, which must not exist, and checks the copy. The copy is one consistent
/// state, compact, in a single file that only its owner may read. A server may go on writing meanwhile.
pub fn backup(path: &Path, destination: &Path) -> Result<CheckReport, MaintenanceError> {
    require_database(path)?;
    if std::fs::symlink_metadata(destination).is_ok() {
        return Err(MaintenanceError::Exists { path: destination.to_owned() });
    }
    let unfinished = beside(destination, ".part");
    let copied = copy(path, &unfinished).and_then(|()| check(&unfinished));
    let report = match copied {
        Ok(report) => report,
        Err(error) => {
            let _ = std::fs::remove_file(&unfinished);
            return Err(error);
        }
    };
    let moved = std::fs::hard_link(&unfinished, destination);
    let removed = std::fs::remove_file(&unfinished);
    moved.and(removed).map_err(|source| MaintenanceError::write(destination, source))?;
    sync(destination)?;
    Ok(report)
}

/// Copies one consistent state of `from` into the new file `to`.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), MaintenanceError> {
    let failed = |source| MaintenanceError::write(to, source);
    match std::fs::remove_file(to) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    // Records may be secret, so the file is created first; SQLite fills it.
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(to).map_err(failed)?;
    let connection = open_reader(from).map_err(|source| MaintenanceError::sqlite(from, source))?;
    crate::schema::verify(&connection, from)?;
    let Some(target) = to.to_str() else {
        let source = std::io::Error::new(std::io::ErrorKind::InvalidInput, "its name is not UTF-8");
        return Err(failed(source));
    };
    connection.execute("VACUUM INTO ?1", [target]).map_err(|source| MaintenanceError::Copy {
        from: from.to_owned(),
        to: to.to_owned(),
        source,
    })?;
    sync(to)
}
