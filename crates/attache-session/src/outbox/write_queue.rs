//! Writes changes of configurations, one batch after the other, in the order in which they were decided.
//!
//! A change enters the queue under the lock under which it was decided, so the store always holds a state that
//! existed. A cursor is only noted: it goes with the next batch, or after a short delay, because a lost cursor costs a
//! repeated notification and nothing else.

use std::collections::HashMap;
use std::time::Duration;

use attache_store::{RecordChange, StoreError};
use tokio::sync::oneshot;

use super::Outbox;
use super::stored::{ConfigKey, StoredPushStatus};

/// How long a cursor may wait for others.
const CURSOR_WRITE_DELAY: Duration = Duration::from_millis(200);

/// Pending changes. Bounded by the callers that wait for their changes, and by one cursor for each active
/// configuration.
#[derive(Default)]
pub(super) struct WriteQueue {
    changes: Vec<RecordChange>,
    waiting: Vec<oneshot::Sender<Result<(), String>>>,
    cursors: HashMap<ConfigKey, StoredPushStatus>,
}

/// Ready when changes are durable, or could not be made.
pub(super) struct WriteReceipt(oneshot::Receiver<Result<(), String>>);

impl WriteReceipt {
    pub(super) async fn wait(self) -> Result<(), StoreError> {
        let unavailable = |what: String| StoreError::Unavailable { source: what.into() };
        match self.0.await {
            Ok(written) => written.map_err(unavailable),
            Err(_) => Err(unavailable("the outbox has stopped".into())),
        }
    }
}

impl WriteQueue {
    /// Enqueues changes of `key`. They replace a cursor that was noted before.
    pub(super) fn put(
        &mut self,
        key: &ConfigKey,
        changes: impl IntoIterator<Item = RecordChange>,
    ) -> WriteReceipt {
        self.cursors.remove(key);
        let (sender, receiver) = oneshot::channel();
        self.changes.extend(changes);
        self.waiting.push(sender);
        WriteReceipt(receiver)
    }

    pub(super) fn note(&mut self, key: &ConfigKey, status: StoredPushStatus) {
        self.cursors.insert(key.clone(), status);
    }

    /// A caller waits for a write.
    fn is_urgent(&self) -> bool {
        !self.waiting.is_empty()
    }

    fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.cursors.is_empty()
    }
}

impl Outbox {
    /// Ends, with everything written, when the outbox is closed.
    pub(super) async fn run_writer(&self) {
        loop {
            let (empty, urgent) = {
                let state = self.state();
                (state.queue.is_empty(), state.queue.is_urgent())
            };
            match (empty, urgent) {
                (true, _) if self.closed.is_cancelled() => return,
                (true, _) => {
                    tokio::select! {
                        () = self.in_line.notified() => {}
                        () = self.closed.cancelled() => {}
                    }
                }
                (false, false) => {
                    self.wait_for_cursors().await;
                    self.write().await;
                }
                (false, true) => self.write().await,
            }
        }
    }

    async fn wait_for_cursors(&self) {
        let gathering = async {
            while !self.state().queue.is_urgent() {
                self.in_line.notified().await;
            }
        };
        tokio::select! {
            () = gathering => {}
            () = self.closed.cancelled() => {}
            () = tokio::time::sleep(CURSOR_WRITE_DELAY) => {}
        }
    }

    async fn write(&self) {
        let WriteQueue { mut changes, waiting, cursors } = std::mem::take(&mut self.state().queue);
        changes.extend(cursors.iter().map(|(key, status)| key.put_status(status)));
        let written = self.records.change(changes).await;
        if let Err(error) = &written {
            self.counters.store_failed();
            let error = crate::runner::chain(error);
            tracing::error!(error, "what is known about push notifications could not be written");
        }
        for sender in waiting {
            // The caller may have gone.
            let _ = sender.send(written.as_ref().copied().map_err(ToString::to_string));
        }
    }
}
