//! Ids that are promised before there is a message.

use std::sync::Arc;

use async_trait::async_trait;
use attache_domain::*;
use attache_session::Reservation;
use attache_store::memory::MemoryStore;
use attache_store::{Record, RecordChange, Records, StoreError, Stores};
use serde_json::Value;

use crate::world::*;

fn stores() -> Stores {
    Stores::of(Arc::new(MemoryStore::default()))
}

fn wanted() -> Reservation {
    Reservation {
        context: Some("c".into()),
        requested: None,
        ending: TaskEnding::StaysOpen,
        rights: Rights::ALL,
    }
}

fn get(task: &TaskId) -> GetTask {
    GetTask { task: task.clone(), history_length: None, at: None }
}

#[tokio::test]
async fn the_first_message_opens_the_task_also_after_a_restart() {
    let stores = stores();
    let actor = Actor::of(vec![vec![end(TurnOutcome::Completed)], vec![end(TurnOutcome::Completed)]]);
    let promised = session(&stores, &actor).await.reserve(&scope(), wanted()).await.unwrap();

    let session = session(&stores, &actor).await;
    let seen = session.get(&scope(), &get(&promised)).await.unwrap();
    assert_eq!((seen.view.status.state, seen.view.history.len()), (TaskState::Submitted, 0));

    let mut first = message("m1", Some(promised.clone()));
    first.options.duplicate_rule = DuplicateRule::Id;
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
    let actor = Actor::of(vec![vec![end(TurnOutcome::Completed)]]);
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

/// The clock is the machine's, so the record is made older instead.
async fn age(stores: &Stores) {
    let [Record { key, value }] = &stores.records.list_prefix("reserved", "", None, 9).await.unwrap()[..]
    else {
        panic!("one is promised");
    };
    let mut promised: Value = serde_json::from_slice(value).unwrap();
    promised["at"] = "2020-01-01T00:00:00Z".into();
    let record = Record { key: key.clone(), value: promised.to_string().into_bytes() };
    stores.records.change(vec![RecordChange::Put { space: "reserved", record }]).await.unwrap();
}

#[tokio::test]
async fn a_reservation_that_is_not_used_is_forgotten() {
    let stores = stores();
    let session = session(&stores, &Actor::of(vec![])).await;
    let old = session.reserve(&scope(), wanted()).await.unwrap();
    age(&stores).await;
    let sent = session.send(&scope(), message("m1", Some(old.clone()))).await;
    assert_eq!(sent.err(), Some(Fault::TaskNotFound { task: old.clone() }));
    let new = session.reserve(&scope(), wanted()).await.unwrap();
    let left = stores.records.list_prefix("reserved", "", None, 9).await.unwrap();
    let names: Vec<_> = left.iter().map(|record| record.key.split(' ').next().unwrap()).collect();
    assert_eq!(names, [new.as_str()], "the old one is cleared away");
}

/// Lets others go on before it tells what it holds, or after it has looked.
struct Hesitant {
    inner: Arc<MemoryStore>,
    before: bool,
}

#[async_trait]
impl Records for Hesitant {
    async fn get(&self, space: &str, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        if self.before {
            tokio::task::yield_now().await;
        }
        let found = self.inner.get(space, key).await;
        tokio::task::yield_now().await;
        found
    }

    async fn get_or_put(&self, space: &str, key: &str, value: Vec<u8>) -> Result<Vec<u8>, StoreError> {
        self.inner.get_or_put(space, key, value).await
    }

    async fn change(&self, changes: Vec<RecordChange>) -> Result<(), StoreError> {
        self.inner.change(changes).await
    }

    async fn list_prefix(
        &self,
        space: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        self.inner.list_prefix(space, prefix, after, limit).await
    }
}

#[tokio::test]
async fn of_two_first_messages_both_are_heard() {
    for before in [true, false] {
        let inner = Arc::new(MemoryStore::default());
        let records = Arc::new(Hesitant { inner: inner.clone(), before });
        let stores = Stores { records, ..Stores::of(inner) };
        let actor = Actor::of(vec![vec![end(TurnOutcome::Completed)], vec![end(TurnOutcome::Completed)]]);
        let session = session(&stores, &actor).await;
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
}
