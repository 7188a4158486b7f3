//! Follows one task's log: what is stored, then what is new, without a gap or a repeat.
//!
//! A reader who keeps up is served from the task's tail; one who fell behind reads the store until the
//! tail reaches back to it. Queues hold wake-ups, never events, so a slow reader costs nobody anything.
//! Not here: deciding when a caller has seen enough.

use std::sync::Arc;

use attache_domain::{Seq, Stage, TaskView};
use attache_store::StoreError;
use tokio::sync::watch;

use crate::hot::HotTask;
use crate::replay::PAGE;
use crate::tail::Entry;

pub struct Follower {
    hot: Arc<HotTask>,
    cursor: Seq,
    /// What the event after the cursor is shown by.
    stage: Stage,
    heads: watch::Receiver<Seq>,
}

impl Follower {
    /// Follows `hot` from where `view` shows it.
    pub(crate) fn new(hot: Arc<HotTask>, view: &TaskView) -> Self {
        let heads = hot.heads();
        Self { hot, cursor: view.progress.head, stage: view.progress.stage(), heads }
    }

    /// The place of the last entry handed out.
    pub fn cursor(&self) -> Seq {
        self.cursor
    }

    /// Waits until there is something after the cursor and adds up to `limit` entries to `found`.
    ///
    /// Can be dropped and called again at any time: what was not handed out comes next time.
    pub async fn next(&mut self, limit: usize, found: &mut Vec<Arc<Entry>>) -> Result<(), StoreError> {
        loop {
            self.heads.borrow_and_update();
            if !self.ready(limit, found) {
                self.read_stored(limit.min(PAGE), found).await?;
            }
            if !found.is_empty() {
                return Ok(());
            }
            // The sender lives in `hot`, which this reader holds: it cannot be gone.
            let _ = self.heads.changed().await;
        }
    }

    /// What is there already, without waiting; false when the store would have to be asked.
    pub fn ready(&mut self, limit: usize, found: &mut Vec<Arc<Entry>>) -> bool {
        let known = self.hot.tail_after(self.cursor, limit, found);
        self.advance(found);
        known
    }

    async fn read_stored(&mut self, limit: usize, found: &mut Vec<Arc<Entry>>) -> Result<(), StoreError> {
        let mut stage = self.stage;
        for event in self.hot.log().read(&self.hot.key, self.cursor, limit).await? {
            let entry = Entry::new(event, stage);
            stage = entry.stage_after();
            found.push(Arc::new(entry));
        }
        self.advance(found);
        Ok(())
    }

    fn advance(&mut self, found: &[Arc<Entry>]) {
        if let Some(last) = found.last() {
            self.cursor = last.event.seq;
            self.stage = last.stage_after();
        }
    }
}
