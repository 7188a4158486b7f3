//! A turn is stopped, and its task goes on.

use std::sync::Arc;

use attache_domain::{
    CancelTask, Fault, Rights, Scope, TaskEnding, TaskId, TaskState, TurnOutcome, TurnPhase,
};
use attache_session::{HistoryLimits, Reservation, SessionOptions, SessionService};
use attache_store::Stores;
use attache_store::memory::MemoryStore;

use super::world::{Act, Actor, end, message, options, say, scope, task};

const ID: &str = "0198c0de-0000-7000-8000-000000000001";

async fn open(turns: Vec<Vec<Act>>) -> (Arc<SessionService>, Arc<Actor>, TaskId) {
    open_with(turns, options()).await
}

async fn open_with(
    turns: Vec<Vec<Act>>,
    options: SessionOptions,
) -> (Arc<SessionService>, Arc<Actor>, TaskId) {
    let stores = Stores::of(Arc::new(MemoryStore::default()));
    let actor = Actor::of(turns);
    let session = SessionService::start(stores, actor.clone(), options).await.unwrap();
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

#[tokio::test(start_paused = true)]
async fn a_turn_that_records_too_much_ends_and_its_session_goes_on() {
    let pieces = |count: usize| (0..count).map(|number| say(&format!("piece {number} ")));
    let long = || pieces(200).chain([end(TurnOutcome::Completed)]).collect::<Vec<_>>();
    let short = || pieces(40).chain([end(TurnOutcome::Completed)]).collect::<Vec<_>>();
    let stores = Stores::of(Arc::new(MemoryStore::default()));
    let actor = Actor::of(vec![short(), short(), long(), short(), short()]);
    let history = HistoryLimits { events: 100, ..HistoryLimits::default() };
    let options = SessionOptions { history, ..options() };
    let session = SessionService::start(stores, actor, options).await.unwrap();
    let (ending, rights) = (TaskEnding::Session, Rights::ALL);
    let wanted = Reservation { ending, rights, ..Reservation::default() };
    let id = session.reserve_as(&scope(), TaskId::from(ID), wanted).await.unwrap();
    for (name, is_cut) in [("m1", false), ("m2", false), ("m3", true), ("m4", false), ("m5", false)] {
        let done = task(session.send(&scope(), message(name, Some(id.clone()))).await.unwrap());
        assert_eq!(done.status.state, TaskState::InputRequired, "{name}");
        let said = done.status.message.as_ref().map(|message| message.text()).unwrap_or_default();
        assert_eq!(said.contains("longest history that a turn may have"), is_cut, "{name}: {said}");
    }
}

async fn until_performed(actor: &Actor) {
    while actor.performed.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancel_stops_the_turn_of_a_session_and_between_turns_it_ends_the_session() {
    let waiting = vec![say("a"), Act::Wait, end(TurnOutcome::Completed)];
    let (session, actor, id) = open(vec![waiting, vec![say("b"), end(TurnOutcome::Completed)]]).await;
    let cancel = CancelTask { task: id.clone(), metadata: None };
    let mut first = message("m1", Some(id.clone()));
    first.configuration.return_immediately = true;
    session.send(&scope(), first).await.unwrap();
    until_performed(&actor).await;
    let stopped = session.cancel(&scope(), &cancel).await.unwrap();
    assert_eq!(
        (stopped.status.state, stopped.progress.turn.phase),
        (TaskState::InputRequired, TurnPhase::Over)
    );
    let done = task(session.send(&scope(), message("m2", Some(id))).await.unwrap());
    assert_eq!(done.answer_text(), "b");
    assert_eq!(session.cancel(&scope(), &cancel).await.unwrap().status.state, TaskState::Canceled);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_kept_is_not_ended_by_a_cancel() {
    let options = SessionOptions { keeps_sessions: true, ..options() };
    let waiting = vec![Act::Wait, end(TurnOutcome::Completed)];
    let (session, actor, id) = open_with(vec![waiting], options).await;
    let cancel = CancelTask { task: id.clone(), metadata: None };
    let refused = session.cancel(&scope(), &cancel).await.unwrap_err();
    let state = TaskState::Submitted;
    assert_eq!(refused, Fault::TaskNotCancelable { task: id.clone(), state }, "nothing was said yet");
    let mut first = message("m1", Some(id.clone()));
    first.configuration.return_immediately = true;
    session.send(&scope(), first).await.unwrap();
    until_performed(&actor).await;
    assert_eq!(session.cancel(&scope(), &cancel).await.unwrap().status.state, TaskState::InputRequired);
    let refused = session.cancel(&scope(), &cancel).await.unwrap_err();
    assert_eq!(refused, Fault::TaskNotCancelable { task: id, state: TaskState::InputRequired });
    assert!(refused.to_string().contains("nothing is being worked on"), "{refused}");
}
