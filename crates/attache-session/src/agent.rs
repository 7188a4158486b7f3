//! The seam to whoever performs a turn.

use std::sync::Arc;

use async_trait::async_trait;
use attache_domain::{Message, ReplyShape, TaskView};

use crate::Journal;
use crate::hot::HotTask;

/// The journal takes nothing more from this turn: the task was cancelled, finished, or handed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the turn was stopped")]
pub struct Stopped;

/// A turn to perform, or to go on with after a restart.
pub struct TurnRequest {
    /// The task when the turn began (or went on). `progress.turn.emitted` tells what is already recorded.
    pub view: Arc<TaskView>,
    hot: Arc<HotTask>,
}

impl TurnRequest {
    pub(crate) fn new(hot: Arc<HotTask>) -> Self {
        Self { view: hot.view(), hot }
    }

    /// Lets go of the view, so that it need not be copied to change, and keeps the way to the latest one.
    pub fn into_latest(self) -> Latest {
        Latest(self.hot)
    }
}

/// Shows the task as it is: everything that is durable, whoever recorded it.
pub struct Latest(Arc<HotTask>);

impl Latest {
    pub fn view(&self) -> Arc<TaskView> {
        self.0.view()
    }
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
