//! A log that notes what was written together.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use attache_domain::{Event, Seq, TaskKey};
use attache_store::memory::MemoryStore;
use attache_store::{Append, EventLog, LogRead, Snapshot, StoreError};

pub(crate) struct NotedLog {
    pub(crate) inner: Arc<MemoryStore>,
    /// How many events each append had.
    pub(crate) appends: Arc<Mutex<Vec<usize>>>,
}

#[async_trait]
impl EventLog for NotedLog {
    async fn append(&self, append: Append) -> Result<(), StoreError> {
        self.appends.lock().unwrap().push(append.events.len());
        self.inner.append(append).await
    }

    async fn read(&self, key: &TaskKey, after: Seq, limit: usize) -> Result<Vec<Arc<Event>>, StoreError> {
        self.inner.read(key, after, limit).await
    }

    async fn read_each(&self, keys: &[TaskKey], limit: usize) -> Result<Vec<LogRead>, StoreError> {
        self.inner.read_each(keys, limit).await
    }

    async fn keep_snapshot(&self, key: &TaskKey, snapshot: Snapshot) -> Result<(), StoreError> {
        self.inner.keep_snapshot(key, snapshot).await
    }

    async fn snapshot(&self, key: &TaskKey, at_most: Seq) -> Result<Option<Snapshot>, StoreError> {
        self.inner.snapshot(key, at_most).await
    }
}
