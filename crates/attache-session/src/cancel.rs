//! Cancels tasks: the work stops first, without the store; the cancel is recorded as soon as the store can be written.

use std::sync::Arc;
use std::time::Duration;

use attache_domain::{
    Answerer, CALL_TO_CANCEL, CallId, CallPhase, CallProgress, CancelTask, Fault, Intent, Scope, TaskEnding,
    TaskId, TaskKey, TaskState, TaskView,
};
use tokio::time::timeout;

use crate::SessionService;
use crate::live_task::LiveTask;
use crate::service::record_fault;
use crate::store_health::StoreFault;
use crate::watcher::Watcher;

/// A store that failed once may work again in a moment. A caller waits this long for it.
const STORE_RETRY_TIMEOUT: Duration = Duration::from_secs(1);

impl SessionService {
    /// Stops the work on the task and waits a little for this to be recorded.
    ///
    /// A session outlives its prompts: while it works on one, only that turn is stopped. Between prompts the session itself
    /// ends, unless it is [kept](crate::SessionOptions::keeps_sessions).
    ///
    /// With [`CALL_TO_CANCEL`] in the metadata only that call is cancelled, and the task goes on.
    pub async fn cancel(&self, scope: &Scope, cancel: &CancelTask) -> Result<Arc<TaskView>, Fault> {
        if let Some(call) = cancel.metadata.as_ref().and_then(|metadata| metadata.get(CALL_TO_CANCEL)) {
            let Some(call) = call.as_str() else {
                return Err(Fault::invalid(
                    format!("metadata.{CALL_TO_CANCEL}"),
                    "must be text: the id of a call",
                ));
            };
            return self.cancel_call(scope, &cancel.task, &CallId(call.to_owned())).await;
        }
        let live = match self.cancelable(scope, &cancel.task).await {
            Err(Fault::TaskNotFound { task }) => {
                let key = TaskKey { scope: scope.clone(), task };
                let reserved = self.reserved(&key).await?;
                if self.options.keeps_sessions
                    && reserved.is_some_and(|reserved| reserved.ending == TaskEnding::Session)
                {
                    return Err(Fault::TaskNotCancelable { task: key.task, state: TaskState::Submitted });
                }
                if let Some(view) = self.cancel_reserved(&key).await? {
                    return Ok(view);
                }
                // Its first message may have come since.
                self.cancelable(scope, &key.task).await?
            }
            found => found?,
        };
        let (ending, state) = live.with_progress(|progress| (progress.ending, progress.state));
        if ending == TaskEnding::Session {
            if self.stop_turn_of(live.clone()).await {
                return Ok(live.view());
            }
            if self.options.keeps_sessions && !state.is_terminal() {
                return Err(Fault::TaskNotCancelable { task: cancel.task.clone(), state });
            }
        }
        // Push configurations of a task at rest become active before the task changes. A running task is stopped
        // first, because a failing store must not prevent that.
        let is_running = live.is_running();
        let mut guard = None;
        if !is_running {
            guard = timeout(STORE_RETRY_TIMEOUT, self.guard_outbox(&live.key)).await.ok();
        }
        let head = live.with_progress(|progress| progress.head);
        live.request_cancel()?;
        self.activity.announce(&live.key, head);
        self.run(&live);
        if is_running {
            guard = timeout(STORE_RETRY_TIMEOUT, self.guard_outbox(&live.key)).await.ok();
        }
        drop(guard);
        let watcher = Watcher::new(live);
        tokio::select! {
            biased;
            () = self.wait_until_recorded(&watcher) => {}
            () = self.stop.cancelled() => {}
        }
        self.recorded(watcher.task())
    }

    /// Cancels one call of the running turn, and waits a little until it has ended. The turn goes on.
    pub async fn cancel_call(
        &self,
        scope: &Scope,
        task: &TaskId,
        call: &CallId,
    ) -> Result<Arc<TaskView>, Fault> {
        let live = self.visible(scope, task).await?;
        let guard = self.guard_outbox(&live.key).await?;
        let head = live.with_progress(|progress| progress.head);
        let by = Answerer { client: scope.owner.to_string(), message: None };
        let intent = Intent::CancelCall { call: call.clone(), by: Some(by) };
        live.record(intent).await.map_err(record_fault)?;
        self.activity.announce(&live.key, head);
        self.run(&live);
        drop(guard);
        let is_open = |known: &CallProgress| {
            (known.id == *call || known.question_id() == call) && known.phase != CallPhase::Finished
        };
        let watcher = Watcher::new(live);
        let ended = watcher.wait_until(|state| !state.view.progress.work.calls.iter().any(is_open));
        tokio::select! {
            biased;
            _ = timeout(self.options.cancel_patience, ended) => {}
            () = self.stop.cancelled() => {}
        }
        Ok(watcher.task().view())
    }

    async fn wait_until_recorded(&self, watcher: &Watcher) {
        let is_over = |view: &TaskView| view.progress.state.is_terminal();
        let settled = watcher.wait_until(|state| is_over(&state.view) || state.store_failed);
        let _ = timeout(self.options.cancel_patience, settled).await;
        if watcher.task().state().store_failed {
            let recorded = watcher.wait_until(|state| is_over(&state.view));
            let _ = timeout(STORE_RETRY_TIMEOUT, recorded).await;
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
