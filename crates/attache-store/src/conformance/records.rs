//! Checks of the record store.

use std::sync::Arc;

use tokio::task::JoinSet;

use super::Store;
use crate::{Record, RecordChange};

pub async fn a_missing_record_is_none(store: Arc<impl Store>) {
    assert_eq!(store.get("space", "key").await.expect("looks"), None);
}

pub async fn the_first_value_of_a_record_wins(store: Arc<impl Store>) {
    let put = async |value: &str| store.get_or_put("space", "key", value.into()).await.expect("puts");
    assert_eq!(put("first").await, b"first");
    assert_eq!(put("second").await, b"first");
    assert_eq!(store.get("space", "key").await.expect("looks"), Some(b"first".to_vec()));
}

pub async fn records_of_other_spaces_and_keys_are_apart(store: Arc<impl Store>) {
    let places = [("a", "b"), ("b", "a"), ("ab", ""), ("", "ab"), ("a", "B")];
    for (space, key) in places {
        let value = format!("{space}/{key}").into_bytes();
        assert_eq!(store.get_or_put(space, key, value.clone()).await.expect("puts"), value);
    }
    for (space, key) in places {
        let value = store.get(space, key).await.expect("looks");
        assert_eq!(value, Some(format!("{space}/{key}").into_bytes()));
    }
}

pub async fn any_bytes_and_names_make_a_record(store: Arc<impl Store>) {
    let large: Vec<u8> = (0..100_000_u32).map(|number| number as u8).collect();
    for (key, value) in [("empty", Vec::new()), ("\0ключ", vec![0, 255, 0]), ("large", large)] {
        store.get_or_put("space\0", key, value.clone()).await.expect("puts");
        assert_eq!(store.get("space\0", key).await.expect("looks"), Some(value));
    }
}

pub async fn of_many_values_put_at_once_all_callers_get_one(store: Arc<impl Store>) {
    let mut callers = JoinSet::new();
    for number in 0..16_u8 {
        let store = store.clone();
        callers.spawn(async move { store.get_or_put("space", "key", vec![number]).await.expect("puts") });
    }
    let kept = store.get_or_put("space", "key", vec![99]).await.expect("puts");
    for value in callers.join_all().await {
        assert_eq!(value, kept);
    }
}

fn put(key: &str, value: &str) -> RecordChange {
    RecordChange::Put { space: "space", record: Record { key: key.into(), value: value.into() } }
}

fn delete(key: &str) -> RecordChange {
    RecordChange::Delete { space: "space", key: key.into() }
}

pub async fn a_record_is_replaced_and_deleted(store: Arc<impl Store>) {
    let look = async |key: &str| store.get("space", key).await.expect("looks");
    store.get_or_put("space", "key", b"first".to_vec()).await.expect("puts");
    store.change(vec![put("key", "second"), put("other", "kept")]).await.expect("changes");
    assert_eq!(look("key").await, Some(b"second".to_vec()));
    store.change(vec![delete("key"), delete("never there")]).await.expect("changes");
    assert_eq!(look("key").await, None);
    assert_eq!(look("other").await, Some(b"kept".to_vec()));
    store.change(vec![put("key", "a"), delete("key"), put("key", "b")]).await.expect("changes");
    assert_eq!(look("key").await, Some(b"b".to_vec()), "changes are made in their order");
}

pub async fn records_are_listed_by_prefix_in_the_order_of_their_keys(store: Arc<impl Store>) {
    let keys = ["b/2", "a", "b/10", "b", "b/", "c/1", "b0", "b/\u{e9}"];
    store.change(keys.iter().map(|key| put(key, key)).collect()).await.expect("changes");
    let elsewhere = Record { key: "b/3".into(), value: Vec::new() };
    store.change(vec![RecordChange::Put { space: "else", record: elsewhere }]).await.expect("changes");
    let listed = store.list_prefix("space", "b/", None, 100).await.expect("lists");
    let found: Vec<&str> = listed.iter().map(|record| record.key.as_str()).collect();
    assert_eq!(found, ["b/", "b/10", "b/2", "b/\u{e9}"]);
    assert!(listed.iter().all(|record| record.value == record.key.as_bytes()));
    assert_eq!(store.list_prefix("space", "", None, 100).await.expect("lists").len(), keys.len());
    assert!(store.list_prefix("space", "d", None, 100).await.expect("lists").is_empty());
}

pub async fn records_are_listed_page_by_page(store: Arc<impl Store>) {
    let keys: Vec<String> = (0..25).map(|number| format!("k{number:02}")).collect();
    store.change(keys.iter().map(|key| put(key, "")).collect()).await.expect("changes");
    let (mut found, mut after) = (Vec::new(), None::<String>);
    loop {
        let page = store.list_prefix("space", "k", after.as_deref(), 10).await.expect("lists");
        after = page.last().map(|record| record.key.clone());
        found.extend(page.iter().map(|record| record.key.clone()));
        if page.len() < 10 {
            break;
        }
    }
    assert_eq!(found, keys);
    let before_all = store.list_prefix("space", "k", Some("a"), 1).await.expect("lists");
    assert_eq!(before_all.first().map(|record| record.key.as_str()), Some("k00"));
    assert!(store.list_prefix("space", "k", Some("l"), 1).await.expect("lists").is_empty());
}
