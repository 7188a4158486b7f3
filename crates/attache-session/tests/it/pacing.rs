//! Pieces of an answer wait a moment for more; nothing else waits.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use attache_domain::*;
use attache_session::{Agent, Journal, SessionService, TurnRequest, TurnStopped};
use attache_store::Stores;
use attache_store::memory::MemoryStore;
use tokio::task::yield_now;

use crate::world::*;

/// How far the task is when everybody has had a chance to work and hardly any time has passed.
async fn head_soon(session: &SessionService, task: &TaskId) -> u64 {
    tokio::time::sleep(Duration::from_millis(2)).await;
    head(session, task).await
}

/// The same when no time has passed.
async fn head(session: &SessionService, task: &TaskId) -> u64 {
    for _ in 0..50 {
        yield_now().await;
    }
    let get = GetTask { task: task.clone(), history_length: None, at: None };
    session.get(&scope(), &get).await.unwrap().view.progress.head.0
}

async fn playing(acts: Vec<Act>) -> (Arc<SessionService>, Arc<Actor>, TaskId) {
    let stores = Stores::of(Arc::new(MemoryStore::default()));
    let actor = Actor::of(vec![acts]);
    let session = session(&stores, &actor).await;
    let task = task(session.send(&scope(), at_once("m1")).await.unwrap()).task.clone();
    (session, actor, task)
}

#[tokio::test(start_paused = true)]
async fn the_first_piece_goes_with_the_start_and_the_next_ones_go_together() {
    let acts = vec![say("a"), Act::Wait, say("b"), Act::Wait, say("c"), Act::Wait];
    let (session, actor, task) = playing(acts).await;
    assert_eq!(head(&session, &task).await, 3, "opened, begun, a: the start takes the first piece with it");
    actor.go.add_permits(1);
    assert_eq!(head(&session, &task).await, 3, "b waits");
    actor.go.add_permits(1);
    assert_eq!(head(&session, &task).await, 3, "so does c");
    tokio::time::sleep(Duration::from_millis(11)).await;
    assert_eq!(head(&session, &task).await, 5);
}

#[tokio::test(start_paused = true)]
async fn a_piece_after_a_pause_is_not_delayed() {
    let (session, actor, task) = playing(vec![say("a"), Act::Wait, say("b"), Act::Wait]).await;
    assert_eq!(head_soon(&session, &task).await, 3);
    tokio::time::sleep(Duration::from_millis(20)).await;
    actor.go.add_permits(1);
    assert_eq!(head(&session, &task).await, 4);
}

#[tokio::test(start_paused = true)]
async fn what_is_no_piece_goes_at_once_and_takes_the_pieces_with_it() {
    let acts = vec![say("a"), Act::Wait, say("b"), Act::Wait, end(TurnOutcome::Completed)];
    let (session, actor, task) = playing(acts).await;
    assert_eq!(head_soon(&session, &task).await, 3);
    actor.go.add_permits(1);
    assert_eq!(head(&session, &task).await, 3);
    actor.go.add_permits(1);
    assert_eq!(head(&session, &task).await, 6, "b, that the text is whole, and the end");
}

#[tokio::test(start_paused = true)]
async fn many_pieces_are_written_without_delay() {
    let mut acts = vec![say("a"), Act::Wait];
    acts.extend((0..32).map(|_| say("b")));
    acts.push(Act::Wait);
    let (session, actor, task) = playing(acts).await;
    assert_eq!(head_soon(&session, &task).await, 3);
    actor.go.add_permits(1);
    assert_eq!(head(&session, &task).await, 35);
}

#[tokio::test(start_paused = true)]
async fn the_start_of_a_turn_does_not_wait() {
    let (session, _actor, task) = playing(vec![Act::Wait, say("a")]).await;
    assert_eq!(head(&session, &task).await, 2, "opened, begun");
}

#[tokio::test(start_paused = true)]
async fn a_task_does_not_seem_to_wait_for_a_person_who_has_answered() {
    let stores = Stores::of(Arc::new(MemoryStore::default()));
    let actor = Actor::of(vec![vec![end(TurnOutcome::InputRequired)], vec![Act::Wait]]);
    let session = session(&stores, &actor).await;
    let task = task(session.send(&scope(), message("m1", None)).await.unwrap()).task.clone();
    let mut reply = at_once("m2");
    reply.message.task = Some(task.clone());
    session.send(&scope(), reply).await.unwrap();
    assert_eq!(head(&session, &task).await, 5, "opened, begun, ended, the answer, begun");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_at_once_is_written_at_once() {
    let acts = vec![say("a"), say("b"), end(TurnOutcome::Completed)];
    let (session, _actor, task) = playing(acts).await;
    assert_eq!(head(&session, &task).await, 6, "opened, begun, a, b, that the text is whole, and the end");
}

#[tokio::test(start_paused = true)]
async fn the_first_piece_waits_a_millisecond_for_those_that_came_with_it() {
    let (session, actor, task) = playing(vec![Act::Wait, say("a"), Act::Wait, say("b"), Act::Wait]).await;
    assert_eq!(head(&session, &task).await, 2, "opened, begun");
    actor.go.add_permits(1);
    assert_eq!(head(&session, &task).await, 2, "a waits");
    actor.go.add_permits(1);
    assert_eq!(head_soon(&session, &task).await, 4, "a, b");
}

/// Records without end, until what it recorded first is durable.
struct Talker;

#[async_trait]
impl Agent for Talker {
    fn keeps_conversation(&self, _: &TaskView) -> bool {
        false
    }

    fn reply_shape(&self, _: &Message) -> ReplyShape {
        ReplyShape::Task
    }

    async fn run_turn(&self, _: TurnRequest, journal: &Journal) -> Result<(), TurnStopped> {
        let thought = || Fact::ThoughtShared { text: "hm".into() };
        journal.record(thought()).await?;
        let talks = async {
            loop {
                journal.record(thought()).await?;
                yield_now().await;
            }
        };
        // It talks before it looks, so there is always something that is not durable yet.
        tokio::select! {
            biased;
            stopped = talks => return stopped,
            flushed = journal.flush() => flushed?,
        }
        journal.record(Fact::TurnEnded { outcome: TurnOutcome::Completed, message: None, usage: None }).await
    }
}

#[tokio::test]
async fn a_flush_does_not_wait_for_what_is_recorded_later() {
    let stores = Stores::of(Arc::new(MemoryStore::default()));
    let session = SessionService::start(stores, Arc::new(Talker), options()).await.unwrap();
    let view = task(session.send(&scope(), message("m1", None)).await.unwrap());
    assert_eq!(view.status.state, TaskState::Completed);
}
