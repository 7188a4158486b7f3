//! Detects changes of a file without reading it.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime};

/// Clocks of file systems are coarse: a file changed so lately may change again and keep its time.
const CLOCK_INTERVAL: Duration = Duration::from_millis(50);
/// The same for file systems that store whole seconds.
const COARSE_CLOCK_INTERVAL: Duration = Duration::from_secs(2);

/// Two contents of a file have different stamps, unless both were written within the clock's resolution.
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

    /// Whether the file was changed so recently that it may change again without a new stamp. True for a time in the
    /// future.
    pub fn is_fresh(&self) -> bool {
        let known = |(seconds, nanoseconds): (i64, i64)| {
            let since = Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanoseconds).ok()?);
            SystemTime::UNIX_EPOCH.checked_add(since)
        };
        let old = |time: (i64, i64)| {
            let grain = if time.1 == 0 { COARSE_CLOCK_INTERVAL } else { CLOCK_INTERVAL };
            known(time).and_then(|time| time.elapsed().ok()).is_some_and(|age| age > grain)
        };
        !(old(self.modified) && old(self.changed))
    }
}
