//! The seam of the task log, the only source of truth.

use std::sync::Arc;

use async_trait::async_trait;
use attache_domain::{Event, Seq, TaskKey, TaskSummary};

use crate::StoreError;

/// Events to add to one task's log.
#[derive(Debug, Clone)]
pub struct Append {
    pub key: TaskKey,
    /// Where the log must stand; zero for a task that must not exist yet.
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
    /// [`StoreError::Conflict`] when the log does not stand at `expected`: then nothing was written.
    async fn append(&self, append: Append) -> Result<(), StoreError>;

    /// Up to about `limit` events strictly after `after`, oldest first, without a hole. Empty means
    /// caught up, or that there is no such task. At least one event when there is one.
    async fn read(&self, key: &TaskKey, after: Seq, limit: usize) -> Result<Vec<Arc<Event>>, StoreError>;

    /// The beginnings of several logs, each as `read` from the start gives it, in the order asked for.
    async fn read_each(&self, keys: &[TaskKey], limit: usize) -> Result<Vec<Vec<Arc<Event>>>, StoreError>;

    /// Keeps a snapshot beside the log. A cache: losing it costs time only.
    async fn keep_snapshot(&self, key: &TaskKey, snapshot: Snapshot) -> Result<(), StoreError>;

    /// The newest snapshot taken at or before `at_most`, if one was kept.
    async fn snapshot(&self, key: &TaskKey, at_most: Seq) -> Result<Option<Snapshot>, StoreError>;
}

/// A task folded up to `at`, in a form only its writer understands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub at: Seq,
    pub bytes: Vec<u8>,
}
