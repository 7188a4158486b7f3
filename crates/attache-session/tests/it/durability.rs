//! Nothing is shown before it is durable, and nothing durable is forgotten.

use std::sync::Arc;
use std::time::Duration;

use attache_domain::*;
use attache_session::FinishedTaskRule;
use attache_store::Stores;
use attache_store::conformance::GatedStore;
use attache_store::memory::MemoryStore;
use futures_util::FutureExt;
use tokio::task::yield_now;
use tokio::time::sleep;

use crate::world::*;

#[tokio::test(start_paused = true)]
async fn nothing_is_visible_before_its_commit() {
    let store = Arc::new(GatedStore::new(MemoryStore::default()));
    let stores = Stores::of(store.clone());
    let actor = Actor::of(vec![vec![say("a"), Act::Wait, say("b"), end(TurnOutcome::Completed)]]);
    let session = session(&stores, &actor).await;

    store.hold();
    let me = scope();
    let sending = session.send(&me, at_once("m1"));
    tokio::pin!(sending);
    for _ in 0..50 {
        assert!(sending.as_mut().now_or_never().is_none(), "acknowledged before it was durable");
        yield_now().await;
    }
    store.release();
    let opened = task(sending.await.unwrap());

    let after = Some(Cursor { epoch: None, seq: Seq(1) });
    let subscribe = SubscribeTask { task: opened.task.clone(), after, gap_policy: GapPolicy::Refuse };
    let mut follower =
        session.subscribe(&scope(), &subscribe, FinishedTaskRule::Refuse).await.unwrap().follower.unwrap();
    let mut entries = Vec::new();
    while follower.cursor() < Seq(3) {
        follower.next(64, &mut entries).await.unwrap();
    }
    store.hold();
    actor.go.add_permits(1);
    let get = GetTask { task: opened.task.clone(), history_length: None, at: None };
    for _ in 0..50 {
        entries.clear();
        assert!(follower.ready(64, &mut entries) && entries.is_empty(), "shown before it was durable");
        assert_eq!(session.get(&scope(), &get).await.unwrap().view.progress.head, Seq(3));
        assert_eq!(stores.log.read(&opened.key(), Seq(3), 9).await.unwrap().len(), 0);
        yield_now().await;
    }
    store.release();
    let (_, seen) = read_from(&session, &opened.task, Some(Seq(3))).await;
    assert_eq!(seen, [4, 5, 6]);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_starts_again_goes_on_where_the_last_one_was() {
    let stores = Stores::of(Arc::new(MemoryStore::default()));
    let acts = vec![vec![say("a"), say("b"), Act::Wait, say("c"), end(TurnOutcome::Completed)]];
    let actor = Actor::of(acts);
    let first = session(&stores, &actor).await;
    let opened = task(first.send(&scope(), at_once("m1")).await.unwrap());
    let get = GetTask { task: opened.task.clone(), history_length: None, at: None };
    while first.get(&scope(), &get).await.unwrap().view.progress.head < Seq(4) {
        sleep(Duration::from_millis(1)).await;
    }
    first.shutdown().await;
    drop(first);

    let second = session(&stores, &actor).await;
    assert_eq!(second.counters().snapshot().tasks_recovered, 1);
    actor.go.add_permits(1);
    read_from(&second, &opened.task, Some(Seq(1))).await;
    let view = second.get(&scope(), &get).await.unwrap().view.clone();
    assert_eq!(view.history.last().unwrap().text(), "abc", "no step was repeated");
    assert_eq!(*actor.performed.lock().unwrap(), [1, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_that_was_recorded_counts_after_a_restart() {
    let stores = Stores::of(Arc::new(MemoryStore::default()));
    let actor = Actor::of(vec![vec![Act::Wait]]);
    let first = session(&stores, &actor).await;
    let opened = task(first.send(&scope(), at_once("m1")).await.unwrap());
    first.shutdown().await;
    // As a process does that dies right after it recorded the request.
    let key = opened.key();
    let events = stores.log.read(&key, Seq::START, 100).await.unwrap();
    let mut view = TaskView::fold(events.iter().map(|event| &**event)).unwrap();
    let event = Event { seq: view.progress.head.next(), at: view.status.at, fact: Fact::CancelRequested };
    let expected = view.progress.head;
    view.apply(&event);
    let summary = TaskSummary::of(&view.progress);
    let append = attache_store::Append { key, expected, events: vec![Arc::new(event)], summary };
    stores.log.append(append).await.unwrap();

    let second = session(&stores, &actor).await;
    let (_, seen) = read_from(&second, &opened.task, Some(Seq(1))).await;
    let get = GetTask { task: opened.task.clone(), history_length: None, at: None };
    let view = second.get(&scope(), &get).await.unwrap().view.clone();
    assert_eq!(view.status.state, TaskState::Canceled);
    assert_eq!(seen.last(), Some(&view.progress.head.0));
}
