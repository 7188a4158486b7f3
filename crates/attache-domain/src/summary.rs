//! The listing row of a task. Written with its facts; can be rebuilt from them.

use jiff::Timestamp;

use crate::{ContextId, Progress, ReplyShape, TaskState};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskSummary {
    pub context: ContextId,
    pub state: TaskState,
    pub status_at: Timestamp,
    /// Hidden tasks (bare replies) are in no listing.
    pub hidden: bool,
    /// It needs work: after a restart it is resumed.
    pub unfinished: bool,
}

impl TaskSummary {
    pub fn of(progress: &Progress) -> Self {
        Self {
            context: progress.context.clone(),
            state: progress.state,
            status_at: progress.status_at,
            hidden: progress.reply == ReplyShape::Message,
            unfinished: progress.next().is_some(),
        }
    }
}
