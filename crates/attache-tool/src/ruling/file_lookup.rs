//! The seam to the file system: what a ruling has to know about the files that a command names.

use std::fmt;
use std::path::{Path, PathBuf};

/// Looks at files when a call is judged. The confinement holds what changes afterwards.
pub trait FileLookup: fmt::Debug + Send + Sync + 'static {
    /// Where an absolute path leads when all links are followed; the part that does not exist is kept as it is. None when
    /// that cannot be told.
    fn resolve(&self, path: &Path) -> Option<PathBuf>;

    /// Whether the ignore rules of the workspace hide the file.
    fn is_ignored(&self, path: &Path) -> bool;

    /// The text of a small file; none when it does not exist or is something else.
    fn read(&self, path: &Path) -> Option<String>;
}

/// Looks at nothing: no path is a link, no file is ignored, and there is no repository. For tests.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFileLookup;

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
