//! The stream of one prompt: from its own turn on, or after the event that the client saw last, to the end of that turn.
//!
//! A client that was cut off sends the same message again. Whether the prompt still runs, is settled, or was followed by
//! others by then makes no difference to what it is shown.

use std::sync::Arc;

use attache_domain::{
    Cursor, Digest, Fact, Fault, GapReason, Message, MessageId, ReceivedMessage, ReplayGap, Role, Scope,
    SendMessage, Seq, TaskId, TaskKey, TaskView, TurnPhase,
};

use crate::identity::digest;
use crate::live_task::LiveTask;
use crate::replay::PAGE;
use crate::service::{StartedTask, internal};
use crate::subscription::Subscription;
use crate::{Follower, SessionService};

/// The events of one prompt.
pub struct PromptStream {
    /// Without a follower there is nothing that the client has not seen, unless there is a gap.
    pub subscription: Subscription,
    /// The turn of the prompt. The stream ends with it.
    pub turn: u32,
}

/// Where a stream begins.
enum StreamStart {
    /// After this event.
    After(Seq),
    /// The client has seen the end.
    Ended,
    /// The log does not reach back to the cursor.
    Trimmed,
}

impl SessionService {
    /// Begins, then everything that the message leads to, the message included. `after` is what a client that sends the same
    /// message again has seen last; a cursor of another log, or one that is ahead of this one, counts as none.
    pub async fn stream_prompt(
        &self,
        scope: &Scope,
        mut send: SendMessage,
        after: Option<&Cursor>,
    ) -> Result<PromptStream, Fault> {
        send.options.resumes |= after.is_some();
        let (message, digest) = (send.message.id.clone(), digest(&send.message));
        let started = self.begin(scope, send).await?;
        let turn = turn_of(&started.view, &message, Some(&digest));
        let start = match after.and_then(|after| self.number_of(after)) {
            Some(after) if after <= started.live.with_progress(|progress| progress.head) => {
                self.resumed_start(&started.live, (&message, turn), after).await?
            }
            _ => self.first_start(&started, &message, turn).await?,
        };
        let view = started.live.view();
        let subscription = match start {
            StreamStart::After(seq) => match self.follow_after(&started.live, seq).await? {
                Some((follower, opening)) => {
                    let opening = opening.filter(|message| !message.parts.is_empty());
                    Subscription { follower: Some(follower), opening, ..Subscription::at_rest(view, None) }
                }
                None => trimmed(&started.live, turn, after),
            },
            StreamStart::Ended => Subscription::at_rest(view, None),
            StreamStart::Trimmed => trimmed(&started.live, turn, after),
        };
        Ok(PromptStream { subscription, turn })
    }

    /// The prompt with this text whose events a client reads that has seen the event `after` last: it was running then, or
    /// waited for its turn.
    pub async fn prompt_seen(
        &self,
        scope: &Scope,
        task: &TaskId,
        after: &Cursor,
        text: &str,
    ) -> Result<Option<MessageId>, Fault> {
        let key = TaskKey { scope: scope.clone(), task: task.clone() };
        let live = match self.visible(scope, task).await {
            Err(Fault::TaskNotFound { .. }) if self.reserved_tasks.contains(&key) => return Ok(None),
            found => found?,
        };
        let now = live.view();
        let Some(after) = self.number_of(after).filter(|after| *after <= now.progress.head) else {
            return Ok(None);
        };
        let Some(then) = self.kept(&live, &now, after).await? else { return Ok(None) };
        let turn = then.progress.turn.number;
        let messages = now.history.iter().chain(&now.progress.queue);
        let is_it = |message: &&Arc<Message>| {
            message.role == Role::User && turn_of(&now, &message.id, None) >= turn && message.text() == text
        };
        Ok(messages.filter(is_it).map(|message| message.id.clone()).next())
    }

    /// For a client that has seen nothing.
    async fn first_start(
        &self,
        started: &StartedTask,
        message: &MessageId,
        turn: u32,
    ) -> Result<StreamStart, Fault> {
        if started.recorded > 0 {
            return Ok(StreamStart::After(started.before()));
        }
        if turn <= 1 {
            return Ok(StreamStart::After(Seq::START));
        }
        let now = started.live.view();
        let Some(opened) = self.kept(&started.live, &now, Seq::START.next()).await? else {
            return Ok(StreamStart::Trimmed);
        };
        let found = self.before_prompt(&started.live, &opened, (message, turn)).await?;
        Ok(StreamStart::After(found.unwrap_or(now.progress.head)))
    }

    /// For a client that has seen the event `after`.
    async fn resumed_start(
        &self,
        live: &LiveTask,
        (message, turn): (&MessageId, u32),
        after: Seq,
    ) -> Result<StreamStart, Fault> {
        let Some(view) = self.kept(live, &live.view(), after).await? else {
            return Ok(StreamStart::Trimmed);
        };
        let seen = view.progress.turn;
        if seen.number < turn {
            // The client needs nothing of what was before its prompt.
            let found = self.before_prompt(live, &view, (message, turn)).await?;
            return Ok(StreamStart::After(found.unwrap_or(after)));
        }
        let is_over = seen.number > turn || seen.phase == TurnPhase::Over;
        Ok(if is_over { StreamStart::Ended } else { StreamStart::After(after) })
    }

    /// The place right before the event with which the message was queued or its turn began, whichever comes first after
    /// `view`.
    pub(crate) async fn before_prompt(
        &self,
        live: &LiveTask,
        view: &TaskView,
        (message, turn): (&MessageId, u32),
    ) -> Result<Option<Seq>, Fault> {
        let (mut context, mut seen) = (view.progress.update_context(), view.progress.head);
        loop {
            let page = live.log().read(&live.key, seen, PAGE).await.map_err(internal)?;
            if page.is_empty() {
                return Ok(None);
            }
            for event in page {
                context = context.after(&event.fact);
                let is_queued = matches!(&event.fact, Fact::PromptQueued { message: queued, .. } if queued.id == *message);
                if is_queued || context.turn.number >= turn {
                    return Ok(Some(seen));
                }
                seen = event.seq;
            }
        }
    }
}

/// The turn that takes the message; the current one if the message is an answer. Different messages may have the same id.
pub(crate) fn turn_of(view: &TaskView, message: &MessageId, digest: Option<&Digest>) -> u32 {
    let progress = &view.progress;
    let mut with_id = progress.received.iter().rev().filter(|received| received.id == *message);
    let is_same = |received: &&ReceivedMessage| Some(&received.digest) == digest;
    let received = with_id.clone().find(is_same).or_else(|| with_id.next());
    // Older logs do not know the turn.
    received.map(|received| received.turn).filter(|turn| *turn > 0).unwrap_or(progress.turn.number)
}

/// The state of the task, and what still comes of the prompt.
fn trimmed(live: &Arc<LiveTask>, turn: u32, after: Option<&Cursor>) -> Subscription {
    let view = live.view();
    let progress = &view.progress;
    let runs = progress.turn.number < turn
        || (progress.turn.number == turn && progress.turn.phase != TurnPhase::Over);
    let follower = runs.then(|| Follower::new(live.clone(), &view));
    let cursor = after.cloned().unwrap_or(Cursor { epoch: None, seq: Seq::START });
    let gap = ReplayGap { after: cursor, reason: GapReason::Trimmed };
    Subscription { follower, ..Subscription::at_rest(view, Some(gap)) }
}
