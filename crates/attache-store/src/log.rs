//! The trait of the task log, the only source of truth.

use std::sync::Arc;

use async_trait::async_trait;
use attache_domain::{Event, Seq, TaskKey, TaskSummary};

use crate::StoreError;

/// Events to add to one task's log.
#[derive(Debug, Clone)]
pub struct Append {
    pub key: TaskKey,
    /// The expected head of the log; zero for a task that must not exist yet.
    pub expected: Seq,
    /// Numbered without a hole from `expected + 1`; never empty.
    pub events: Vec<Arc<Event>>,
    /// The listing row after these events, written with them or not at all.
    pub summary: TaskSummary,
}

#[async_trait]
pub trait EventLog: Send + Sync + 'static {
    /// Appends all events or none. When it returns, they are as durable as the store promises, and
    /// only from then on does any `read` show them.
    ///
    /// [`StoreError::Conflict`] when `expected` is not the head of the log: then nothing was written.
    async fn append(&self, append: Append) -> Result<(), StoreError>;

    /// Up to about `limit` events strictly after `after`, oldest first, without a hole. Empty means
    /// caught up, or that there is no such task. At least one event when there is one.
    ///
    /// [`StoreError::Corrupt`] when the next event cannot be read; the events before it can.
    async fn read(&self, key: &TaskKey, after: Seq, limit: usize) -> Result<Vec<Arc<Event>>, StoreError>;

    /// The beginnings of several logs, each as `read` from the start gives it, in the order asked for. A log among whose
    /// first `limit` events one cannot be read has an error of its own; an error of the whole call concerns the store.
    async fn read_each(&self, keys: &[TaskKey], limit: usize) -> Result<Vec<LogRead>, StoreError>;

    /// Keeps a snapshot beside the log. A cache: losing it costs time only.
    async fn save_snapshot(&self, key: &TaskKey, snapshot: Snapshot) -> Result<(), StoreError>;

    /// The newest snapshot taken at or before `at_most`, if one was kept.
    async fn snapshot(&self, key: &TaskKey, at_most: Seq) -> Result<Option<Snapshot>, StoreError>;

    /// The problems found since the store was opened. Never waits.
    fn status(&self) -> StoreStatus {
        StoreStatus::default()
    }
}

/// The result of reading one of several logs.
pub type LogRead = Result<Vec<Arc<Event>>, StoreError>;

/// The problems that a store has found since it was opened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoreStatus {
    /// The log may lack events that it once acknowledged, or is a copy: cursors from before it was opened are
    /// invalid. Stays true until something is appended and the store is opened again.
    pub past_changed: bool,
    /// Warnings for operators, one sentence each, without paths and data.
    pub warnings: Vec<String>,
    /// Rows found unreadable so far that belong to no task's log: listing rows, snapshots, records.
    pub unreadable_rows: u64,
}

/// A task folded up to `at`, in a form only its writer understands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub at: Seq,
    pub bytes: Vec<u8>,
}
