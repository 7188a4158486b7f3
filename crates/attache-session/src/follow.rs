//! Follows one task's log: what is stored, then what is new, without a gap or a repeat.
//!
//! A reader who keeps up is served from the task's tail; one who fell behind reads the store until the
//! tail reaches back to it. Queues hold wake-ups, never events, so a slow reader costs nobody anything.
//! Not here: deciding when a caller has seen enough.

use std::sync::Arc;

use attache_domain::{Progress, Seq};
use attache_store::StoreError;
use tokio::sync::watch;

use crate::hot::HotTask;
use crate::replay::PAGE;
use crate::tail::Entry;

pub struct Follower {
    hot: Arc<HotTask>,
    cursor: Seq,
    heads: watch::Receiver<Seq>,
    /// How far the task was at the cursor; known only while reading from the store.
    behind: Option<Box<Progress>>,
}

impl Follower {
    pub(crate) fn new(hot: Arc<HotTask>, cursor: Seq) -> Self {
        let heads = hot.heads();
        Self { hot, cursor, heads, behind: None }
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
            if !self.hot.tail_after(self.cursor, limit, found) {
                self.read_stored(limit.min(PAGE), found).await?;
            } else if !found.is_empty() {
                self.behind = None;
            }
            if let Some(last) = found.last() {
                self.cursor = last.event.seq;
                return Ok(());
            }
            // The sender lives in `hot`, which this reader holds: it cannot be gone.
            let _ = self.heads.changed().await;
        }
    }

    /// What is there already, without waiting; false when the store would have to be asked.
    pub fn ready(&mut self, limit: usize, found: &mut Vec<Arc<Entry>>) -> bool {
        let known = self.hot.tail_after(self.cursor, limit, found);
        if let Some(last) = found.last() {
            self.cursor = last.event.seq;
            self.behind = None;
        }
        known
    }

    async fn read_stored(&mut self, limit: usize, found: &mut Vec<Arc<Entry>>) -> Result<(), StoreError> {
        let mut progress = match self.behind.take() {
            Some(progress) => progress,
            None => match self.hot.view_at(self.cursor).await? {
                Some(view) => Box::new(view.progress),
                None => {
                    return Err(StoreError::Corrupt { what: format!("task {} is gone", self.hot.key.task) });
                }
            },
        };
        for event in self.hot.log().read(&self.hot.key, self.cursor, limit).await? {
            let stage = progress.stage();
            progress.apply(&event);
            found.push(Arc::new(Entry::new(event, stage)));
        }
        self.behind = Some(progress);
        Ok(())
    }
}
