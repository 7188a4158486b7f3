//! Receivers that do not accept their notifications.

use std::sync::Arc;
use std::time::Duration;

use attache_domain::*;
use attache_session::DeliveryResult;
use attache_store::Stores;
use attache_store::memory::MemoryStore;

use super::fake_push_sender::*;
use crate::world::*;

fn stores() -> Stores {
    Stores::of(Arc::new(MemoryStore::default()))
}

fn actor() -> Arc<Actor> {
    Actor::of(vec![vec![ask(), Act::Record(Fact::WorkResumed), end(TurnOutcome::Completed)]])
}

#[tokio::test(start_paused = true)]
async fn a_failed_try_is_made_again_with_growing_pauses_and_order_is_kept() {
    let sender = FakePushSender::new();
    sender.plan("c", [DeliveryResult::Accepted, failed("503"), failed("503"), failed("503")]);
    let session = start(&stores(), &actor(), &sender, |_| {}).await;
    session.send(&scope(), with_push(message("m1", None), "c")).await.unwrap();
    let delivered = sender.until("c", 4).await;
    assert_eq!(delivered, [2, 3, 4, 5]);
    let tries = sender.tries.lock().unwrap().clone();
    assert_eq!(tries.iter().map(|(_, seq, _)| *seq).collect::<Vec<_>>(), [2, 3, 3, 3, 3, 4, 5]);
    let pauses: Vec<_> = tries.windows(2).map(|pair| (pair[1].2 - pair[0].2).as_millis()).collect();
    for (place, least, most) in [(1, 500, 1001), (2, 1000, 2001), (3, 2000, 4001)] {
        assert!((least..=most).contains(&pauses[place]), "{pauses:?}");
    }
    let counted = session.counters().snapshot();
    assert_eq!((counted.push_delivered, counted.push_failed, counted.push_gave_up), (4, 3, 0));
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_asks_for_time_gets_it() {
    let sender = FakePushSender::new();
    let busy = DeliveryResult::Failed { why: "429".into(), retry_after: Some(Duration::from_secs(90)) };
    sender.plan("c", [busy]);
    let session = start(&stores(), &actor(), &sender, |_| {}).await;
    let mut send = with_push(message("m1", None), "c");
    send.configuration.return_immediately = true;
    let opened = task(session.send(&scope(), send).await.unwrap());
    while session.counters().snapshot().push_failed == 0 {
        tokio::task::yield_now().await;
    }
    let status = kept(&session, &opened.task, "c").await.status;
    assert!(matches!(status.state, PushState::Waiting { .. }), "{status:?}");
    assert_eq!((status.failures, status.last_error.as_deref()), (1, Some("429")));
    sender.until("c", 4).await;
    let tries = sender.tries.lock().unwrap();
    assert_eq!((tries[1].2 - tries[0].2).as_secs(), 90);
}

#[tokio::test(start_paused = true)]
async fn too_many_failures_are_given_up_visibly_and_setting_it_again_goes_on_there() {
    let sender = FakePushSender::new();
    sender.plan(
        "c",
        std::iter::once(DeliveryResult::Accepted).chain((0..4).map(|number| failed(&format!("no {number}")))),
    );
    let stores = stores();
    let session = start(&stores, &actor(), &sender, |_| {}).await;
    let done = task(session.send(&scope(), with_push(message("m1", None), "c")).await.unwrap());
    at_rest(&session).await;
    let check = |status: PushStatus| {
        let expected = PushStatus {
            state: PushState::GaveUp,
            delivered: Seq(2),
            failures: 4,
            last_error: Some("no 3".into()),
        };
        assert_eq!(status, expected);
    };
    check(kept(&session, &done.task, "c").await.status);
    assert_eq!(session.counters().snapshot().push_gave_up, 1);
    session.shutdown().await;

    let session = start(&stores, &actor(), &sender, |_| {}).await;
    check(kept(&session, &done.task, "c").await.status);
    assert_eq!((session.outbox_stats().active, sender.tries()), (0, 5), "nobody tries any more");
    let again = create(&session, &done.task, "c").await.status;
    assert_eq!((again.state, again.delivered, again.failures), (PushState::Delivering, Seq(2), 0));
    at_rest(&session).await;
    assert_eq!(sender.seqs("c"), [2, 3, 4, 5]);
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_is_gone_for_good_is_given_up_at_once() {
    let sender = FakePushSender::new();
    sender.plan("c", [DeliveryResult::Refused { why: "410".into() }]);
    let session = start(&stores(), &actor(), &sender, |_| {}).await;
    let done = task(session.send(&scope(), with_push(message("m1", None), "c")).await.unwrap());
    at_rest(&session).await;
    assert_eq!(sender.tries(), 1);
    assert_eq!(kept(&session, &done.task, "c").await.status.state, PushState::GaveUp);
    assert_eq!(done.status.state, TaskState::Completed, "the task does not care");
}

#[tokio::test(start_paused = true)]
async fn one_that_fails_keeps_no_other_waiting() {
    let sender = FakePushSender::new();
    sender.plan("bad", (0..3).map(|_| failed("503")));
    let actor = Actor::of(vec![vec![Act::Wait, end(TurnOutcome::Completed)]]);
    let session = start(&stores(), &actor, &sender, |options| options.max_concurrent = 1).await;
    let opened = task(session.send(&scope(), at_once("m1")).await.unwrap());
    for id in ["bad", "good"] {
        create(&session, &opened.task, id).await;
    }
    actor.go.add_permits(1);
    sender.until("good", 1).await;
    assert_eq!(sender.seqs("bad"), [0; 0]);
    sender.until("bad", 1).await;
}
