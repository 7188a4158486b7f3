//! A configuration inside a send, whose delivery looks for the task before it is there.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use attache_domain::*;
use attache_store::memory::MemoryStore;
use attache_store::{Append, EventLog, LogRead, Snapshot, StoreError, Stores};

use super::fake_push_sender::{FakePushSender, new_config, start};
use crate::world::*;

/// A store that takes its time to answer, so that what it answers may be old.
#[derive(Default)]
struct Dawdling(Arc<MemoryStore>);

#[async_trait]
impl EventLog for Dawdling {
    async fn append(&self, append: Append) -> Result<(), StoreError> {
        self.0.append(append).await
    }

    async fn read(&self, key: &TaskKey, after: Seq, limit: usize) -> Result<Vec<Arc<Event>>, StoreError> {
        let read = self.0.read(key, after, limit).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        read
    }

    async fn read_each(&self, keys: &[TaskKey], limit: usize) -> Result<Vec<LogRead>, StoreError> {
        self.0.read_each(keys, limit).await
    }

    async fn save_snapshot(&self, key: &TaskKey, snapshot: Snapshot) -> Result<(), StoreError> {
        self.0.save_snapshot(key, snapshot).await
    }

    async fn snapshot(&self, key: &TaskKey, at_most: Seq) -> Result<Option<Snapshot>, StoreError> {
        self.0.snapshot(key, at_most).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_opened_while_it_is_looked_for_is_no_orphan() {
    let log = Arc::new(Dawdling::default());
    let memory = log.0.clone();
    let stores = Stores { log, index: memory.clone(), records: memory };
    let actor = Actor::of(vec![vec![say("a"), end(TurnOutcome::Completed)]]);
    let sender = FakePushSender::new();
    let session = start(&stores, &actor, &sender, |_| {}).await;
    let mut send = message("m1", None);
    send.configuration.push = Some(Box::new(new_config("hook", PushShape::EachUpdate)));
    let done = task(session.send(&scope(), send).await.unwrap());
    assert_eq!(done.status.state, TaskState::Completed);
    let seqs = sender.until("hook", 2).await;
    assert_eq!(seqs, [2, done.progress.head.0], "work began, and is done");
    assert!(session.push_config(&scope(), &done.task, Some(&"hook".into())).await.is_ok());
}
