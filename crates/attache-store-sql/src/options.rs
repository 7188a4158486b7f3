//! The options of a database.

use std::time::Duration;

/// How a [`SqliteStore`](crate::SqliteStore) is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SqliteOptions {
    pub synchronous: Synchronous,
    /// Threads that serve reads and listings; at least one is started.
    pub readers: usize,
    /// How long to retry when another process holds the database.
    pub lock_timeout: Duration,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { synchronous: Synchronous::Full, readers: 2, lock_timeout: Duration::from_secs(1) }
    }
}

/// What an acknowledged append survives. The file stays consistent with each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Synchronous {
    /// Loss of power: every commit waits for the disk.
    #[default]
    Full,
    /// Death of the process. Loss of power may take back the last commits.
    Normal,
    /// Death of the process. Loss of power may take the whole file.
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
