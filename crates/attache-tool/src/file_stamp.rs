//! Tells one content of a file from the next without reading it.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime};

/// Clocks of file systems are coarse: what was changed so lately may change again and keep its time.
const COARSE: Duration = Duration::from_millis(50);
/// The same where only whole seconds are kept.
const COARSEST: Duration = Duration::from_secs(2);

/// No two contents of a file have the same, unless they follow each other within the clock's grain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStamp {
    file: (u64, u64),
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileStamp {
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            file: (metadata.dev(), metadata.ino()),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// The file was changed so lately that it may change again and keep its stamp. A time that is yet to come is none
    /// to go by either.
    pub fn is_fresh(&self) -> bool {
        let known = |(seconds, nanoseconds): (i64, i64)| {
            let since = Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanoseconds).ok()?);
            SystemTime::UNIX_EPOCH.checked_add(since)
        };
        let old = |time: (i64, i64)| {
            let grain = if time.1 == 0 { COARSEST } else { COARSE };
            known(time).and_then(|time| time.elapsed().ok()).is_some_and(|age| age > grain)
        };
        !(old(self.modified) && old(self.changed))
    }
}
