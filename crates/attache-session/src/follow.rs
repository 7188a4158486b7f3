//! Follows one task's log: stored events, then new ones, without a gap or a repeat.
//!
//! A reader that keeps up is served from the task's tail. One that fell behind reads the store until the tail reaches
//! back to it. Queues hold wake-ups, never events, so a slow reader costs the others nothing. Not here: deciding when
//! a caller has seen enough.

use std::sync::Arc;
use std::task::{Context, Poll, ready};

use attache_domain::{CallRecords, Event, Message, Seq, TaskView, UpdateContext};
use attache_store::StoreError;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, poll_fn};

use crate::live_task::LiveTask;
use crate::replay::PAGE;
use crate::tail::TailEntry;
use crate::watcher::Watcher;

pub struct Follower {
    watcher: Watcher,
    cursor: Seq,
    /// What the event after the cursor is shown by.
    stage: UpdateContext,
    call_records: Arc<CallRecords>,
    /// Stored events on their way, for a reader who fell behind.
    reading: Option<BoxFuture<'static, Result<Vec<Arc<Event>>, StoreError>>>,
}

impl Follower {
    /// Follows `live` from the head of `view`.
    pub(crate) fn new(live: Arc<LiveTask>, view: &TaskView) -> Self {
        let watcher = Watcher::new(live);
        let (stage, call_records) = (view.progress.update_context(), view.call_records.clone());
        Self { watcher, cursor: view.progress.head, stage, call_records, reading: None }
    }

    /// Follows `live` after the event `cursor`, if the task is in memory from there on.
    pub(crate) fn in_memory(live: &Arc<LiveTask>, cursor: Seq) -> Option<Self> {
        let (stage, call_records) = {
            let state = live.state();
            let (progress, tail) = (&state.view.progress, &state.tail);
            if cursor >= progress.head {
                (progress.update_context(), state.view.call_records.clone())
            } else if let Some(last) = tail.find(cursor) {
                (last.stage_after(), last.call_records().clone())
            } else {
                // The opening of a task is never in its tail.
                let second = tail.find(cursor.next()).filter(|_| cursor == Seq::START.next())?;
                (*second.stage(), Arc::default())
            }
        };
        Some(Self { watcher: Watcher::new(live.clone()), cursor, stage, call_records, reading: None })
    }

    /// The message that opened the task, unless the task is so long that it is kept in the log only.
    pub fn opening_message(&self) -> Option<Arc<Message>> {
        self.task().opening_message()
    }

    /// Follows `live` from right before the last `count` events of `view`.
    pub(crate) fn before_last(live: Arc<LiveTask>, view: &TaskView, count: u64) -> Self {
        let follower = Self::new(live, view);
        Self { cursor: Seq(follower.cursor.0.saturating_sub(count)), ..follower }
    }

    /// The place of the last entry handed out.
    pub fn cursor(&self) -> Seq {
        self.cursor
    }

    pub(crate) fn task(&self) -> &Arc<LiveTask> {
        self.watcher.task()
    }

    /// An entry for what is shown at the cursor and not recorded.
    pub(crate) fn entry_here(&self, event: Event) -> TailEntry {
        TailEntry::new(Arc::new(event), self.stage, self.call_records.clone())
    }

    /// The task has other readers.
    pub fn has_other_readers(&self) -> bool {
        self.watcher.has_others()
    }

    /// Waits until there is something after the cursor and adds up to `limit` entries to `found`.
    ///
    /// Can be dropped and called again at any time: undelivered items are returned by the next call.
    pub async fn next(&mut self, limit: usize, found: &mut Vec<Arc<TailEntry>>) -> Result<(), StoreError> {
        poll_fn(|context| self.poll_next(context, limit, found)).await
    }

    /// See [`next`](Self::next).
    pub fn poll_next(
        &mut self,
        context: &mut Context<'_>,
        limit: usize,
        found: &mut Vec<Arc<TailEntry>>,
    ) -> Poll<Result<(), StoreError>> {
        if self.reading.is_none() {
            let known = ready!(self.watcher.poll(context, |state| {
                let known = state.tail_after(self.cursor, limit, found);
                (!known || !found.is_empty()).then_some(known)
            }));
            if known {
                self.advance(found);
                return Poll::Ready(Ok(()));
            }
        }
        let reading = self.reading.get_or_insert_with(|| {
            let (live, cursor) = (self.watcher.task().clone(), self.cursor);
            async move { live.log().read(&live.key, cursor, limit.min(PAGE)).await }.boxed()
        });
        let read = ready!(reading.poll_unpin(context));
        self.reading = None;
        self.take(read?, found);
        if found.is_empty() {
            let what = format!("task {} has lost events after {}", self.watcher.task().key.task, self.cursor);
            return Poll::Ready(Err(StoreError::Corrupt { what }));
        }
        Poll::Ready(Ok(()))
    }

    /// What is there already, without waiting; false when the store would have to be asked.
    pub fn ready(&mut self, limit: usize, found: &mut Vec<Arc<TailEntry>>) -> bool {
        let known =
            self.reading.is_none() && self.watcher.task().state().tail_after(self.cursor, limit, found);
        self.advance(found);
        known
    }

    fn take(&mut self, events: Vec<Arc<Event>>, found: &mut Vec<Arc<TailEntry>>) {
        let (mut stage, mut call_records) = (self.stage, self.call_records.clone());
        for event in events {
            call_records = call_records.after(&event.fact);
            let entry = TailEntry::new(event, stage, call_records.clone());
            stage = entry.stage_after();
            found.push(Arc::new(entry));
        }
        self.advance(found);
    }

    fn advance(&mut self, found: &[Arc<TailEntry>]) {
        if let Some(last) = found.last() {
            self.cursor = last.event.seq;
            self.stage = last.stage_after();
            self.call_records.clone_from(last.call_records());
        }
    }
}
