//! What a reader of one task gets.

use std::sync::Arc;

use attache_domain::{Message, ReplayGap, TaskView};
use attache_store::StoreError;
use futures_util::future::BoxFuture;

use crate::Follower;

/// A task as of a cursor, and everything after it.
pub struct Subscription {
    pub view: Arc<TaskView>,
    /// `None`: nothing will come any more.
    pub follower: Option<Follower>,
    /// The cursor does not exist: `view` is the current task, and earlier events were not shown.
    pub gap: Option<ReplayGap>,
    /// `view` is complete and nothing is running: the task is over or waits for input.
    pub at_rest: bool,
    /// The task waits for its first message: who follows it from there on.
    pub promised: Option<FutureFollower>,
    /// The message that opened the task, for a reader of live events that has not seen it.
    pub opening: Option<Arc<Message>>,
}

/// A follower for when there is something to follow.
pub type FutureFollower = BoxFuture<'static, Result<Follower, StoreError>>;

impl Subscription {
    /// The task alone: nothing follows.
    pub(crate) fn at_rest(view: Arc<TaskView>, gap: Option<ReplayGap>) -> Self {
        Self { view, follower: None, gap, at_rest: true, promised: None, opening: None }
    }

    /// The reader has seen all, and nothing will come any more.
    pub fn is_over(&self) -> bool {
        self.follower.is_none() && self.promised.is_none() && self.gap.is_none() && self.opening.is_none()
    }

    /// Ends after showing the task, if nothing is running.
    pub fn close_at_rest(&mut self) {
        if self.at_rest {
            (self.follower, self.promised) = (None, None);
        }
    }
}

/// What to do with a subscription to a task that is over: the versions of the protocol differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishedTaskRule {
    Refuse,
    Show,
}
