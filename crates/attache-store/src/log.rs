//! The trait of the task log, the only source of truth.

use std::sync::Arc;

use async_trait::async_trait;
use attache_domain::{Event, Seq, TaskKey, TaskSummary};

use crate::StoreError;

/// Events to add to one task's log.
#[derive(Debug, Clone)]
pub struct Append {
    pub key: TaskKey,
    /// The expected head of the log; zero for a new task.
    pub expected: Seq,
    /// Numbered without a hole from `expected + 1`; never empty.
    pub events: Vec<Arc<Event>>,
    /// The listing row after these events, written atomically with them.
    pub summary: TaskSummary,
}

#[async_trait]
pub trait EventLog: Send + Sync + 'static {
    /// Appends all events or none. When it returns, they are as durable as the store guarantees, and only then can a
    /// `read` return them.
    ///
    /// [`StoreError::Conflict`] if `expected` is not the head of the log: nothing was written.
    async fn append(&self, append: Append) -> Result<(), StoreError>;

    /// Up to about `limit` events strictly after `after`, oldest first, without gaps. Empty at the end of the log and
    /// for a missing task. At least one event if there is one.
    ///
    /// [`StoreError::Corrupt`] if the next event cannot be read; the events before it can be read.
    async fn read(&self, key: &TaskKey, after: Seq, limit: usize) -> Result<Vec<Arc<Event>>, StoreError>;

    /// The beginnings of several logs, each like `read` from the start, in the given order. A log with an unreadable
    /// event among its first `limit` events has an error of its own; an error of the whole call concerns the store.
    async fn read_each(&self, keys: &[TaskKey], limit: usize) -> Result<Vec<LogRead>, StoreError>;

    /// Saves a snapshot beside the log. A cache: losing it only costs time.
    async fn save_snapshot(&self, key: &TaskKey, snapshot: Snapshot) -> Result<(), StoreError>;

    /// The newest snapshot at or before `at_most`, if one was saved.
    async fn snapshot(&self, key: &TaskKey, at_most: Seq) -> Result<Option<Snapshot>, StoreError>;

    /// The problems found since the store was opened. Does not block.
    fn status(&self) -> StoreStatus {
        StoreStatus::default()
    }
}

/// The result of reading one of several logs.
pub type LogRead = Result<Vec<Arc<Event>>, StoreError>;

/// The problems that a store has found since it was opened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoreStatus {
    /// The log may lack events that it once acknowledged, or is a copy: earlier cursors are invalid. Stays true until
    /// an append and the next opening of the store.
    pub past_changed: bool,
    /// Warnings for operators, one sentence each, without paths and data.
    pub warnings: Vec<String>,
    /// The number of unreadable rows found so far that belong to no task's log: listing rows, snapshots, records.
    pub unreadable_rows: u64,
}

/// A task folded up to `at`, in the writer's own format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub at: Seq,
    pub bytes: Vec<u8>,
}
