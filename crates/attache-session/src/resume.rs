//! Resumes a stream: a task as of a cursor, and all events after it.

use std::sync::Arc;

use attache_domain::{
    Cursor, Fault, GapPolicy, GapReason, GetTask, ReplayGap, Scope, Seq, SubscribeTask, TaskKey, TaskView,
};

use attache_store::StoreError;

use crate::finished_tasks::RenderedTask;
use crate::live_task::LiveTask;
use crate::service::internal;
use crate::subscription::{FinishedTaskRule, Subscription};
use crate::{Follower, SessionService};

impl SessionService {
    /// Names the log that cursors are places in.
    pub fn epoch(&self) -> &Arc<str> {
        self.identity.epoch()
    }

    /// The task as of a cursor (or the current one), then everything after it.
    pub async fn subscribe(
        &self,
        scope: &Scope,
        subscribe: &SubscribeTask,
        when_finished: FinishedTaskRule,
    ) -> Result<Subscription, Fault> {
        let live = match self.visible(scope, &subscribe.task).await {
            Err(Fault::TaskFinished { .. }) if when_finished == FinishedTaskRule::Show => {
                let view = self.quarantined(scope, &subscribe.task).await.ok_or(Fault::Internal)?;
                return Ok(Subscription::at_rest(view, None));
            }
            Err(Fault::TaskNotFound { task }) => {
                let key = TaskKey { scope: scope.clone(), task };
                if let Some(subscription) = self.subscribe_reserved(&key).await? {
                    return Ok(subscription);
                }
                // Its first message may have come since.
                self.visible(scope, &key.task).await?
            }
            found => found?,
        };
        let now = live.view();
        let (view, gap) = match &subscribe.after {
            None => (now.clone(), None),
            Some(cursor) => match self.place(&live, &now, cursor).await? {
                Ok(view) => (view, None),
                Err(gap) if subscribe.gap_policy == GapPolicy::Report => (now.clone(), Some(gap)),
                Err(gap) => return Err(refused(&gap.after)),
            },
        };
        let caught_up = view.progress.head == now.progress.head;
        if !now.status.state.is_terminal() || !caught_up {
            let follower = Some(Follower::new(live, &view));
            let at_rest = caught_up && now.progress.is_settled();
            return Ok(Subscription { view, follower, gap, at_rest, promised: None, opening: None });
        }
        match when_finished {
            // Reports a gap to callers that asked for it.
            FinishedTaskRule::Refuse if gap.is_none() => {
                Err(Fault::TaskFinished { task: now.task.clone(), state: now.status.state })
            }
            FinishedTaskRule::Refuse | FinishedTaskRule::Show => Ok(Subscription::at_rest(view, gap)),
        }
    }

    /// The task as it was at a cursor.
    pub(crate) async fn seen_at(
        &self,
        scope: &Scope,
        get: &GetTask,
        at: &Cursor,
    ) -> Result<Arc<RenderedTask>, Fault> {
        let live = self.visible(scope, &get.task).await?;
        let now = live.view();
        match self.place(&live, &now, at).await? {
            Ok(view) => Ok(RenderedTask::new(view)),
            Err(gap) => Err(refused(&gap.after)),
        }
    }

    /// The number of a cursor that is one of this log.
    pub(crate) fn number_of(&self, cursor: &Cursor) -> Option<Seq> {
        let is_ours = cursor.epoch.as_ref().is_none_or(|epoch| epoch == self.epoch());
        is_ours.then_some(cursor.seq)
    }

    /// The task right after event `at`; the current one if that has not happened yet.
    pub(crate) async fn as_of(&self, live: &LiveTask, at: Seq) -> Result<Arc<TaskView>, Fault> {
        let now = live.view();
        let view = self.kept(live, &now, at).await?;
        view.ok_or_else(|| refused(&Cursor { epoch: None, seq: at }))
    }

    async fn place(
        &self,
        live: &LiveTask,
        now: &Arc<TaskView>,
        cursor: &Cursor,
    ) -> Result<Result<Arc<TaskView>, ReplayGap>, Fault> {
        let lost = |reason| Ok(Err(ReplayGap { after: cursor.clone(), reason }));
        let Some(at) = self.number_of(cursor) else { return lost(GapReason::OtherEpoch) };
        if at > now.progress.head {
            return lost(GapReason::Ahead);
        }
        match self.kept(live, now, at).await? {
            Some(view) => Ok(Ok(view)),
            None => lost(GapReason::Trimmed),
        }
    }

    /// `None`: the log does not reach back that far any more.
    pub(crate) async fn kept(
        &self,
        live: &LiveTask,
        now: &Arc<TaskView>,
        at: Seq,
    ) -> Result<Option<Arc<TaskView>>, Fault> {
        if at >= now.progress.head {
            return Ok(Some(now.clone()));
        }
        // Every visible task has its opening.
        let view = match live.view_at(at.max(Seq::START.next())).await {
            // It is in memory, and what is stored of it cannot be read: treated as missing.
            Err(error @ StoreError::Corrupt { .. }) => {
                live.quarantine().add(&live.key, &error);
                None
            }
            read => read.map_err(internal)?,
        };
        Ok(view.filter(|view| view.progress.head == at.max(Seq::START.next())).map(Arc::new))
    }
}

fn refused(cursor: &Cursor) -> Fault {
    let Cursor { epoch, seq } = cursor;
    let given = epoch.as_ref().map_or_else(|| seq.to_string(), |epoch| format!("{epoch}.{seq}"));
    Fault::BadCursor { given: given.chars().take(40).collect() }
}
