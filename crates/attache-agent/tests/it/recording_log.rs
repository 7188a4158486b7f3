//! A log that notes what was written together, and fails when a test wants it to.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use attache_domain::{Event, Seq, TaskKey};
use attache_store::memory::MemoryStore;
use attache_store::{Append, EventLog, LogRead, Snapshot, StoreError};

pub(crate) struct RecordingLog {
    pub(crate) inner: Arc<MemoryStore>,
    /// How many events each append had.
    pub(crate) appends: Arc<Mutex<Vec<usize>>>,
    pub(crate) failure: Arc<Mutex<Option<Failure>>>,
}

/// An append that fails, by its number from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) at: usize,
    pub(crate) how: How,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// This one, and nothing of it is written.
    Once,
    /// This one, though it is written.
    OnceThoughWritten,
    /// This one and all that follow, until a test takes the failure away.
    FromThenOn,
}

#[async_trait]
impl EventLog for RecordingLog {
    async fn append(&self, append: Append) -> Result<(), StoreError> {
        let number = {
            let mut appends = self.appends.lock().unwrap();
            appends.push(append.events.len());
            appends.len()
        };
        let failed = || Err(StoreError::unavailable("database or disk is full"));
        let failure = *self.failure.lock().unwrap();
        match failure {
            Some(Failure { at, how: How::Once }) if number == at => failed(),
            Some(Failure { at, how: How::FromThenOn }) if number >= at => failed(),
            Some(Failure { at, how: How::OnceThoughWritten }) if number == at => {
                self.inner.append(append).await?;
                failed()
            }
            _ => self.inner.append(append).await,
        }
    }

    async fn read(&self, key: &TaskKey, after: Seq, limit: usize) -> Result<Vec<Arc<Event>>, StoreError> {
        self.inner.read(key, after, limit).await
    }

    async fn read_each(&self, keys: &[TaskKey], limit: usize) -> Result<Vec<LogRead>, StoreError> {
        self.inner.read_each(keys, limit).await
    }

    async fn save_snapshot(&self, key: &TaskKey, snapshot: Snapshot) -> Result<(), StoreError> {
        self.inner.save_snapshot(key, snapshot).await
    }

    async fn snapshot(&self, key: &TaskKey, at_most: Seq) -> Result<Option<Snapshot>, StoreError> {
        self.inner.snapshot(key, at_most).await
    }
}
