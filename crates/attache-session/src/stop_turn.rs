//! Stops a turn: the work ends at once, and the task continues with the next message.

use std::sync::Arc;

use attache_domain::{Fault, Scope, TaskId, TurnPhase};
use tokio::time::timeout;

use crate::SessionService;
use crate::live_task::LiveTask;
use crate::watcher::Watcher;

impl SessionService {
    /// Stops the running turn and waits a little for this to be recorded. False if no turn is under way. Queued prompts are
    /// taken up next.
    pub async fn stop_turn(&self, scope: &Scope, task: &TaskId) -> Result<bool, Fault> {
        let live = match self.visible(scope, task).await {
            Ok(live) => live,
            // Nothing has been said yet.
            Err(Fault::TaskNotFound { .. }) => return Ok(false),
            Err(fault) => return Err(fault),
        };
        Ok(self.stop_turn_of(live).await)
    }

    pub(crate) async fn stop_turn_of(&self, live: Arc<LiveTask>) -> bool {
        let head = live.with_progress(|progress| progress.head);
        let Some(number) = live.request_stop() else { return false };
        self.activity.announce(&live.key, head);
        self.run(&live);
        let watcher = Watcher::new(live);
        let is_over = watcher.wait_until(|state| {
            let turn = &state.view.progress.turn;
            turn.phase == TurnPhase::Over || turn.number != number
        });
        tokio::select! {
            biased;
            _ = timeout(self.options.cancel_patience, is_over) => {}
            () = self.stop.cancelled() => {}
        }
        true
    }
}
