//! A store whose appends wait at a gate, to prove that nothing is visible before it is committed.

use std::sync::Arc;

use async_trait::async_trait;
use attache_domain::{Event, Seq, TaskKey, TaskSummary};
use tokio::sync::watch;

use super::Store;
use crate::{
    Append, EventLog, IndexCounts, IndexPage, ListQuery, LogRead, Record, RecordChange, Records, Snapshot,
    StoreError, StoreStatus, TaskIndex,
};

/// Forwards everything to the inner store; appends wait while the gate is closed. The gate is open at the start.
///
/// An append whose future is dropped at the gate never takes effect.
pub struct GatedStore<S> {
    store: S,
    held: watch::Sender<bool>,
    waiting: watch::Sender<usize>,
}

impl<S: Store> GatedStore<S> {
    pub fn new(store: S) -> Self {
        Self { store, held: watch::Sender::new(false), waiting: watch::Sender::new(0) }
    }

    /// Closes the gate.
    pub fn hold(&self) {
        self.held.send_replace(true);
    }

    /// Opens the gate.
    pub fn release(&self) {
        self.held.send_replace(false);
    }

    /// Returns when at least `count` appends wait at the gate, so that tests need not sleep.
    pub async fn until_waiting(&self, count: usize) {
        let mut waiting = self.waiting.subscribe();
        waiting.wait_for(|waiting| *waiting >= count).await.expect("the sender lives in self");
    }

    /// The inner store.
    pub fn inner(&self) -> &S {
        &self.store
    }

    async fn pass_gate(&self) {
        let mut held = self.held.subscribe();
        if !*held.borrow_and_update() {
            return;
        }
        self.waiting.send_modify(|waiting| *waiting += 1);
        let _leave = WaitGuard(&self.waiting);
        held.wait_for(|held| !held).await.expect("the sender lives in self");
    }
}

/// Decrements the number of waiting appends, also when the future is dropped.
struct WaitGuard<'a>(&'a watch::Sender<usize>);

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|waiting| *waiting -= 1);
    }
}

#[async_trait]
impl<S: Store> EventLog for GatedStore<S> {
    async fn append(&self, append: Append) -> Result<(), StoreError> {
        self.pass_gate().await;
        self.store.append(append).await
    }

    async fn read(&self, key: &TaskKey, after: Seq, limit: usize) -> Result<Vec<Arc<Event>>, StoreError> {
        self.store.read(key, after, limit).await
    }

    async fn read_each(&self, keys: &[TaskKey], limit: usize) -> Result<Vec<LogRead>, StoreError> {
        self.store.read_each(keys, limit).await
    }

    async fn save_snapshot(&self, key: &TaskKey, snapshot: Snapshot) -> Result<(), StoreError> {
        self.store.save_snapshot(key, snapshot).await
    }

    async fn snapshot(&self, key: &TaskKey, at_most: Seq) -> Result<Option<Snapshot>, StoreError> {
        self.store.snapshot(key, at_most).await
    }

    fn status(&self) -> StoreStatus {
        self.store.status()
    }
}

#[async_trait]
impl<S: Store> TaskIndex for GatedStore<S> {
    async fn list(&self, query: &ListQuery) -> Result<IndexPage, StoreError> {
        self.store.list(query).await
    }

    async fn summary(&self, key: &TaskKey) -> Result<Option<TaskSummary>, StoreError> {
        self.store.summary(key).await
    }

    async fn unfinished(&self) -> Result<Vec<TaskKey>, StoreError> {
        self.store.unfinished().await
    }

    async fn counts(&self) -> Result<IndexCounts, StoreError> {
        self.store.counts().await
    }
}

#[async_trait]
impl<S: Store> Records for GatedStore<S> {
    async fn get(&self, space: &str, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.store.get(space, key).await
    }

    async fn get_or_put(&self, space: &str, key: &str, value: Vec<u8>) -> Result<Vec<u8>, StoreError> {
        self.store.get_or_put(space, key, value).await
    }

    async fn change(&self, changes: Vec<RecordChange>) -> Result<(), StoreError> {
        self.store.change(changes).await
    }

    async fn list_prefix(
        &self,
        space: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        self.store.list_prefix(space, prefix, after, limit).await
    }
}
