//! The options of a database.

use std::time::Duration;

/// The options of a [`SqliteStore`](crate::SqliteStore).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SqliteOptions {
    pub synchronous: Synchronous,
    /// Threads for reads and listings; at least one.
    pub readers: usize,
    /// How long to retry when another process holds the database.
    pub lock_timeout: Duration,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { synchronous: Synchronous::Full, readers: 2, lock_timeout: Duration::from_secs(1) }
    }
}

/// The failure that an acknowledged append survives. The file stays consistent in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Synchronous {
    /// A power failure: every commit waits for the disk.
    #[default]
    Full,
    /// The death of the process. A power failure may lose the last commits.
    Normal,
    /// The death of the process. A power failure may destroy the file.
    Off,
}

impl Synchronous {
    pub(crate) fn as_sql(self) -> &'static str {
        match self {
            Self::Full => "FULL",
            Self::Normal => "NORMAL",
            Self::Off => "OFF",
        }
    }
}
