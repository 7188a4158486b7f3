//! One task, snapshot or record that cannot be read stops nothing else.

use std::sync::Arc;

use attache_domain::*;
use attache_session::{FinishedTaskRule, Reservation};
use attache_store::conformance::DamagedStore;
use attache_store::memory::MemoryStore;
use attache_store::{Record, RecordChange, Records, StoreStatus, Stores};

use crate::world::*;

fn get(task: &TaskId) -> GetTask {
    GetTask { task: task.clone(), history_length: None, at: None }
}

fn damaged() -> (Arc<DamagedStore<MemoryStore>>, Stores) {
    let store = Arc::new(DamagedStore::new(MemoryStore::default()));
    (store.clone(), Stores::of(store))
}

#[tokio::test(start_paused = true)]
async fn an_unreadable_task_is_shown_as_failed_and_stops_nothing_else() {
    let (store, stores) = damaged();
    let waiting = vec![say("a"), Act::Wait, end(TurnOutcome::Completed)];
    let session_before = session(&stores, &Actor::of(vec![waiting])).await;
    let mut tasks = Vec::new();
    for id in ["m1", "m2", "m3"] {
        tasks.push(task(session_before.send(&scope(), at_once(id)).await.unwrap()));
    }
    for opened in &tasks {
        read_until(&stores, opened, Seq(3)).await;
    }
    session_before.shutdown().await;
    // The first cannot be read at all, the second not to its end.
    store.damage_log(&tasks[0].key(), Seq::START);
    store.damage_log(&tasks[1].key(), Seq(2));

    let actor = Actor::of(vec![vec![say("a"), end(TurnOutcome::Completed)]]);
    let session = session(&stores, &actor).await;
    let now = session.counters().snapshot();
    assert_eq!((now.tasks_recovered, now.tasks_unreadable), (1, 2));
    for (opened, readable) in tasks.iter().zip([0, 2]) {
        let seen = session.get(&scope(), &get(&opened.task)).await.unwrap();
        assert_eq!(seen.view.status.state, TaskState::Failed);
        assert_eq!(seen.view.context, opened.context, "known from the listing, or from the log");
        assert_eq!(seen.view.history.is_empty(), readable == 0);
        let text = seen.view.status.message.as_ref().unwrap().text();
        assert!(text.contains("cannot be read"), "{text}");
        // Nothing can be done with it.
        let fault = session
            .cancel(&scope(), &CancelTask { task: opened.task.clone(), metadata: None })
            .await
            .err()
            .unwrap();
        assert!(matches!(fault, Fault::TaskNotCancelable { state: TaskState::Failed, .. }), "{fault:?}");
        let more = session.send(&scope(), message("more", Some(opened.task.clone()))).await;
        let fault = more.err().unwrap();
        assert!(matches!(fault, Fault::TaskFinished { state: TaskState::Failed, .. }), "{fault:?}");
        let subscribe =
            SubscribeTask { task: opened.task.clone(), after: None, gap_policy: GapPolicy::Refuse };
        let shown = session.subscribe(&scope(), &subscribe, FinishedTaskRule::Show).await.unwrap();
        assert!(shown.follower.is_none() && shown.view.status.state == TaskState::Failed);
    }
    let mut again = at_once("m1");
    again.options.resumes = true;
    let again = session.send(&scope(), again).await.err().unwrap();
    assert!(matches!(again, Fault::TaskFinished { .. }), "{again:?}");
    // Lists leave them out, and go on after them.
    for page_size in [1, 2, 50] {
        let (mut found, mut page_token) = (Vec::new(), String::new());
        loop {
            let list = ListTasks { page_size, page_token, ..ListTasks::default() };
            let page = session.list(&scope(), &list).await.unwrap();
            found.extend(page.tasks.iter().map(|view| view.task.clone()));
            page_token = page.next_page_token;
            if page_token.is_empty() {
                break;
            }
        }
        assert_eq!(found, [tasks[2].task.clone()], "{page_size} at a time");
    }
    let now = session.counters().snapshot();
    assert!(now.unreadable_reads > now.tasks_unreadable && now.tasks_unreadable == 2, "{now:?}");
}

