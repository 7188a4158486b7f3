//! Waits for a task to change: a stream, a blocking send, a cancel.
//!
//! A watcher checks the state and leaves its waker under the lock under which new events arrive. So no wake-up is
//! lost, and waiting costs one check.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures_util::future::poll_fn;
use slab::Slab;

use crate::live_task::{LiveTask, LiveTaskState};

/// The wakers of all watchers.
#[derive(Default)]
pub(crate) struct Wakers(Slab<Option<Waker>>);

impl Wakers {
    /// Takes all wakers. They are woken without the lock, so that watchers can take it at once.
    pub(crate) fn take(&mut self, woken: &mut Vec<Waker>) {
        woken.extend(self.0.iter_mut().filter_map(|(_, waker)| waker.take()));
    }
}

pub(crate) struct Watcher {
    live: Arc<LiveTask>,
    place: usize,
}

impl Watcher {
    pub(crate) fn new(live: Arc<LiveTask>) -> Self {
        let place = live.state().wakers.0.insert(None);
        Self { live, place }
    }

    pub(crate) fn task(&self) -> &Arc<LiveTask> {
        &self.live
    }

    /// What `look` finds; nothing: woken when the task has moved.
    pub(crate) fn poll<T>(
        &self,
        context: &Context<'_>,
        look: impl FnOnce(&LiveTaskState) -> Option<T>,
    ) -> Poll<T> {
        let mut state = self.live.state();
        if let Some(found) = look(&state) {
            return Poll::Ready(found);
        }
        let waker = &mut state.wakers.0[self.place];
        if !waker.as_ref().is_some_and(|known| known.will_wake(context.waker())) {
            *waker = Some(context.waker().clone());
        }
        Poll::Pending
    }

    pub(crate) async fn wait_until(&self, is_so: impl Fn(&LiveTaskState) -> bool) {
        poll_fn(|context| self.poll(context, |state| is_so(state).then_some(()))).await;
    }

    /// The task has other watchers.
    pub(crate) fn has_others(&self) -> bool {
        self.live.state().wakers.0.len() > 1
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // The waker is dropped after the lock is released.
        let _waker = self.live.state().wakers.0.remove(self.place);
    }
}
