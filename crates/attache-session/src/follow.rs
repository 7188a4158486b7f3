//! Follows one task's log: what is stored, then what is new, without a gap or a repeat.
//!
//! A reader who keeps up is served from the task's tail; one who fell behind reads the store until the
//! tail reaches back to it. Queues hold wake-ups, never events, so a slow reader costs nobody anything.
//! Not here: deciding when a caller has seen enough.

use std::sync::Arc;

use attache_domain::{Seq, Stage, TaskView};
use attache_store::StoreError;

use crate::hot::HotTask;
use crate::replay::PAGE;
use crate::tail::Entry;

pub struct Follower {
    hot: Arc<HotTask>,
    cursor: Seq,
    /// What the event after the cursor is shown by.
    stage: Stage,
}

impl Follower {
    /// Follows `hot` from where `view` shows it.
    pub(crate) fn new(hot: Arc<HotTask>, view: &TaskView) -> Self {
        hot.reader_came();
        Self { hot, cursor: view.progress.head, stage: view.progress.stage() }
    }

    /// The place of the last entry handed out.
    pub fn cursor(&self) -> Seq {
        self.cursor
    }

    /// Somebody else follows the task too.
    pub fn has_company(&self) -> bool {
        self.hot.has_many_readers()
    }

    /// Waits until there is something after the cursor and adds up to `limit` entries to `found`.
    ///
    /// Can be dropped and called again at any time: what was not handed out comes next time.
    pub async fn next(&mut self, limit: usize, found: &mut Vec<Arc<Entry>>) -> Result<(), StoreError> {
        loop {
            if !self.ready(limit, found) {
                self.read_stored(limit.min(PAGE), found).await?;
            }
            if !found.is_empty() {
                return Ok(());
            }
            // Looked at once more after the wish to be woken is known, so that nothing falls between.
            let moved = self.hot.moved();
            if self.hot.head() == self.cursor {
                moved.await;
            }
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

impl Drop for Follower {
    fn drop(&mut self) {
        self.hot.reader_left();
    }
}