/// Waits until the log has come so far.
async fn read_until(stores: &Stores, opened: &TaskView, seq: Seq) {
    while stores.log.read(&opened.key(), Seq(seq.0 - 1), 1).await.unwrap().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_unreadable_snapshot_costs_time_only() {
    let (store, stores) = damaged();
    let mut acts: Vec<_> = (0..5000).map(|number| say(&number.to_string())).collect();
    acts.push(end(TurnOutcome::Completed));
    let actor = Actor::of(vec![acts]);
    let first = session(&stores, &actor).await;
    let done = task(first.send(&scope(), message("m1", None)).await.unwrap());
    first.shutdown().await;
    assert!(stores.log.snapshot(&done.key(), Seq(u64::MAX)).await.unwrap().is_some());
    store.damage_snapshots();
    let second = session(&stores, &actor).await;
    let seen = second.get(&scope(), &get(&done.task)).await.unwrap();
    assert_eq!(seen.view.progress.head, done.progress.head);
    assert_eq!(seen.view.status.state, TaskState::Completed);
}

#[tokio::test(start_paused = true)]
async fn the_epoch_changes_with_the_past_or_when_it_cannot_be_read() {
    let (store, stores) = damaged();
    let actor = Actor::of(vec![vec![end(TurnOutcome::Completed)]]);
    let epoch = async || {
        let session = session(&stores, &actor).await;
        session.shutdown().await;
        session.epoch().clone()
    };
    let first = epoch().await;
    assert_eq!(epoch().await, first);
    store.set_status(StoreStatus { past_changed: true, ..StoreStatus::default() });
    let second = epoch().await;
    assert_ne!(second, first);
    store.set_status(StoreStatus::default());
    assert_eq!(epoch().await, second);
    store.damage_record("identity", "epoch");
    store.damage_record("identity", "task-ids");
    let third = epoch().await;
    assert!(third != second && third != first);
    assert_eq!(epoch().await, third);
}

#[tokio::test(start_paused = true)]
async fn a_damaged_reservation_stops_neither_the_start_nor_the_others() {
    for damage in ["checksum", "content", "index row", "list"] {
        let (store, stores) = damaged();
        let actor = Actor::of(vec![vec![say("a"), end(TurnOutcome::Completed)]]);
        let first = session(&stores, &actor).await;
        let wanted = || Reservation { rights: Rights::ALL, ..Reservation::default() };
        let hurt = first.reserve(&scope(), wanted()).await.unwrap();
        let sound = first.reserve(&scope(), wanted()).await.unwrap();
        first.shutdown().await;
        let records = store.list_prefix("reserved", "", None, 9).await.unwrap();
        let key = records.iter().find(|record| record.key.starts_with(hurt.as_str())).unwrap().key.clone();
        match damage {
            "checksum" => store.damage_record("reserved", &key),
            "content" => {
                let record = Record { key, value: b"{".to_vec() };
                store.change(vec![RecordChange::Put { space: "reserved", record }]).await.unwrap();
            }
            "index row" => store.damage_summary(&TaskKey { scope: scope(), task: hurt.clone() }),
            _ => store.damage_list("reserved"),
        }

        let second = session(&stores, &actor).await;
        let is_counted = second.counters().snapshot().unreadable_reads > 0;
        assert_eq!(is_counted, ["index row", "list"].contains(&damage), "{damage}");
        let opened = task(second.send(&scope(), message("m1", Some(sound.clone()))).await.unwrap());
        assert_eq!((opened.task.clone(), opened.status.state), (sound, TaskState::Completed), "{damage}");
        assert!(second.reserve(&scope(), wanted()).await.is_ok(), "{damage}");
        // Only the record itself says what was reserved.
        let kept = second.get(&scope(), &get(&hurt)).await;
        assert_eq!(kept.is_ok(), ["index row", "list"].contains(&damage), "{damage}");
    }
}
