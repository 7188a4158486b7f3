//! Ids that are promised before there is a message.

use attache_domain::*;
use attache_session::Reservation;
use attache_store::Stores;
use attache_store::memory::MemoryStore;

use crate::world::*;

fn stores() -> Stores {
    Stores::of(std::sync::Arc::new(MemoryStore::default()))
}

fn wanted() -> Reservation {
    Reservation { context: Some("c".into()), wishes: None, ending: Ending::StaysOpen }
}

fn get(task: &TaskId) -> GetTask {
    GetTask { task: task.clone(), history_length: None, at: None }
}

#[tokio::test]
async fn the_first_message_opens_the_task_also_after_a_restart() {
    let stores = stores();
    let actor = Actor::of(vec![vec![end(Outcome::Completed)], vec![end(Outcome::Completed)]]);
    let promised = session(&stores, &actor).await.reserve(&scope(), wanted()).await.unwrap();

    let session = session(&stores, &actor).await;
    let seen = session.get(&scope(), &get(&promised)).await.unwrap();
    assert_eq!((seen.view.status.state, seen.view.history.len()), (TaskState::Submitted, 0));

    let first = message("m1", Some(promised.clone()));
    let view = task(session.send(&scope(), first.clone()).await.unwrap());
    assert_eq!((&view.task, &view.context), (&promised, &"c".into()));
    assert_eq!(view.status.state, TaskState::InputRequired, "it ends as was asked for");

    task(session.send(&scope(), first).await.unwrap());
    assert_eq!(*actor.performed.lock().unwrap(), [1], "the same message again is no second one");
    let view = task(session.send(&scope(), message("m2", Some(promised))).await.unwrap());
    assert_eq!(view.history.len(), 2);
}

#[tokio::test]
async fn a_promise_is_kept_to_the_caller_alone_and_in_its_conversation() {
    let actor = Actor::of(vec![vec![end(Outcome::Completed)]]);
    let session = session(&stores(), &actor).await;
    let promised = session.reserve(&scope(), wanted()).await.unwrap();
    let not_found = Fault::TaskNotFound { task: promised.clone() };
    for other in [Scope::new("", "you"), Scope::new("blue", "me")] {
        let sent = session.send(&other, message("m1", Some(promised.clone()))).await;
        assert_eq!(sent.err(), Some(not_found.clone()));
        assert_eq!(session.get(&other, &get(&promised)).await.err(), Some(not_found.clone()));
    }
    let mut elsewhere = message("m1", Some(promised.clone()));
    elsewhere.message.context = Some("d".into());
    let mismatch = Fault::ContextMismatch { task: promised.clone(), context: "c".into() };
    assert_eq!(session.send(&scope(), elsewhere).await.err(), Some(mismatch));
    for unknown in ["nonsense", "0198a0b0-0000-7000-8000-000000000000", ""] {
        let sent = session.send(&scope(), message("m1", Some(unknown.into()))).await;
        assert_eq!(sent.err(), Some(Fault::TaskNotFound { task: unknown.into() }), "{unknown}");
    }
    assert!(actor.performed.lock().unwrap().is_empty());
}

#[tokio::test]
async fn of_two_first_messages_both_are_heard() {
    let actor = Actor::of(vec![vec![end(Outcome::Completed)], vec![end(Outcome::Completed)]]);
    let session = session(&stores(), &actor).await;
    let promised = session.reserve(&scope(), wanted()).await.unwrap();
    let caller = scope();
    let send = |id: &str| session.send(&caller, message(id, Some(promised.clone())));
    let (one, other) = (send("m1"), send("m2"));
    let (one, other) = tokio::join!(one, other);
    task(one.unwrap());
    task(other.unwrap());
    let view = session.get(&scope(), &get(&promised)).await.unwrap().view.clone();
    let mut heard: Vec<_> = view.history.iter().map(|message| message.id.to_string()).collect();
    heard.sort();
    assert_eq!(heard, ["m1", "m2"]);
}
