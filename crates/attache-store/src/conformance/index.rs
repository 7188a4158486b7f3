//! Checks of the index across all callers.

use std::sync::Arc;

use attache_domain::{Scope, TaskState};

use super::Store;
use super::samples::Sample;

pub async fn the_listing_row_of_one_task_is_found(store: Arc<impl Store>) {
    let mut sample = Sample::new("a").in_state(TaskState::Working).unfinished(true).hidden();
    assert_eq!(store.summary(&sample.key).await.expect("looks"), None);
    sample.put(&*store).await;
    assert_eq!(store.summary(&sample.key).await.expect("looks"), Some(sample.summary.clone()));
    sample.summary.state = TaskState::Failed;
    sample.put(&*store).await;
    assert_eq!(store.summary(&sample.key).await.expect("looks"), Some(sample.summary.clone()));
    let of_another = Sample::new("a").of(Scope::new("tenant", "other")).key;
    assert_eq!(store.summary(&of_another).await.expect("looks"), None);
}

pub async fn unfinished_tasks_of_every_caller_are_found_oldest_first(store: Arc<impl Store>) {
    assert_eq!(store.unfinished().await.expect("lists"), []);
    let other = Scope::new("tenant", "other");
    let samples = [
        Sample::new("c").with_status_at(3).unfinished(true),
        Sample::new("done").with_status_at(0),
        Sample::new("a").with_status_at(1).unfinished(true).of(other),
        Sample::new("b").with_status_at(2).unfinished(true).hidden(),
    ];
    for sample in &samples {
        sample.clone().put(&*store).await;
    }
    let expected = [samples[2].key.clone(), samples[3].key.clone(), samples[0].key.clone()];
    assert_eq!(store.unfinished().await.expect("lists"), expected);
}

pub async fn a_task_that_is_taken_up_again_is_unfinished_again(store: Arc<impl Store>) {
    let mut sample = Sample::new("a").in_state(TaskState::Working);
    for unfinished in [true, true, false, false, true, false] {
        sample.summary.unfinished = unfinished;
        sample.put(&*store).await;
        let expected = if unfinished { vec![sample.key.clone()] } else { Vec::new() };
        assert_eq!(store.unfinished().await.expect("lists"), expected);
    }
}

pub async fn the_count_covers_all_callers_and_leaves_out_hidden_tasks(store: Arc<impl Store>) {
    assert_eq!(store.counts().await.expect("counts").total, 0);
    let mut first = Sample::new("a");
    first.put(&*store).await;
    Sample::new("a").of(Scope::new("tenant", "other")).put(&*store).await;
    Sample::new("b").hidden().put(&*store).await;
    Sample::new("c").in_state(TaskState::Working).unfinished(true).put(&*store).await;
    assert_eq!(store.counts().await.expect("counts").total, 3);
    // More events of the same task do not make another task.
    first.summary.state = TaskState::Failed;
    first.put(&*store).await;
    assert_eq!(store.counts().await.expect("counts").total, 3);
}
