//! The held-back store passes for a store, and holds back.

use std::sync::Arc;

use attache_domain::{Fact, Seq};
use attache_store::EventLog;
use attache_store::conformance::{GatedStore, Sample};
use attache_store::memory::MemoryStore;
use tokio::task::JoinSet;

mod as_any_store {
    use super::{Arc, GatedStore, MemoryStore};

    attache_store::conformance_tests!((Arc::new(GatedStore::new(MemoryStore::default())), ()));
}

#[tokio::test]
async fn nothing_is_visible_until_the_gate_opens() {
    let store = Arc::new(GatedStore::new(MemoryStore::default()));
    store.hold();
    let sample = Sample::new("a");
    let mut writers = JoinSet::new();
    let (writer, append) = (store.clone(), sample.append_of([Fact::CancelRequested]));
    writers.spawn(async move { writer.append(append).await });
    store.until_waiting(1).await;
    assert_eq!(store.read(&sample.key, Seq::START, 9).await.unwrap(), []);
    store.release();
    writers.join_next().await.unwrap().unwrap().unwrap();
    assert_eq!(store.read(&sample.key, Seq::START, 9).await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_append_given_up_at_the_gate_never_happens() {
    let store = Arc::new(GatedStore::new(MemoryStore::default()));
    store.hold();
    let sample = Sample::new("a");
    let mut writers = JoinSet::new();
    let (writer, append) = (store.clone(), sample.append_of([Fact::CancelRequested]));
    writers.spawn(async move { writer.append(append).await });
    store.until_waiting(1).await;
    writers.shutdown().await;
    store.release();
    assert_eq!(store.inner().read(&sample.key, Seq::START, 9).await.unwrap(), []);
}
