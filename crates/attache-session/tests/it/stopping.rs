//! A turn is stopped, and its task goes on.

use std::sync::Arc;

use attache_domain::{Rights, Scope, TaskEnding, TaskId, TaskState, TurnOutcome, TurnPhase};
use attache_session::{Reservation, SessionService};
use attache_store::Stores;
use attache_store::memory::MemoryStore;

use super::world::{Act, Actor, end, message, say, scope, session, task};

const ID: &str = "0198c0de-0000-7000-8000-000000000001";

async fn open(turns: Vec<Vec<Act>>) -> (Arc<SessionService>, Arc<Actor>, TaskId) {
    let stores = Stores::of(Arc::new(MemoryStore::default()));
    let actor = Actor::of(turns);
    let session = session(&stores, &actor).await;
    let (ending, rights) = (TaskEnding::Session, Rights::ALL);
    let wanted = Reservation { ending, rights, ..Reservation::default() };
    let id = session.reserve_as(&scope(), TaskId::from(ID), wanted).await.unwrap();
    (session, actor, id)
}

#[tokio::test(start_paused = true)]
async fn a_stopped_turn_says_nothing_more_and_the_next_message_is_answered() {
    let answer = |text: &str| vec![say(text), end(TurnOutcome::Completed)];
    let (session, actor, id) =
        open(vec![vec![say("a"), Act::Wait, say("never"), end(TurnOutcome::Completed)], answer("b")]).await;
    assert!(!session.stop_turn(&scope(), &id).await.unwrap(), "nothing was said yet");
    let mut first = message("m1", Some(id.clone()));
    first.configuration.return_immediately = true;
    session.send(&scope(), first).await.unwrap();
    while actor.performed.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    assert!(session.stop_turn(&scope(), &id).await.unwrap());
    let get = attache_domain::GetTask { task: id.clone(), history_length: None, at: None };
    let stopped = session.get(&scope(), &get).await.unwrap().view.clone();
    assert_eq!(stopped.progress.turn.phase, TurnPhase::Over);
    assert_eq!(stopped.status.state, TaskState::InputRequired);
    assert_eq!(stopped.status.message.as_ref().unwrap().text(), "Stopped, as requested.");
    assert!(!session.stop_turn(&scope(), &id).await.unwrap(), "it was stopped before");
    let others = Scope::new("", "another caller");
    assert!(!session.stop_turn(&others, &id).await.unwrap());
    let done = task(session.send(&scope(), message("m2", Some(id))).await.unwrap());
    assert_eq!(done.answer_text(), "b");
    assert_eq!(done.status.state, TaskState::InputRequired);
}

#[tokio::test(start_paused = true)]
async fn a_queued_message_is_taken_up_after_the_stopped_turn() {
    let (session, actor, id) =
        open(vec![vec![Act::Wait, end(TurnOutcome::Completed)], vec![say("b"), end(TurnOutcome::Completed)]])
            .await;
    for name in ["m1", "m2"] {
        let mut send = message(name, Some(id.clone()));
        send.configuration.return_immediately = true;
        session.send(&scope(), send).await.unwrap();
    }
    while actor.performed.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    assert!(session.stop_turn(&scope(), &id).await.unwrap());
    while *actor.performed.lock().unwrap() != [1, 2] {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_goes_on_after_a_turn_that_failed() {
    let (session, _, id) = open(vec![
        vec![Act::Panic],
        vec![end(TurnOutcome::Failed)],
        vec![say("well"), end(TurnOutcome::Completed)],
    ])
    .await;
    for name in ["m1", "m2", "m3"] {
        let send = message(name, Some(id.clone()));
        let done = task(session.send(&scope(), send).await.unwrap());
        assert_eq!(done.status.state, TaskState::InputRequired, "{name}");
        let reason = done.status.message.as_ref().and_then(|message| message.metadata.clone());
        match name {
            "m1" => assert_eq!(reason.unwrap()["reason"], "failed"),
            "m2" => assert_eq!(reason, None, "there was no message"),
            _ => assert_eq!(done.answer_text(), "well"),
        }
    }
}
