//! The seam to whoever performs a turn.

use std::sync::Arc;

use async_trait::async_trait;
use attache_domain::{Ending, Fault, Message, ReplyShape, TaskKey, TaskView, TurnPhase};
use attache_store::{ListQuery, StoreError, TaskIndex};

use crate::hot::HotTask;
use crate::{Journal, replay};

/// The journal takes nothing more from this turn: the task was cancelled, finished, or handed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the turn was stopped")]
pub struct Stopped;

/// A turn to perform, or to go on with after a restart.
pub struct TurnRequest {
    /// The task when the turn began (or went on). `progress.turn.emitted` tells what is already recorded.
    pub view: Arc<TaskView>,
    latest: Latest,
}

impl TurnRequest {
    pub(crate) fn new(hot: Arc<HotTask>, index: Arc<dyn TaskIndex>) -> Self {
        Self { view: hot.view(), latest: Latest { hot, index } }
    }

    /// Lets go of the view, so that it need not be copied to change, and keeps the way to the latest one.
    pub fn into_latest(self) -> Latest {
        self.latest
    }
}

/// Shows the task as it is: everything that is durable, whoever recorded it.
pub struct Latest {
    hot: Arc<HotTask>,
    index: Arc<dyn TaskIndex>,
}

/// Earlier tasks of a conversation that count; older ones are forgotten.
const MOST_EARLIER: usize = 100;

impl Latest {
    pub fn view(&self) -> Arc<TaskView> {
        self.hot.view()
    }

    /// The finished tasks of the same conversation and caller, oldest first.
    pub async fn earlier(&self) -> Result<Vec<TaskView>, StoreError> {
        let view = self.view();
        let query = ListQuery {
            scope: view.progress.scope.clone(),
            context: Some(view.context.clone()),
            state: None,
            since: None,
            after: None,
            limit: MOST_EARLIER,
        };
        let listed = self.index.list(&query).await?.tasks.into_iter().rev();
        let others = listed.map(|place| place.task).filter(|task| *task != view.task);
        let keys: Vec<_> = others.map(|task| TaskKey { scope: query.scope.clone(), task }).collect();
        let views = replay::views(self.hot.log().as_ref(), &keys).await?;
        let is_finished = |view: &TaskView| match view.progress.ending {
            Ending::Completes | Ending::Reopens => view.status.state.is_terminal(),
            Ending::StaysOpen => view.progress.turn.phase == TurnPhase::Over,
        };
        Ok(views.into_iter().flatten().filter(is_finished).collect())
    }
}

#[async_trait]
pub trait Agent: Send + Sync + 'static {
    /// The task belongs together with the others of its conversation: their turns are performed one at a time.
    fn keeps_conversation(&self, view: &TaskView) -> bool;

    /// The name of the model that will answer, as far as that is known.
    fn model(&self, _view: &TaskView) -> Option<String> {
        None
    }

    /// May `message` be taken at all? What is refused here is never kept.
    fn check(&self, _message: &Message) -> Result<(), Fault> {
        Ok(())
    }

    /// What the caller will get back for `message`, which opens a task. Quick, and the same every time.
    fn reply_shape(&self, message: &Message) -> ReplyShape;

    /// Performs one turn, reporting everything to `journal`, the end of the turn included.
    ///
    /// The future is dropped when the task is cancelled or the server stops; what was reported stays.
    async fn perform(&self, request: TurnRequest, journal: &Journal) -> Result<(), Stopped>;
}
