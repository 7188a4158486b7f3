//! Checks of concurrent appends.

use std::sync::Arc;

use attache_domain::Seq;
use tokio::task::JoinSet;

use super::Store;
use super::log::read;
use super::samples::{Sample, numbered, said};
use crate::{StoreError, StoreStatus};

pub async fn many_tasks_appended_at_once_each_keep_their_order(store: Arc<impl Store>) {
    let mut writers = JoinSet::new();
    for number in 0..40 {
        let store = store.clone();
        writers.spawn(async move {
            let mut sample = Sample::new(&format!("task {number}"));
            let mut events = Vec::new();
            for round in 0..10 {
                events.extend(sample.append(&*store, numbered(1 + round % 3)).await.expect("appends"));
                // An acknowledged append is visible immediately.
                let last = store.read(&sample.key, Seq(sample.head.0 - 1), 1).await.expect("reads");
                assert_eq!(last.last(), events.last());
            }
            (sample.key, events)
        });
    }
    for (key, events) in writers.join_all().await {
        assert_eq!(read(&*store, &key, 0).await, events);
    }
}

pub async fn of_appends_to_one_task_at_once_exactly_one_wins(store: Arc<impl Store>) {
    let mut sample = Sample::new("a");
    sample.put(&*store).await;
    for round in 0..20 {
        let winner = one_winner_of(&store, &sample, round).await;
        sample.head = sample.head.next();
        let last = read(&*store, &sample.key, sample.head.0 - 1).await;
        let facts: Vec<_> = last.iter().map(|event| event.fact.clone()).collect();
        assert_eq!(facts, [said(winner)]);
    }
}

pub async fn of_openings_of_one_task_at_once_exactly_one_wins(store: Arc<impl Store>) {
    for round in 0..20 {
        let sample = Sample::new(&format!("task {round}"));
        let winner = one_winner_of(&store, &sample, round).await;
        let facts: Vec<_> =
            read(&*store, &sample.key, 0).await.iter().map(|event| event.fact.clone()).collect();
        assert_eq!(facts, [said(winner)]);
    }
}

/// Starts eight appends at the same position; returns the text of the winner.
async fn one_winner_of(store: &Arc<impl Store>, sample: &Sample, round: usize) -> String {
    let mut writers = JoinSet::new();
    for number in 0..8 {
        let text = format!("writer {number} in round {round}");
        let append = sample.append_of([said(text.clone())]);
        let store = store.clone();
        writers.spawn(async move { (text, store.append(append).await) });
    }
    let (mut winners, mut conflicts) = (Vec::new(), 0);
    for (text, result) in writers.join_all().await {
        match result {
            Ok(()) => winners.push(text),
            Err(StoreError::Conflict { expected, head }) => {
                assert_eq!((expected, head), (sample.head, sample.head.next()));
                conflicts += 1;
            }
            Err(error) => panic!("neither won nor lost: {error}"),
        }
    }
    assert_eq!((winners.len(), conflicts), (1, 7));
    winners.remove(0)
}

pub async fn a_new_store_has_nothing_to_warn_of(store: Arc<impl Store>) {
    assert_eq!(store.status(), StoreStatus::default());
    Sample::new("a").put(&*store).await;
    assert_eq!(store.status(), StoreStatus::default());
}
