//! Runners: turns, cancels, failures, and logs that others write to as well.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use attache_domain::*;
use attache_store::memory::MemoryStore;
use attache_store::{Append, EventLog, LogRead, Snapshot, StoreError, Stores};
use tokio::task::yield_now;
use tokio::time::sleep;

use crate::world::*;

#[tokio::test(start_paused = true)]
async fn an_agent_that_panics_fails_its_task_and_no_other() {
    let stores = Stores::of(Arc::new(MemoryStore::default()));
    let actor = Actor::of(vec![vec![say("a"), Act::Panic]]);
    let session = session(&stores, &actor).await;
    for id in ["m1", "m2"] {
        let done = task(session.send(&scope(), message(id, None)).await.unwrap());
        assert_eq!(done.status.state, TaskState::Failed);
        assert_eq!(done.status.message.as_ref().unwrap().text(), "The agent stopped unexpectedly.");
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_forgets_to_end_its_turn_fails() {
    let stores = Stores::of(Arc::new(MemoryStore::default()));
    let actor = Actor::of(vec![vec![say("a")]]);
    let session = session(&stores, &actor).await;
    let done = task(session.send(&scope(), message("m1", None)).await.unwrap());
    assert_eq!(done.status.state, TaskState::Failed);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_stops_the_agent_and_what_it_says_afterwards_is_lost() {
    let stores = Stores::of(Arc::new(MemoryStore::default()));
    let actor = Actor::of(vec![vec![say("a"), Act::Wait, say("b"), end(TurnOutcome::Completed)]]);
    let session = session(&stores, &actor).await;
    let opened = task(session.send(&scope(), at_once("m1")).await.unwrap());
    let cancel = CancelTask { task: opened.task.clone(), metadata: None };
    let canceled = session.cancel(&scope(), &cancel).await.unwrap();
    assert_eq!(canceled.status.state, TaskState::Canceled);
    actor.go.add_permits(1);
    for _ in 0..20 {
        yield_now().await;
    }
    let get = GetTask { task: opened.task.clone(), history_length: None, at: None };
    assert_eq!(session.get(&scope(), &get).await.unwrap().view.progress.head, canceled.progress.head);
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_arrives_while_the_turn_ends_is_still_answered() {
    let stores = Stores::of(Arc::new(MemoryStore::default()));
    let first = vec![say("a"), Act::Wait, say("b"), end(TurnOutcome::Completed)];
    let actor = Actor::of(vec![first, vec![say("c"), end(TurnOutcome::Completed)]]);
    let session = session(&stores, &actor).await;
    let opened = task(session.send(&scope(), at_once("m1")).await.unwrap());
    let get = GetTask { task: opened.task.clone(), history_length: None, at: None };
    while session.get(&scope(), &get).await.unwrap().view.progress.head < Seq(3) {
        sleep(Duration::from_millis(1)).await;
    }
    actor.go.add_permits(1);
    let done = task(session.send(&scope(), message("m2", Some(opened.task.clone()))).await.unwrap());
    assert_eq!(done.status.state, TaskState::Completed);
    let said: Vec<_> = done.history.iter().map(|message| message.text()).collect();
    assert_eq!(said, ["m1", "ab", "m2", "c"]);
}

/// A store that another process writes to, and that fails on request.
struct FailingLog {
    inner: MemoryStore,
    /// Before the next append of a runner, another process queues a prompt.
    intrude: AtomicBool,
    broken: AtomicBool,
}

#[async_trait]
impl EventLog for FailingLog {
    async fn append(&self, append: Append) -> Result<(), StoreError> {
        if self.broken.load(Ordering::SeqCst) && append.expected != Seq::START {
            return Err(StoreError::unavailable("the disk is full"));
        }
        if append.expected != Seq::START && self.intrude.swap(false, Ordering::SeqCst) {
            let events = self.inner.read(&append.key, Seq::START, 1000).await?;
            let mut view = TaskView::fold(events.iter().map(|event| &**event)).unwrap();
            let message = message("intruder", None).message.into();
            let fact = Fact::PromptQueued { message, digest: Digest("d".into()) };
            let expected = view.progress.head;
            let event = Event { seq: expected.next(), at: view.status.at, fact };
            view.apply(&event);
            let summary = TaskSummary::of(&view.progress);
            let foreign =
                Append { key: append.key.clone(), expected, events: vec![Arc::new(event)], summary };
            self.inner.append(foreign).await?;
        }
        self.inner.append(append).await
    }

    async fn read(&self, key: &TaskKey, after: Seq, limit: usize) -> Result<Vec<Arc<Event>>, StoreError> {
        self.inner.read(key, after, limit).await
    }

    async fn read_each(&self, keys: &[TaskKey], limit: usize) -> Result<Vec<LogRead>, StoreError> {
        self.inner.read_each(keys, limit).await
    }

    async fn save_snapshot(&self, key: &TaskKey, snapshot: Snapshot) -> Result<(), StoreError> {
        self.inner.save_snapshot(key, snapshot).await
    }

    async fn snapshot(&self, key: &TaskKey, at_most: Seq) -> Result<Option<Snapshot>, StoreError> {
        self.inner.snapshot(key, at_most).await
    }
}

fn failing_log() -> (Arc<FailingLog>, Stores) {
    let inner = MemoryStore::default();
    let log = Arc::new(FailingLog { inner, intrude: AtomicBool::new(false), broken: AtomicBool::new(false) });
    let others = Arc::new(MemoryStore::default());
    (log.clone(), Stores { log, index: others.clone(), records: others })
}

#[tokio::test(start_paused = true)]
async fn what_another_process_appends_is_read_and_decided_on_again() {
    let (log, stores) = failing_log();
    let turn = |text: &str| vec![say(text), end(TurnOutcome::Completed)];
    let actor = Actor::of(vec![turn("a"), turn("b")]);
    let session = session(&stores, &actor).await;
    log.intrude.store(true, Ordering::SeqCst);
    let done = task(session.send(&scope(), message("m1", None)).await.unwrap());
    let said: Vec<_> = done.history.iter().map(|message| message.text()).collect();
    assert_eq!(
        said,
        ["m1", "a", "intruder", "b"],
        "the prompt of the other process was answered, nothing was lost"
    );
    let events = stores.log.read(&done.key(), Seq::START, 1000).await.unwrap();
    let seqs: Vec<_> = events.iter().map(|event| event.seq.0).collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_for_a_while_costs_time_and_nothing_else() {
    let (log, stores) = failing_log();
    let actor = Actor::of(vec![vec![say("a"), say("b"), end(TurnOutcome::Completed)]]);
    let session = session(&stores, &actor).await;
    log.broken.store(true, Ordering::SeqCst);
    let opened = task(session.send(&scope(), at_once("m1")).await.unwrap());
    while session.counters().snapshot().store_failures < 3 {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    log.broken.store(false, Ordering::SeqCst);
    let (_, seen) = read_from(&session, &opened.task, Some(Seq(1))).await;
    assert_eq!(seen, [2, 3, 4, 5, 6]);
    assert_eq!(*actor.performed.lock().unwrap(), [1], "the agent did not notice");
}
