//! Whether the store can be written now.
//!
//! Three signals decide: the result of the latest append, how long an append has been pending, and a probe record that
//! is written on request if nothing was written lately. A failed append marks the store as broken at once; a later
//! successful write clears that.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use attache_domain::{Fault, IgnorePoison};
use attache_store::{Record, RecordChange, Records, StoreError};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::runner::chain;

/// How long a write that succeeded, or failed, is believed.
const HEALTHY_PROBE_INTERVAL: Duration = Duration::from_secs(10);
const FAILED_PROBE_INTERVAL: Duration = Duration::from_secs(1);
/// A store that ends no write for this long is too slow. A monitor that asks waits no longer than this.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);
/// What is written. After a failure it is much, because a full disk still accepts small writes.
const SMALL_PROBE_BYTES: usize = 1 << 10;
const LARGE_PROBE_BYTES: usize = 256 << 10;

/// Why the store cannot be used, in words that hold no path and no data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StoreFault {
    #[error("the store cannot be written: the disk is full")]
    Full,
    #[error("the store cannot be written: it is read-only")]
    ReadOnly,
    #[error("the store cannot be written: another process has locked it")]
    Locked,
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

impl StoreFault {
    const ALL: [Self; 7] = [
        Self::Full,
        Self::ReadOnly,
        Self::Locked,
        Self::Unwritable,
        Self::Slow,
        Self::Unreadable,
        Self::Gone,
    ];

    /// Stores say it in their own words; those of SQLite and of the system are known.
    fn of(error: &StoreError) -> Self {
        if matches!(error, StoreError::Gone { .. }) {
            return Self::Gone;
        }
        let text = chain(error);
        let says = |words: &[&str]| words.iter().any(|words| text.contains(words));
        if says(&["disk is full", "No space left", "quota exceeded"]) {
            Self::Full
        } else if says(&["readonly database", "Read-only file system"]) {
            Self::ReadOnly
        } else if says(&["database is locked"]) {
            Self::Locked
        } else {
            Self::Unwritable
        }
    }

    /// The refusal that a caller gets; `what` says what that means for its request.
    pub(crate) fn refuses(self, what: String) -> Fault {
        match self {
            Self::Full => Fault::StoreFull { what },
            _ => Fault::StoreUnavailable { what },
        }
    }
}

/// The fault for a caller whose request failed because of the store.
pub fn store_fault(error: &StoreError) -> Fault {
    tracing::error!(error = %chain(error), "the store failed");
    match error {
        StoreError::Gone { .. } => StoreFault::Gone.refuses(StoreFault::Gone.to_string()),
        StoreError::Unavailable { .. } => match StoreFault::of(error) {
            StoreFault::Full => StoreFault::Full.refuses(
                "the server cannot keep anything now: its disk is full; send the same request again later"
                    .into(),
            ),
            other => {
                other.refuses("the server cannot use its store now; send the same request again later".into())
            }
        },
        _ => Fault::Internal,
    }
}

#[derive(Debug)]
pub(crate) struct StoreHealth {
    /// The result of the latest write: nothing wrong, or a fault by its place in the list, from 1.
    fault: AtomicU8,
    last_probe: Mutex<Option<Instant>>,
    /// Wakes waiting writers once the store can be written again.
    pub(crate) recovered: Notify,
    /// Writes under way; and when the first of them began or the latest ended, in milliseconds after `created`.
    pending_write: AtomicUsize,
    moved_at: AtomicU64,
    created: Instant,
}

impl Default for StoreHealth {
    fn default() -> Self {
        Self {
            fault: AtomicU8::default(),
            last_probe: Mutex::default(),
            recovered: Notify::new(),
            pending_write: AtomicUsize::default(),
            moved_at: AtomicU64::default(),
            created: Instant::now(),
        }
    }
}

/// A write under way. Dropping it without a result records nothing.
pub(crate) struct PendingWrite<'a>(&'a StoreHealth);

impl Drop for PendingWrite<'_> {
    fn drop(&mut self) {
        self.0.moved_at.store(self.0.milliseconds(), Ordering::Relaxed);
        self.0.pending_write.fetch_sub(1, Ordering::Relaxed);
    }
}

