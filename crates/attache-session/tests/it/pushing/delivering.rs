//! Which notifications go to which configuration.

use std::sync::Arc;

use attache_domain::*;
use attache_session::PushEvents;
use attache_store::Stores;
use attache_store::memory::MemoryStore;

use super::fake_push_sender::*;
use crate::world::*;

fn stores() -> Stores {
    Stores::of(Arc::new(MemoryStore::default()))
}

#[tokio::test(start_paused = true)]
async fn every_status_is_told_in_order_and_nothing_else() {
    let actor =
        Actor::of(vec![vec![say("a"), ask(), Act::Record(Fact::WorkResumed), end(TurnOutcome::Completed)]]);
    let sender = FakePushSender::new();
    let session = start(&stores(), &actor, &sender, |_| {}).await;
    session.send(&scope(), with_push(message("m1", None), "c")).await.unwrap();
    sender.until("c", 4).await;
    at_rest(&session).await;
    assert_eq!(sender.bodies("c"), ["Working", "AuthRequired", "Working", "Completed"]);
    assert!(sender.seqs("c").is_sorted_by(|one, two| one < two));
}

#[tokio::test(start_paused = true)]
async fn artifacts_are_told_when_the_operator_wants_it() {
    let actor = Actor::of(vec![vec![say("a"), end(TurnOutcome::Completed)]]);
    let sender = FakePushSender::new();
    let with_artifacts =
        |options: &mut attache_session::PushOptions| options.events = PushEvents::StatusesAndArtifacts;
    let session = start(&stores(), &actor, &sender, with_artifacts).await;
    session.send(&scope(), with_push(message("m1", None), "c")).await.unwrap();
    at_rest(&session).await;
    assert_eq!(sender.bodies("c"), ["Working", "artifact", "artifact", "Completed"]);
}

#[tokio::test(start_paused = true)]
async fn a_whole_task_is_told_as_it_was_after_each_event() {
    let actor = Actor::of(vec![vec![say("a"), ask(), say("b"), end(TurnOutcome::Completed)]]);
    let sender = FakePushSender::gated();
    let session = start(&stores(), &actor, &sender, |_| {}).await;
    let mut send = message("m1", None);
    send.configuration.push = Some(Box::new(new_config("", PushShape::WholeTask)));
    send.configuration.return_immediately = true;
    let opened = task(session.send(&scope(), send).await.unwrap());
    read_from(&session, &opened.task, Some(Seq(1))).await;
    // The task is over before the first of it is taken.
    sender.gate.as_ref().unwrap().add_permits(100);
    let id = opened.task.as_str();
    let seqs = sender.until(id, 3).await;
    let states = ["Working", "AuthRequired", "Completed"];
    let expected: Vec<_> =
        seqs.iter().zip(states).map(|(seq, state)| format!("task at {seq} {state}")).collect();
    assert_eq!(sender.bodies(id), expected);
}

