//! The stream of one prompt, for a client that sends the message again: also after other prompts and after a restart.

use std::sync::Arc;

use attache_domain::*;
use attache_session::SessionService;
use attache_store::Stores;
use attache_store::memory::MemoryStore;

use crate::world::*;

fn stores() -> Stores {
    Stores::of(Arc::new(MemoryStore::default()))
}

fn prompt(id: &str, task: &TaskId) -> SendMessage {
    let mut send = message(id, Some(task.clone()));
    send.options.ending = Some(TaskEnding::Reopens);
    send.options.duplicate_rule = DuplicateRule::Id;
    send
}

/// The events of the prompt after `after`, and those that follow them.
async fn events(session: &SessionService, task: &TaskId, id: &str, after: Option<u64>) -> Vec<u64> {
    let after = after.map(|seq| Cursor { epoch: None, seq: Seq(seq) });
    let stream = session.stream_prompt(&scope(), prompt(id, task), after.as_ref()).await.unwrap();
    let mut seen = Vec::new();
    let Some(mut follower) = stream.subscription.follower else { return seen };
    let mut found = Vec::new();
    follower.next(64, &mut found).await.unwrap();
    while !found.is_empty() {
        seen.extend(found.drain(..).map(|entry| entry.event.seq.0));
        follower.ready(64, &mut found);
    }
    seen
}

fn turns(count: usize) -> Arc<Actor> {
    Actor::of(vec![vec![say("a"), say("b"), end(TurnOutcome::Completed)]; count])
}

#[tokio::test(start_paused = true)]
async fn a_prompt_resumes_where_its_client_was_also_after_a_restart() {
    let (stores, actor) = (stores(), turns(3));
    let first = session(&stores, &actor).await;
    let reserved = attache_session::Reservation {
        rights: Rights::ALL,
        ending: TaskEnding::Reopens,
        ..Default::default()
    };
    let task_id = first.reserve(&scope(), reserved).await.unwrap();
    let mut heads = vec![0];
    for id in ["m1", "m2", "m3"] {
        heads.push(task(first.send(&scope(), prompt(id, &task_id)).await.unwrap()).progress.head.0);
    }
    let restarted = session(&stores, &actor).await;
    for session in [first, restarted] {
        for (turn, id) in ["m1", "m2", "m3"].into_iter().enumerate() {
            let (before, end, last) = (heads[turn], heads[turn + 1], heads[3]);
            for after in before + 1..end {
                let seen = events(&session, &task_id, id, Some(after)).await;
                assert_eq!(seen, (after + 1..=last).collect::<Vec<_>>(), "{id} after {after}");
            }
            for after in end..=last {
                assert!(events(&session, &task_id, id, Some(after)).await.is_empty(), "{id} after {after}");
            }
            // The event that opens a task is shown beside the follower.
            let begin = (before + 1).max(2);
            for after in (0..=before).map(Some).chain([None, Some(last + 1)]) {
                let seen = events(&session, &task_id, id, after).await;
                assert_eq!(seen, (begin..=last).collect::<Vec<_>>(), "{id} after {after:?}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_queued_prompt_that_is_sent_again_begins_where_it_was_queued() {
    let (stores, actor) = (
        stores(),
        Actor::of(vec![
            vec![say("a"), Act::Wait, end(TurnOutcome::Completed)],
            vec![say("b"), end(TurnOutcome::Completed)],
        ]),
    );
    let session = session(&stores, &actor).await;
    let mut opening = at_once("m1");
    opening.options.ending = Some(TaskEnding::Reopens);
    let task = task(session.send(&scope(), opening).await.unwrap()).task.clone();
    let mut second = prompt("m2", &task);
    second.configuration.return_immediately = true;
    session.send(&scope(), second).await.unwrap();
    let queued = session.stream_prompt(&scope(), prompt("m2", &task), None).await.unwrap();
    assert_eq!(queued.turn, 2);
    let view = &queued.subscription.view;
    assert_eq!((view.progress.turn.number, view.progress.queue.len()), (1, 1), "it waits");
    let mut follower = queued.subscription.follower.unwrap();
    actor.go.add_permits(1);
    let mut seen = Vec::new();
    while !matches!(seen.last(), Some(Fact::TurnEnded { .. })) {
        let mut found = Vec::new();
        follower.next(1, &mut found).await.unwrap();
        seen.extend(found.into_iter().map(|entry| entry.event.fact.clone()));
    }
    assert!(
        matches!(&seen[0], Fact::PromptQueued { message, .. } if message.id.as_str() == "m2"),
        "{seen:#?}"
    );
    assert!(seen.iter().any(|fact| matches!(fact, Fact::PromptTaken { .. })), "{seen:#?}");
}
