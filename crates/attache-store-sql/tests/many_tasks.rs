//! What only shows with many tasks: counts that are cut short.

use std::time::Duration;

use attache_domain::{Seq, TaskState, Timestamp};
use attache_store::conformance::Sample;
use attache_store::{EventLog, ListQuery, TaskIndex};
use attache_store_sql::{SqliteOptions, SqliteStore, Synchronous};

/// One second apart; every third one failed. Every hundredth is in one context.
async fn filled(store: &SqliteStore, count: i64) {
    for number in 0..count {
        let state = if number % 3 == 0 { TaskState::Failed } else { TaskState::Completed };
        let context = if number % 100 == 0 { "shared" } else { "other" };
        let sample = Sample::new(&format!("{number:05}")).in_state(state).in_context(context);
        sample.with_status_at(number).put(store).await;
    }
}

fn query(since: Option<Timestamp>) -> ListQuery {
    let scope = Sample::new("any").key.scope;
    ListQuery { scope, context: None, state: None, since, after: None, limit: 10 }
}

#[tokio::test]
async fn totals_since_any_time_are_exact() {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions { synchronous: Synchronous::Off, ..SqliteOptions::default() };
    let store = SqliteStore::open(&folder.path().join("tasks.db"), options).unwrap();
    filled(&store, 4_000).await;
    let begin = Sample::new("any").summary.status_at;
    for seconds in [0, 1, 700, 1_600, 1_999, 2_000, 2_600, 3_300, 3_999, 4_000] {
        let since = Some(begin + Duration::from_secs(seconds));
        let every = store.list(&query(since)).await.unwrap().total;
        assert_eq!(every, 4_000 - seconds, "since {seconds}");
        let failed = ListQuery { state: Some(TaskState::Failed), ..query(since) };
        let expected = (seconds..4_000).filter(|number| number % 3 == 0).count();
        assert_eq!(store.list(&failed).await.unwrap().total, expected as u64, "since {seconds}");
    }
}

#[tokio::test]
async fn tasks_are_found_by_id_and_context() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let options = SqliteOptions { synchronous: Synchronous::Off, ..SqliteOptions::default() };
    let store = SqliteStore::open(&path, options).unwrap();
    filled(&store, 1_000).await;
    let shared = ListQuery { context: Some("shared".into()), ..query(None) };
    let check = async |store: &SqliteStore| {
        let listed = store.list(&shared).await.unwrap();
        assert_eq!((listed.total, listed.more), (10, false));
        assert_eq!(listed.tasks[0].task, "00900".into());
        for number in (0..1_000).step_by(7) {
            let key = Sample::new(&format!("{number:05}")).key;
            assert_eq!(store.read(&key, Seq::START, 9).await.unwrap().len(), 1, "task {number}");
        }
    };
    check(&store).await;
    drop(store);
    check(&SqliteStore::open(&path, options).unwrap()).await;
}
