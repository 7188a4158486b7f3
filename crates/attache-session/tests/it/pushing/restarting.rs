//! A new start loses nothing.

use std::sync::Arc;
use std::time::Duration;

use attache_domain::*;
use attache_store::memory::MemoryStore;
use attache_store::{Record, RecordChange, Stores};

use super::fake_push_sender::*;
use crate::world::*;

fn stores() -> Stores {
    Stores::of(Arc::new(MemoryStore::default()))
}

#[tokio::test(start_paused = true)]
async fn what_was_not_taken_is_told_after_the_next_start() {
    let stores = stores();
    let actor = Actor::of(vec![vec![ask(), Act::Record(Fact::WorkResumed), end(TurnOutcome::Completed)]]);
    let sender = FakePushSender::new();
    sender.plan("c", [attache_session::DeliveryResult::Accepted, failed("503")]);
    let session =
        start(&stores, &actor, &sender, |options| options.first_delay = Duration::from_secs(999)).await;
    let done = task(session.send(&scope(), with_push(message("m1", None), "c")).await.unwrap());
    while session.counters().snapshot().push_failed == 0 {
        tokio::task::yield_now().await;
    }
    session.shutdown().await;
    assert_eq!(sender.seqs("c"), [2]);

    let session = start(&stores, &actor, &sender, |_| {}).await;
    let status = kept(&session, &done.task, "c").await.status;
    assert_eq!((status.delivered, status.failures), (Seq(2), 1), "it is known what was");
    at_rest(&session).await;
    assert_eq!(sender.seqs("c"), [2, 3, 4, 5], "nothing twice after a stop in peace");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_vanishes_repeats_at_most_what_its_cursor_had_not_said() {
    let stores = stores();
    let actor =
        Actor::of(vec![vec![ask(), Act::Record(Fact::WorkResumed), Act::Wait, end(TurnOutcome::Completed)]]);
    let sender = FakePushSender::new();
    let session = start(&stores, &actor, &sender, |_| {}).await;
    session.send(&scope(), with_push(at_once("m1"), "c")).await.unwrap();
    sender.until("c", 3).await;
    // It is not shut down: the next one starts on what the store holds now.
    let next = FakePushSender::new();
    let second = start(&stores, &actor, &next, |_| {}).await;
    actor.go.add_permits(2);
    next.until("c", 1).await;
    at_rest(&second).await;
    let seqs = next.seqs("c");
    assert!(seqs.is_sorted_by(|one, two| one < two) && seqs.last() == Some(&5), "{seqs:?}");
}

#[tokio::test(start_paused = true)]
async fn a_configuration_whose_task_was_never_opened_is_cleaned_up() {
    let stores = stores();
    let record = |value: &str| Record { key: "/me/t/c".into(), value: value.into() };
    let config = record(r#"{"config":{"id":"c","url":"https://c.test"},"shape":"each_update"}"#);
    let status = record(r#"{"cursor":1,"delivered":0}"#);
    let changes = [("push", config), ("push-standing", status), ("push-active", record(""))];
    let changes = changes.map(|(space, record)| RecordChange::Put { space, record });
    stores.records.change(changes.to_vec()).await.unwrap();

    let sender = FakePushSender::new();
    let session = start(&stores, &Actor::of(vec![]), &sender, |_| {}).await;
    assert_eq!(session.outbox_stats().active, 1);
    at_rest(&session).await;
    session.shutdown().await;
    for space in ["push", "push-standing", "push-active"] {
        assert!(stores.records.get(space, "/me/t/c").await.unwrap().is_none(), "{space}");
    }
    assert_eq!(sender.tries(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_stop_does_not_wait_long_for_a_receiver() {
    let stores = stores();
    let actor = Actor::of(vec![vec![end(TurnOutcome::Completed)]]);
    let sender = FakePushSender::gated();
    let session = start(&stores, &actor, &sender, |_| {}).await;
    session.send(&scope(), with_push(message("m1", None), "c")).await.unwrap();
    while sender.tries() == 0 {
        tokio::task::yield_now().await;
    }
    tokio::time::timeout(Duration::from_secs(3), session.shutdown()).await.expect("it stops");
}
