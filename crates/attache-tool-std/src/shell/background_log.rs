//! The log file of a background process: plain text of bounded size.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The folder of logs, below the scratch folder.
const FOLDER: &str = "background-processes";
/// A full log replaces the previous one, so there are at most two.
const MAX_LOG_BYTES: u64 = 8 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct BackgroundLog {
    path: PathBuf,
    file: File,
    length: u64,
    longest: u64,
}

impl BackgroundLog {
    pub(super) fn create(scratch: &Path, pid: i32) -> io::Result<Self> {
        let folder = scratch.join(FOLDER);
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("background-{pid}.log"));
        Ok(Self { file: File::create(&path)?, path, length: 0, longest: MAX_LOG_BYTES })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn append(&mut self, text: &str) -> io::Result<()> {
        if self.length > 0 && self.length + text.len() as u64 > self.longest {
            fs::rename(&self.path, self.path.with_extension("log.1"))?;
            self.file = File::create(&self.path)?;
            self.length = 0;
        }
        self.length += text.len() as u64;
        self.file.write_all(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_log_is_put_aside_and_only_once() {
        let scratch = tempfile::tempdir().unwrap();
        let mut log = BackgroundLog { longest: 10, ..BackgroundLog::create(scratch.path(), 7).unwrap() };
        for text in ["one\n", "two\n", "three\n", "four\n", "five\n"] {
            log.append(text).unwrap();
        }
        assert_eq!(fs::read_to_string(log.path()).unwrap(), "four\nfive\n");
        assert_eq!(fs::read_to_string(log.path().with_extension("log.1")).unwrap(), "three\n");
        assert_eq!(fs::read_dir(scratch.path().join(FOLDER)).unwrap().count(), 2);
    }
}
