//! Limits how much is read, and records the files that were read.

use std::path::{Path, PathBuf};

use super::LoadedContext;
use crate::file_stamps;
use crate::read_file::{self, CappedBytes};

pub(super) const MAX_FILE_BYTES: u64 = 256 << 10;
pub(super) const MAX_TOTAL_BYTES: u64 = 1 << 20;
/// Limits the number of small files.
const MAX_FILES: usize = 1000;

#[derive(Debug)]
pub(super) struct Budget {
    left: u64,
    files: Vec<(PathBuf, usize)>,
    known: Vec<PathBuf>,
    notices: Vec<String>,
}

/// The text of a file, and its real path.
pub(super) struct ReadText {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: MAX_TOTAL_BYTES, files: Vec::new(), known: Vec::new(), notices: Vec::new() }
    }
}

impl Budget {
    pub(super) fn excluding(known: &[PathBuf]) -> Self {
        Self { known: known.to_owned(), ..Self::default() }
    }

    /// Reads a context file, unless it is missing or was read already. Problems become notices.
    pub(super) fn read(&mut self, path: &Path, root: &Path) -> Option<ReadText> {
        file_stamps::content(path);
        let real = read_file::real_path(path).ok()?;
        if self.known.contains(&real) || self.files.iter().any(|(known, _)| *known == real) {
            return None;
        }
        match self.take(&real, root) {
            Ok(text) => Some(ReadText { path: real, text }),
            Err(why) => {
                self.notices.push(format!("{} is left out: {why}", path.display()));
                None
            }
        }
    }

    /// Reads a file within the limits.
    pub(super) fn take(&mut self, real: &Path, root: &Path) -> Result<String, String> {
        if self.left == 0 || self.files.len() >= MAX_FILES {
            return Err("there is too much context already".to_owned());
        }
        let limit = MAX_FILE_BYTES.min(self.left);
        let read = read_file::read(real, limit, Some(root)).map_err(|error| error.to_string())?;
        let CappedBytes { bytes, cut } = read.ok_or("there is no such file")?;
        self.left -= bytes.len() as u64;
        self.files.push((real.to_owned(), bytes.len()));
        let text = String::from_utf8_lossy(&bytes);
        let mut text = text.strip_prefix('\u{FEFF}').unwrap_or(&text).replace('\0', "\u{FFFD}");
        if cut {
            self.notices.push(format!("{} is cut after {} bytes", real.display(), bytes.len()));
            text.push_str(&format!("\n(cut here: only the first {} bytes are shown)\n", bytes.len()));
        }
        Ok(text)
    }

    pub(super) fn into_files(self, global: String, project: String) -> LoadedContext {
        LoadedContext { global, project, files: self.files, notices: self.notices }
    }
}
