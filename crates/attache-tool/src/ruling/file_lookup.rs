//! The seam to the file system for rulings about commands.

use std::fmt;
use std::path::{Path, PathBuf};

/// Looks up files when a call is judged. Later changes are up to the confinement.
pub trait FileLookup: fmt::Debug + Send + Sync + 'static {
    /// Resolves all links of an absolute path and keeps the part that does not exist. None on an error.
    fn resolve(&self, path: &Path) -> Option<PathBuf>;

    /// Whether the ignore rules of the workspace hide the file.
    fn is_ignored(&self, path: &Path) -> bool;

    /// The text of a small file; none when it does not exist or is something else.
    fn read(&self, path: &Path) -> Option<String>;
}

/// Finds nothing: no links, no ignored files, no repository.
#[cfg(test)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoFileLookup;

#[cfg(test)]
impl FileLookup for NoFileLookup {
    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        Some(path.to_owned())
    }

    fn is_ignored(&self, _path: &Path) -> bool {
        false
    }

    fn read(&self, _path: &Path) -> Option<String> {
        None
    }
}