impl StoreHealth {
    /// To be held while a write is tried.
    pub(crate) fn write_started(&self) -> PendingWrite<'_> {
        if self.pending_write.fetch_add(1, Ordering::Relaxed) == 0 {
            self.moved_at.store(self.milliseconds(), Ordering::Relaxed);
        }
        PendingWrite(self)
    }

    /// A write was tried.
    pub(crate) fn write_ended<T>(&self, result: &Result<T, StoreError>) {
        match result {
            Ok(_) => self.set(None),
            // The store works: another writer was faster.
            Err(StoreError::Conflict { .. } | StoreError::Corrupt { .. }) => {}
            Err(error) => self.set(Some(StoreFault::of(error))),
        }
    }

    pub(crate) fn fault(&self) -> Option<StoreFault> {
        let number = usize::from(self.fault.load(Ordering::Relaxed));
        let recorded = number.checked_sub(1).and_then(|place| StoreFault::ALL.get(place).copied());
        recorded.or_else(|| self.is_slow().then_some(StoreFault::Slow))
    }

    fn is_slow(&self) -> bool {
        let since = self.milliseconds().saturating_sub(self.moved_at.load(Ordering::Relaxed));
        self.pending_write.load(Ordering::Relaxed) > 0 && Duration::from_millis(since) >= WRITE_TIMEOUT
    }

    fn milliseconds(&self) -> u64 {
        u64::try_from(self.created.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// The known state, after a probe if the last write was too long ago. One probe at a time: other callers get the
    /// previous state.
    pub(crate) async fn probe(&self, records: &dyn Records) -> Option<StoreFault> {
        let known = self.fault();
        if self.is_due(known) {
            let length = if known.is_some() { LARGE_PROBE_BYTES } else { SMALL_PROBE_BYTES };
            let record = Record { key: "probe".into(), value: vec![0; length] };
            let changes = [RecordChange::Put { space: "health", record }];
            match timeout(WRITE_TIMEOUT, records.change(changes.into())).await {
                Ok(result) => self.write_ended(&result),
                Err(_) => self.set(Some(StoreFault::Slow)),
            }
        }
        self.fault()
    }

    fn is_due(&self, known: Option<StoreFault>) -> bool {
        let believed = if known.is_some() { FAILED_PROBE_INTERVAL } else { HEALTHY_PROBE_INTERVAL };
        let mut last = self.last_probe.lock().ignore_poison();
        let due = last.is_none_or(|last| last.elapsed() >= believed);
        if due {
            *last = Some(Instant::now());
        }
        due
    }

    fn set(&self, fault: Option<StoreFault>) {
        let place = StoreFault::ALL.iter().position(|known| Some(*known) == fault);
        let number = place.map_or(0, |place| u8::try_from(place + 1).unwrap_or(u8::MAX));
        if self.fault.swap(number, Ordering::Relaxed) != number {
            match fault {
                Some(fault) => tracing::error!("{fault}"),
                None => {
                    tracing::info!("the store can be written again");
                    self.recovered.notify_waiters();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use attache_store::memory::MemoryStore;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_failed_write_is_told_at_once_and_a_later_one_that_succeeds_clears_it() {
        let (health, store) = (StoreHealth::default(), MemoryStore::default());
        assert_eq!(health.probe(&store).await, None);
        health.write_ended::<()>(&Err(StoreError::unavailable("database or disk is full")));
        assert_eq!(health.fault(), Some(StoreFault::Full));
        // A fresh result is used again.
        assert_eq!(health.probe(&store).await, Some(StoreFault::Full));
        tokio::time::advance(FAILED_PROBE_INTERVAL).await;
        assert_eq!(health.probe(&store).await, None);
        health.write_ended::<()>(&Err(StoreError::unavailable("disk I/O error")));
        assert_eq!(health.fault(), Some(StoreFault::Unwritable));
        let conflict = StoreError::Conflict { expected: Default::default(), head: Default::default() };
        health.write_ended::<()>(&Err(conflict));
        assert_eq!(health.fault(), Some(StoreFault::Unwritable), "a conflict says nothing");
        health.write_ended(&Ok(()));
        assert_eq!(health.fault(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_that_does_not_end_is_told_while_it_lasts() {
        let health = StoreHealth::default();
        let (first, second) = (health.write_started(), health.write_started());
        tokio::time::advance(WRITE_TIMEOUT - Duration::from_millis(1)).await;
        assert_eq!(health.fault(), None);
        drop(first);
        tokio::time::advance(WRITE_TIMEOUT - Duration::from_millis(1)).await;
        assert_eq!(health.fault(), None, "others ended meanwhile");
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(health.fault(), Some(StoreFault::Slow));
        drop(second);
        assert_eq!(health.fault(), None);
    }

    #[test]
    fn a_fault_is_known_by_the_words_of_the_store() {
        for (words, expected) in [
            ("database or disk is full", StoreFault::Full),
            ("No space left on device (os error 28)", StoreFault::Full),
            ("attempt to write a readonly database", StoreFault::ReadOnly),
            ("Read-only file system (os error 30)", StoreFault::ReadOnly),
            ("database is locked", StoreFault::Locked),
            ("disk I/O error", StoreFault::Unwritable),
        ] {
            assert_eq!(StoreFault::of(&StoreError::unavailable(words)), expected, "{words}");
        }
    }
}
