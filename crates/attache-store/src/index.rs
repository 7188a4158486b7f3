//! The seam of the task listing. It can be thrown away and rebuilt from the log.

use async_trait::async_trait;
use attache_domain::{ContextId, Scope, TaskId, TaskKey, TaskState, TaskSummary, Timestamp};

use crate::StoreError;

/// Which tasks, newest status first; ties are broken by task id, descending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListQuery {
    pub scope: Scope,
    pub context: Option<ContextId>,
    pub state: Option<TaskState>,
    /// Keeps tasks whose status is at this time or later.
    pub since: Option<Timestamp>,
    /// Only tasks that come strictly after this place.
    pub after: Option<ListCursor>,
    pub limit: usize,
}

/// A place in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListCursor {
    pub status_at: Timestamp,
    pub task: TaskId,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IndexPage {
    pub tasks: Vec<ListCursor>,
    /// More tasks follow after the last one here.
    pub more: bool,
    /// How many tasks match the filters, whatever the place and the limit.
    pub total: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexCounts {
    /// All tasks of all callers that are not hidden.
    pub total: u64,
}

#[async_trait]
pub trait TaskIndex: Send + Sync + 'static {
    /// A page of the caller's tasks; hidden ones are never in it, and a row that cannot be read is left out.
    async fn list(&self, query: &ListQuery) -> Result<IndexPage, StoreError>;

    /// The listing row of one task, hidden or not; `None` when there is no such task.
    async fn summary(&self, key: &TaskKey) -> Result<Option<TaskSummary>, StoreError>;

    /// Every task of every caller that somebody has to work on, oldest status first. A row that cannot be read is left
    /// out.
    async fn unfinished(&self) -> Result<Vec<TaskKey>, StoreError>;

    async fn counts(&self) -> Result<IndexCounts, StoreError>;
}
