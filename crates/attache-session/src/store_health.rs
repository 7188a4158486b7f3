//! Whether the store can be written now.
//!
//! Two things tell: what came of the latest append, and a record that is written when somebody asks and nothing was
//! tried lately. An append that fails says at once that the store is broken; a later write that succeeds says that it
//! is not any more.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use attache_store::{Record, RecordChange, Records, StoreError};
use tokio::time::{Instant, timeout};

use crate::runner::chain;

/// How long a write that succeeded, or failed, is believed.
const GOOD_FOR: Duration = Duration::from_secs(10);
const BAD_FOR: Duration = Duration::from_secs(1);
/// A write that takes longer has failed.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);
/// What is written. After a failure it is much, for a disk that is full has room for a little now and then.
const SMALL_RECORD: usize = 1 << 10;
const LARGE_RECORD: usize = 256 << 10;

/// Why the store cannot be used, in words that hold no path and no data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StoreFault {
    #[error("the store cannot be written: the disk is full")]
    Full,
    #[error("the store cannot be written")]
    Unwritable,
    #[error("the store does not answer in time")]
    Slow,
    #[error("the store cannot be read")]
    Unreadable,
    #[error(
        "the files of the store were deleted or replaced while it was open; nothing is accepted any more"
    )]
    Gone,
}

#[derive(Debug, Default)]
pub(crate) struct StoreHealth {
    /// What the latest write came to: nothing wrong, or a fault by its number.
    fault: AtomicU8,
    last_probe: Mutex<Option<Instant>>,
}

impl StoreHealth {
    /// A write was tried.
    pub(crate) fn wrote<T>(&self, result: &Result<T, StoreError>) {
        let fault = match result {
            Ok(_) => None,
            // The store works: somebody else was faster.
            Err(StoreError::Conflict { .. } | StoreError::Corrupt { .. }) => return,
            Err(StoreError::Gone { .. }) => Some(StoreFault::Gone),
            Err(error) if is_full(error) => Some(StoreFault::Full),
            Err(_) => Some(StoreFault::Unwritable),
        };
        self.set(fault);
    }

    pub(crate) fn fault(&self) -> Option<StoreFault> {
        match self.fault.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(StoreFault::Full),
            2 => Some(StoreFault::Unwritable),
            4 => Some(StoreFault::Gone),
            _ => Some(StoreFault::Slow),
        }
    }

    /// What is known, after a write of its own if the last one was too long ago. One at a time: whoever asks meanwhile
    /// is told what was known before.
    pub(crate) async fn probe(&self, records: &dyn Records) -> Option<StoreFault> {
        let known = self.fault();
        if self.is_due(known) {
            let length = if known.is_some() { LARGE_RECORD } else { SMALL_RECORD };
            let record = Record { key: "probe".into(), value: vec![0; length] };
            let changes = [RecordChange::Put { space: "health", record }];
            match timeout(WRITE_TIMEOUT, records.change(changes.into())).await {
                Ok(result) => self.wrote(&result),
                Err(_) => self.set(Some(StoreFault::Slow)),
            }
        }
        self.fault()
    }

    fn is_due(&self, known: Option<StoreFault>) -> bool {
        let believed = if known.is_some() { BAD_FOR } else { GOOD_FOR };
        let mut last = self.last_probe.lock().unwrap_or_else(PoisonError::into_inner);
        let due = last.is_none_or(|last| last.elapsed() >= believed);
        if due {
            *last = Some(Instant::now());
        }
        due
    }

    fn set(&self, fault: Option<StoreFault>) {
        let number = match fault {
            None => 0,
            Some(StoreFault::Full) => 1,
            Some(StoreFault::Unwritable | StoreFault::Unreadable) => 2,
            Some(StoreFault::Slow) => 3,
            Some(StoreFault::Gone) => 4,
        };
        if self.fault.swap(number, Ordering::Relaxed) != number {
            match fault {
                Some(fault) => tracing::error!("{fault}"),
                None => tracing::info!("the store can be written again"),
            }
        }
    }
}

/// Stores say it in their own words; those of SQLite and of the system are known.
fn is_full(error: &StoreError) -> bool {
    let text = chain(error);
    ["disk is full", "No space left", "quota exceeded"].iter().any(|words| text.contains(words))
}

#[cfg(test)]
mod tests {
    use attache_store::memory::MemoryStore;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_failed_write_is_told_at_once_and_a_later_one_that_succeeds_clears_it() {
        let (health, store) = (StoreHealth::default(), MemoryStore::default());
        assert_eq!(health.probe(&store).await, None);
        health.wrote::<()>(&Err(StoreError::unavailable("database or disk is full")));
        assert_eq!(health.fault(), Some(StoreFault::Full));
        // What was just looked at is not looked at again.
        assert_eq!(health.probe(&store).await, Some(StoreFault::Full));
        tokio::time::advance(BAD_FOR).await;
        assert_eq!(health.probe(&store).await, None);
        health.wrote::<()>(&Err(StoreError::unavailable("disk I/O error")));
        assert_eq!(health.fault(), Some(StoreFault::Unwritable));
        let conflict = StoreError::Conflict { expected: Default::default(), head: Default::default() };
        health.wrote::<()>(&Err(conflict));
        assert_eq!(health.fault(), Some(StoreFault::Unwritable), "a conflict says nothing");
        health.wrote(&Ok(()));
        assert_eq!(health.fault(), None);
    }
}
