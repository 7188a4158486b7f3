//! Writes small files of the user: atomically, one writer at a time, readable by the user only.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use attache_config::ConfigError;

use crate::read_file::read_text;

/// For files that may contain secrets or decide about trust.
const OWNER_ONLY: u32 = 0o600;

pub(crate) fn owner_only() -> Permissions {
    Permissions::from_mode(OWNER_ONLY)
}

/// Reads the file, lets `change` make the new text from the old one, and replaces the file. Creates the folder if it is
/// missing. Writers take turns; a reader sees the old file or the new one.
pub(crate) fn rewrite(
    path: &Path,
    most: u64,
    change: impl FnOnce(&str) -> Result<String, ConfigError>,
) -> Result<(), ConfigError> {
    let unsaved = |source| ConfigError::Unsaved { path: path.to_owned(), source };
    let folder = path.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(unsaved)?;
    // The lock ends with the handle.
    let lock = File::open(folder).map_err(unsaved)?;
    lock.lock().map_err(unsaved)?;
    let beneath = folder.canonicalize().map_err(unsaved)?;
    let text = read_text(path, most, Some(&beneath)).map_err(unsaved)?;
    let text = change(&text.unwrap_or_default())?;
    replace(path, &text, owner_only()).map_err(unsaved)
}

/// Replaces or creates the file at `path`, so that a reader sees the old file or the new one. The caller holds a lock.
pub(crate) fn replace(path: &Path, text: &str, permissions: Permissions) -> io::Result<()> {
    let mut name = path.file_name().ok_or_else(|| io::Error::other("it has no name"))?.to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = path.with_file_name(name);
    // A leftover of a process that died during a write. Under the lock, no other process uses it.
    if let Err(error) = fs::remove_file(&new)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(&new)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.set_permissions(permissions));
    let renamed = written.and_then(|()| file.sync_all()).and_then(|()| fs::rename(&new, path));
    if renamed.is_err() {
        let _ = fs::remove_file(&new);
    }
    renamed
}
