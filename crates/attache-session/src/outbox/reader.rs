//! Reads a task's log for one configuration: the next event to deliver, and when there is none.

use std::collections::VecDeque;
use std::sync::Arc;

use attache_domain::{PushShape, Seq, TaskView, Update};
use attache_store::StoreError;

use super::sender::PushEvents;
use crate::live_task::LiveTask;
use crate::{Follower, TailEntry};

/// Events taken at once.
const PAGE: usize = 64;

pub(super) struct OutboxReader {
    pub(super) live: Arc<LiveTask>,
    follower: Follower,
    /// Read but not yet examined.
    entries: VecDeque<Arc<TailEntry>>,
    /// The task after the last examined entry, for receivers that get whole tasks. Never shared with the live task,
    /// whose view would be copied at every event then.
    view: Option<Box<TaskView>>,
    cursor: Seq,
    events: PushEvents,
}

impl OutboxReader {
    /// Opens the log after `cursor`.
    pub(super) async fn open(
        live: Arc<LiveTask>,
        cursor: Seq,
        shape: PushShape,
        events: PushEvents,
    ) -> Result<Self, StoreError> {
        // A cursor from before the opening event, which is not delivered.
        let cursor = cursor.max(Seq::START.next());
        let now = live.view();
        let then = match cursor < now.progress.head {
            true => live.view_at(cursor).await?.map(Arc::new).unwrap_or(now),
            false => now,
        };
        let follower = Follower::new(live.clone(), &then);
        let view = (shape == PushShape::WholeTask).then(|| Box::new((*then).clone()));
        let cursor = then.progress.head;
        Ok(Self { live, follower, entries: VecDeque::new(), view, cursor, events })
    }

    /// Everything up to here was examined.
    pub(super) fn cursor(&self) -> Seq {
        self.cursor
    }

    pub(super) fn view(&self) -> Option<&TaskView> {
        self.view.as_deref()
    }

    /// The next entry to deliver among the buffered ones.
    pub(super) fn next_buffered(&mut self) -> Option<Arc<TailEntry>> {
        while let Some(entry) = self.entries.pop_front() {
            self.cursor = entry.event.seq;
            if let Some(view) = &mut self.view {
                view.apply(&entry.event);
            }
            if self.is_delivered(&entry) {
                return Some(entry);
            }
        }
        None
    }

    /// Waits for more entries. Can be dropped and called again.
    pub(super) async fn read_more(&mut self) -> Result<(), StoreError> {
        let mut found = Vec::new();
        self.follower.next(PAGE, &mut found).await?;
        self.entries.extend(found);
        Ok(())
    }

    fn is_delivered(&self, entry: &TailEntry) -> bool {
        match entry.update() {
            Some(Update::Status { .. }) => true,
            Some(Update::Artifact { .. }) => self.events == PushEvents::StatusesAndArtifacts,
            Some(Update::Replied(_)) | None => false,
        }
    }
}
