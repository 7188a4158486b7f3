//! The seam to whoever performs a turn.

use std::sync::Arc;

use async_trait::async_trait;
use attache_domain::{Message, ReplyShape, TaskView};

use crate::Journal;

/// The journal takes nothing more from this turn: the task was cancelled, finished, or handed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the turn was stopped")]
pub struct Stopped;

/// A turn to perform, or to go on with after a restart.
pub struct TurnRequest {
    /// The task when the turn began (or went on). `progress.turn.emitted` tells what is already recorded.
    pub view: Arc<TaskView>,
}

#[async_trait]
pub trait Agent: Send + Sync + 'static {
    /// What the caller will get back for `message`, which opens a task. Quick, and the same every time.
    fn reply_shape(&self, message: &Message) -> ReplyShape;

    /// Performs one turn, reporting everything to `journal`, the end of the turn included.
    ///
    /// The future is dropped when the task is cancelled or the server stops; what was reported stays.
    async fn perform(&self, request: TurnRequest, journal: &Journal) -> Result<(), Stopped>;
}
