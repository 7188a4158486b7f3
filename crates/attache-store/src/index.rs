//! The trait of the task listing, which can be rebuilt from the log.

use async_trait::async_trait;
use attache_domain::{ContextId, Scope, TaskId, TaskKey, TaskState, TaskSummary, Timestamp};

use crate::StoreError;

/// A filter, with the newest status first; ties are ordered by task id, descending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListQuery {
    pub scope: Scope,
    pub context: Option<ContextId>,
    pub state: Option<TaskState>,
    /// Only tasks with a status at or after this time.
    pub since: Option<Timestamp>,
    /// Only tasks after this position.
    pub after: Option<ListCursor>,
    pub limit: usize,
}

/// A position in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListCursor {
    pub status_at: Timestamp,
    pub task: TaskId,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IndexPage {
    pub tasks: Vec<ListCursor>,
    /// More tasks follow after the last one of this page.
    pub more: bool,
    /// The number of tasks that match the filters, regardless of position and limit.
    pub total: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexCounts {
    /// All tasks of all callers that are not hidden.
    pub total: u64,
}

#[async_trait]
pub trait TaskIndex: Send + Sync + 'static {
    /// A page of the caller's tasks. Leaves out hidden tasks and unreadable rows.
    async fn list(&self, query: &ListQuery) -> Result<IndexPage, StoreError>;

    /// The listing row of one task, hidden or not; `None` if there is no such task.
    async fn summary(&self, key: &TaskKey) -> Result<Option<TaskSummary>, StoreError>;

    /// All unfinished tasks of all callers, oldest status first. Leaves out unreadable rows.
    async fn unfinished(&self) -> Result<Vec<TaskKey>, StoreError>;

    async fn counts(&self) -> Result<IndexCounts, StoreError>;
}
