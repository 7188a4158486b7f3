//! Records what the model last read of each file, so that it does not edit a version it has not read.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use attache_domain::{IgnorePoison, hexadecimal};
use attache_tool::{ToolError, ToolErrorKind};
use sha2::{Digest, Sha256};

/// The oldest entries beyond this number are dropped. A file without an entry can be edited like one that was never
/// read.
const MAX_FILES: usize = 4096;

/// The digests of the files that the model of one conversation has read, by real path. Shared by its tools.
#[derive(Debug, Default)]
pub struct ReadDigests {
    seen: Mutex<DigestMap>,
}

#[derive(Debug, Default)]
struct DigestMap {
    /// The number of the record, and the digest.
    files: HashMap<PathBuf, (u64, String)>,
    records: u64,
}

impl ReadDigests {
    /// Records that the model has read `bytes` from the file with this real path.
    pub fn record(&self, path: PathBuf, bytes: &[u8]) {
        let digest = digest_of(bytes);
        let mut seen = self.seen.lock().ignore_poison();
        seen.records += 1;
        let record = (seen.records, digest);
        seen.files.insert(path, record);
        if seen.files.len() > MAX_FILES {
            let oldest = seen.files.iter().min_by_key(|(_, (when, _))| *when).map(|(path, _)| path.clone());
            oldest.and_then(|path| seen.files.remove(&path));
        }
    }

    /// Fails if the model has read another version of the file. `now` is none if the file is gone.
    pub(crate) fn check(&self, path: &Path, now: Option<&str>) -> Result<(), ToolError> {
        let seen = self.seen.lock().ignore_poison();
        match (seen.files.get(path), now) {
            (Some((_, before)), Some(now)) if before != now => Err(ToolError::new(
                ToolErrorKind::EditPreparationFailure,
                format!(
                    "{} has changed since you last read it; read it again before you edit it",
                    path.display()
                ),
            )),
            _ => Ok(()),
        }
    }
}

/// SHA-256 in hexadecimal.
pub(crate) fn digest_of(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_that_was_seen_otherwise_is_refused() {
        let reads = ReadDigests::default();
        let path = Path::new("/project/file");
        reads.record(path.to_owned(), b"seen");
        assert!(reads.check(path, Some(&digest_of(b"seen"))).is_ok());
        assert!(reads.check(path, None).is_ok(), "a file that is gone has nothing to lose");
        assert!(reads.check(Path::new("/project/other"), Some("anything")).is_ok());
        let refused = reads.check(path, Some(&digest_of(b"changed"))).unwrap_err();
        assert_eq!(refused.kind, ToolErrorKind::EditPreparationFailure);
        assert!(refused.message.contains("read it again"), "{refused}");
    }

    #[test]
    fn the_file_seen_longest_ago_is_forgotten_first() {
        let reads = ReadDigests::default();
        let path = |number: usize| PathBuf::from(format!("/{number}"));
        (0..MAX_FILES).for_each(|number| reads.record(path(number), b"seen"));
        reads.record(path(0), b"seen");
        reads.record(path(MAX_FILES), b"seen");
        assert!(reads.check(&path(0), Some("changed")).is_err());
        assert!(reads.check(&path(1), Some("changed")).is_ok(), "the oldest is forgotten");
        assert!(reads.check(&path(MAX_FILES), Some("changed")).is_err());
    }

    #[test]
    fn digests_are_lower_case_hexadecimal() {
        assert_eq!(digest_of(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