#[tokio::test(start_paused = true)]
async fn many_configurations_are_each_told_everything_in_order() {
    let mut acts: Vec<_> = (0..40).flat_map(|_| [ask(), Act::Record(Fact::WorkResumed)]).collect();
    acts.insert(0, Act::Wait);
    acts.push(end(TurnOutcome::Completed));
    let actor = Actor::of(vec![acts]);
    let sender = FakePushSender::new();
    let session = start(&stores(), &actor, &sender, |options| options.max_concurrent = 8).await;
    let opened = task(session.send(&scope(), at_once("m1")).await.unwrap());
    for number in 0..32 {
        create(&session, &opened.task, &format!("c{number}")).await;
    }
    actor.go.add_permits(1);
    let everything: Vec<u64> = (3..=83).collect();
    for number in 0..32 {
        let seqs = sender.until(&format!("c{number}"), 81).await;
        // Those that were there before the turn began got that event, too.
        assert_eq!(seqs.strip_prefix(&[2]).unwrap_or(&seqs), everything, "c{number}");
    }
    at_rest(&session).await;
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_over_already_is_told_once() {
    let actor = Actor::of(vec![vec![say("a"), end(TurnOutcome::Completed)]]);
    let sender = FakePushSender::new();
    let session = start(&stores(), &actor, &sender, |_| {}).await;
    let done = task(session.send(&scope(), message("m1", None)).await.unwrap());
    create(&session, &done.task, "late").await;
    at_rest(&session).await;
    assert_eq!(sender.bodies("late"), ["Completed"]);
    assert_eq!(kept(&session, &done.task, "late").await.status.delivered, done.progress.head);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_goes_on_after_it_was_over_is_told_on() {
    let turn = || vec![say("a"), end(TurnOutcome::Completed)];
    let actor = Actor::of(vec![turn(), turn(), turn()]);
    let sender = FakePushSender::new();
    let stores = stores();
    let session = start(&stores, &actor, &sender, |_| {}).await;
    let mut send = with_push(message("m1", None), "c");
    send.options.ending = Some(TaskEnding::Reopens);
    let done = task(session.send(&scope(), send).await.unwrap());
    at_rest(&session).await;
    let again = |id: &str| {
        let mut send = message(id, Some(done.task.clone()));
        send.options.ending = Some(TaskEnding::Reopens);
        send
    };
    session.send(&scope(), again("m2")).await.unwrap();
    at_rest(&session).await;
    assert_eq!(sender.bodies("c"), ["Working", "Completed"].repeat(2));
    // The same after a start, at which nothing was active.
    session.shutdown().await;
    let session = start(&stores, &actor, &sender, |_| {}).await;
    assert_eq!(session.outbox_stats().active, 0, "what rests costs nothing");
    session.send(&scope(), again("m3")).await.unwrap();
    at_rest(&session).await;
    assert_eq!(sender.bodies("c"), ["Working", "Completed"].repeat(3));
}

#[tokio::test(start_paused = true)]
async fn a_cancel_is_told() {
    let actor = Actor::of(vec![vec![Act::Wait]]);
    let sender = FakePushSender::new();
    let session = start(&stores(), &actor, &sender, |_| {}).await;
    let mut send = with_push(at_once("m1"), "c");
    send.configuration.return_immediately = true;
    let opened = task(session.send(&scope(), send).await.unwrap());
    session.cancel(&scope(), &CancelTask { task: opened.task.clone(), metadata: None }).await.unwrap();
    at_rest(&session).await;
    assert_eq!(sender.bodies("c").last().unwrap(), "Canceled");
}

#[tokio::test(start_paused = true)]
async fn a_continued_task_is_told_from_the_message_that_asked_for_it() {
    let actor = Actor::of(vec![vec![end(TurnOutcome::InputRequired)], vec![end(TurnOutcome::Completed)]]);
    let sender = FakePushSender::new();
    let session = start(&stores(), &actor, &sender, |_| {}).await;
    let asked = task(session.send(&scope(), message("m1", None)).await.unwrap());
    let answer = with_push(message("m2", Some(asked.task.clone())), "c");
    session.send(&scope(), answer).await.unwrap();
    at_rest(&session).await;
    assert_eq!(sender.bodies("c"), ["Working", "Completed"]);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_is_sent_again_is_not_told_twice() {
    let actor = Actor::of(vec![vec![end(TurnOutcome::Completed)]]);
    let sender = FakePushSender::new();
    let session = start(&stores(), &actor, &sender, |_| {}).await;
    for _ in 0..3 {
        let mut send = message("m1", None);
        send.options.duplicate_rule = DuplicateRule::Id;
        let config = PushConfig { id: "".into(), ..config("nameless") };
        send.configuration.push = Some(Box::new(NewPushConfig { config, shape: PushShape::EachUpdate }));
        session.send(&scope(), send).await.unwrap();
        at_rest(&session).await;
    }
    assert_eq!(sender.delivered.lock().unwrap().len(), 2);
}
