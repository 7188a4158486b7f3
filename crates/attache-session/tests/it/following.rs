//! Readers: early, late, slow, many.

use std::sync::Arc;

use attache_domain::*;
use attache_store::Stores;
use attache_store::memory::MemoryStore;

use crate::world::*;

/// Longer than the tail, so that late readers need the log, and long enough for snapshots.
const MANY: usize = 3000;

async fn long_task() -> (Arc<attache_session::SessionService>, TaskId) {
    let stores = Stores::of(Arc::new(MemoryStore::default()));
    let mut acts = vec![say("x"); MANY];
    acts.push(end(TurnOutcome::Completed));
    let actor = Actor::of(vec![acts]);
    let session = session(&stores, &actor).await;
    let done = task(session.send(&scope(), message("m1", None)).await.unwrap());
    assert_eq!(done.status.state, TaskState::Completed);
    (session, done.task.clone())
}

#[tokio::test]
async fn a_late_follower_sees_every_event_once() {
    let (session, task) = long_task().await;
    let head = MANY as u64 + 4;
    for after in [1, 2, 255, 256, 257, 1500, 2900, head - 1] {
        let (view, seen) = read_from(&session, &task, Some(Seq(after))).await;
        assert_eq!(view.progress.head, Seq(after), "the task as of the cursor");
        assert_eq!(seen, (after + 1..=head).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn the_task_as_of_a_cursor_is_the_fold_of_what_came_before() {
    let (session, task) = long_task().await;
    for after in [1, 2, 3, 400, 2999] {
        let (view, _) = read_from(&session, &task, Some(Seq(after))).await;
        let text = view.artifacts.first().and_then(|answer| answer.parts[0].as_text());
        assert_eq!(text.map_or(0, str::len) as u64, after.saturating_sub(2));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_readers_of_one_task_each_see_every_event_once() {
    let stores = Stores::of(Arc::new(MemoryStore::default()));
    let mut acts = vec![Act::Wait];
    acts.extend(vec![say("x"); 500]);
    acts.push(end(TurnOutcome::Completed));
    let actor = Actor::of(vec![acts]);
    let session = session(&stores, &actor).await;
    let opened = task(session.send(&scope(), at_once("m1")).await.unwrap());
    let mut readers = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let (session, task) = (session.clone(), opened.task.clone());
        readers.spawn(async move { read_from(&session, &task, Some(Seq(1))).await.1 });
    }
    actor.go.add_permits(1);
    for seen in readers.join_all().await {
        assert_eq!(seen, (2..=504).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn a_foreign_caller_sees_nothing() {
    let (session, task) = long_task().await;
    let get = GetTask { task: task.clone(), history_length: None, at: None };
    for stranger in [Scope::new("", "you"), Scope::new("other", "me")] {
        assert_eq!(
            session.get(&stranger, &get).await.unwrap_err(),
            Fault::TaskNotFound { task: task.clone() }
        );
        assert_eq!(session.list(&stranger, &ListTasks::default()).await.unwrap().total_size, 0);
        let stray = session.send(&stranger, message("m2", Some(task.clone()))).await;
        assert!(matches!(stray, Err(Fault::TaskNotFound { .. })));
    }
}
