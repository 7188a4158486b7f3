//! Coming back to a log that does not reach back as far as the cursor any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use attache_domain::*;
use attache_session::FinishedTaskRule;
use attache_store::memory::MemoryStore;
use attache_store::{Append, EventLog, LogRead, Snapshot, StoreError, Stores};

use crate::world::*;

/// A store that has let go of the events up to a place, and kept a snapshot of there.
#[derive(Default)]
struct Trimmed {
    inner: Arc<MemoryStore>,
    up_to: AtomicU64,
}

#[async_trait]
impl EventLog for Trimmed {
    async fn append(&self, append: Append) -> Result<(), StoreError> {
        self.inner.append(append).await
    }

    async fn read(&self, key: &TaskKey, after: Seq, limit: usize) -> Result<Vec<Arc<Event>>, StoreError> {
        let kept = Seq(self.up_to.load(Ordering::SeqCst));
        self.inner.read(key, after.max(kept), limit).await
    }

    async fn read_each(&self, keys: &[TaskKey], limit: usize) -> Result<Vec<LogRead>, StoreError> {
        let mut all = Vec::new();
        for key in keys {
            all.push(self.read(key, Seq::START, limit).await);
        }
        Ok(all)
    }

    async fn save_snapshot(&self, key: &TaskKey, snapshot: Snapshot) -> Result<(), StoreError> {
        self.inner.save_snapshot(key, snapshot).await
    }

    async fn snapshot(&self, key: &TaskKey, at_most: Seq) -> Result<Option<Snapshot>, StoreError> {
        self.inner.snapshot(key, at_most).await
    }
}

fn after(seq: u64, when_lost: GapPolicy, task: &TaskId) -> SubscribeTask {
    let after = Some(Cursor { epoch: None, seq: Seq(seq) });
    SubscribeTask { task: task.clone(), after, gap_policy: when_lost }
}

#[tokio::test(start_paused = true)]
async fn a_cursor_before_what_is_kept_is_told_as_a_gap_and_one_after_it_is_good() {
    let log = Arc::new(Trimmed::default());
    let memory = log.inner.clone();
    let stores = Stores { log: log.clone(), index: memory.clone(), records: memory.clone() };
    let acts = vec![say("a"), say("b"), say("c"), end(TurnOutcome::Completed)];
    let actor = Actor::of(vec![acts]);
    let first = session(&stores, &actor).await;
    let done = task(first.send(&scope(), message("m1", None)).await.unwrap());
    let head = done.progress.head;
    let key = done.key();

    // The first three events are deleted; the session that reads has nothing in memory.
    let mut view = TaskView::open(&memory.read(&key, Seq::START, 1).await.unwrap()[0]).unwrap();
    for event in memory.read(&key, Seq(1), 2).await.unwrap() {
        view.apply(&event);
    }
    let bytes = serde_json::to_vec(&view).unwrap();
    memory.save_snapshot(&key, Snapshot { at: Seq(3), bytes }).await.unwrap();
    log.up_to.store(3, Ordering::SeqCst);
    let session = session(&stores, &actor).await;

    let subscribe = after(1, GapPolicy::Report, &done.task);
    let told = session.subscribe(&scope(), &subscribe, FinishedTaskRule::Refuse).await.unwrap();
    assert_eq!(told.gap.unwrap().reason, GapReason::Trimmed);
    assert_eq!((told.view.progress.head, told.follower.is_none()), (head, true), "the task as it is");

    let subscribe = after(1, GapPolicy::Refuse, &done.task);
    let refused = session.subscribe(&scope(), &subscribe, FinishedTaskRule::Refuse).await.err();
    assert_eq!(refused, Some(Fault::BadCursor { given: "1".into() }));

    let (from, seen) = read_from(&session, &done.task, Some(Seq(3))).await;
    assert_eq!(from.progress.head, Seq(3));
    assert_eq!(seen, (4..=head.0).collect::<Vec<_>>());
    let get = GetTask { task: done.task.clone(), history_length: None, at: None };
    assert_eq!(session.get(&scope(), &get).await.unwrap().view.progress.head, head);
}
