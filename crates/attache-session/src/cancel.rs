//! Canceling: the work stops first, which needs no store; that it did is recorded as soon as it can be.

use std::sync::Arc;
use std::time::Duration;

use attache_domain::{CancelTask, Fault, Scope, TaskKey, TaskState, TaskView};
use tokio::time::timeout;

use crate::SessionService;
use crate::live_task::LiveTask;
use crate::store_health::StoreFault;
use crate::watcher::Watcher;

/// A store that failed once may work again in a moment. A caller waits this long for it.
const SECOND_CHANCE: Duration = Duration::from_secs(1);

impl SessionService {
    /// Stops the work on the task and waits a little for this to be recorded.
    pub async fn cancel(&self, scope: &Scope, cancel: &CancelTask) -> Result<Arc<TaskView>, Fault> {
        let live = match self.cancelable(scope, &cancel.task).await {
            Err(Fault::TaskNotFound { task }) => {
                let key = TaskKey { scope: scope.clone(), task };
                if let Some(view) = self.cancel_reserved(&key).await? {
                    return Ok(view);
                }
                // Its first message may have come since.
                self.cancelable(scope, &key.task).await?
            }
            found => found?,
        };
        // Push configurations of a task at rest become active before the task changes. A running task is stopped
        // first, because a failing store must not prevent that.
        let is_running = live.is_running();
        let mut hold = None;
        if !is_running {
            hold = timeout(SECOND_CHANCE, self.hold(&live.key)).await.ok();
        }
        let head = live.with_progress(|progress| progress.head);
        live.request_cancel()?;
        self.activity.announce(&live.key, head);
        self.run(&live);
        if is_running {
            hold = timeout(SECOND_CHANCE, self.hold(&live.key)).await.ok();
        }
        drop(hold);
        let watcher = Watcher::new(live);
        tokio::select! {
            biased;
            () = self.wait_until_recorded(&watcher) => {}
            () = self.stop.cancelled() => {}
        }
        self.recorded(watcher.task())
    }

    async fn wait_until_recorded(&self, watcher: &Watcher) {
        let is_over = |view: &TaskView| view.progress.state.is_terminal();
        let told = watcher.wait_until(|state| is_over(&state.view) || state.store_failed);
        let _ = timeout(self.options.cancel_patience, told).await;
        if watcher.task().state().store_failed {
            let recorded = watcher.wait_until(|state| is_over(&state.view));
            let _ = timeout(SECOND_CHANCE, recorded).await;
        }
    }

    fn recorded(&self, live: &LiveTask) -> Result<Arc<TaskView>, Fault> {
        let view = live.view();
        let state = view.progress.state;
        if state == TaskState::Canceled || (view.progress.cancel_requested && !state.is_terminal()) {
            return Ok(view);
        }
        // The end of the turn was recorded before.
        if state.is_terminal() {
            return Err(Fault::TaskNotCancelable { task: view.task.clone(), state });
        }
        if self.stop.is_cancelled() {
            return Err(Fault::Unavailable);
        }
        let fault = self.counters.store_fault().unwrap_or(StoreFault::Slow);
        Err(fault.refuses(format!(
            "the work on task {} is stopped, but that cannot be recorded now ({fault}); the task becomes canceled as soon \
             as it can be",
            view.task
        )))
    }
}
