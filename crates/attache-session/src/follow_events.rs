//! The events of a task for clients that show no tasks: those after a cursor.
//!
//! What a new reader costs does not grow with the task, unless its cursor is older than the tail.

use std::sync::Arc;

use attache_domain::{Cursor, Fault, GapReason, Message, ReplayGap, Scope, Seq, TaskId, TaskKey};

use crate::live_task::LiveTask;
use crate::subscription::Subscription;
use crate::{Follower, SessionService};

impl SessionService {
    /// Everything after `after`. [`Subscription::view`] is a later task than that of the cursor.
    pub async fn events_after(
        &self,
        scope: &Scope,
        task: &TaskId,
        after: &Cursor,
    ) -> Result<Subscription, Fault> {
        let live = match self.visible(scope, task).await {
            Err(Fault::TaskNotFound { .. }) => {
                let key = TaskKey { scope: scope.clone(), task: task.clone() };
                if let Some(subscription) = self.subscribe_reserved(&key).await? {
                    let gap = match self.number_of(after) {
                        None => Some(gap(after, GapReason::OtherEpoch)),
                        Some(seq) if seq > Seq::START => Some(gap(after, GapReason::Ahead)),
                        Some(_) => None,
                    };
                    return Ok(Subscription { gap, ..subscription });
                }
                // Its first message may have come since.
                self.visible(scope, task).await?
            }
            // It cannot be read any more.
            Err(Fault::TaskFinished { .. }) => {
                let view = self.quarantined(scope, task).await.ok_or(Fault::Internal)?;
                return Ok(Subscription::at_rest(view, None));
            }
            found => found?,
        };
        let head = live.with_progress(|progress| progress.head);
        match self.number_of(after) {
            None => Ok(after_gap(live, gap(after, GapReason::OtherEpoch))),
            Some(seq) if seq > head => Ok(after_gap(live, gap(after, GapReason::Ahead))),
            Some(seq) => match self.follow_after(&live, seq).await? {
                Some((follower, opening)) => Ok(subscription(&live, follower, opening)),
                None => Ok(after_gap(live, gap(after, GapReason::Trimmed))),
            },
        }
    }

    /// A follower from after `seq`, and the first message if that comes next; `None` if the log does not reach back.
    pub(crate) async fn follow_after(
        &self,
        live: &Arc<LiveTask>,
        seq: Seq,
    ) -> Result<Option<(Follower, Option<Arc<Message>>)>, Fault> {
        let place = seq.max(Seq::START.next());
        let mut opening = live.opening_message().filter(|_| seq == Seq::START);
        let is_whole = seq != Seq::START || opening.is_some();
        if is_whole && let Some(follower) = Follower::in_memory(live, place) {
            return Ok(Some((follower, opening)));
        }
        let now = live.view();
        let Some(view) = self.kept(live, &now, place).await? else { return Ok(None) };
        if seq == Seq::START {
            opening = view.history.first().cloned();
        }
        Ok(Some((Follower::new(live.clone(), &view), opening)))
    }
}

fn subscription(live: &LiveTask, follower: Follower, opening: Option<Arc<Message>>) -> Subscription {
    let opening = opening.filter(|message| !message.parts.is_empty());
    let view = live.view();
    let is_over = view.progress.is_final() && follower.cursor() >= view.progress.head && opening.is_none();
    let follower = Some(follower).filter(|_| !is_over);
    Subscription { follower, opening, ..Subscription::at_rest(view, None) }
}

/// The task now, and what happens from now on.
fn after_gap(live: Arc<LiveTask>, gap: ReplayGap) -> Subscription {
    let view = live.view();
    let follower = Some(Follower::new(live, &view)).filter(|_| !view.progress.is_final());
    Subscription { follower, ..Subscription::at_rest(view, Some(gap)) }
}

fn gap(after: &Cursor, reason: GapReason) -> ReplayGap {
    ReplayGap { after: after.clone(), reason }
}
