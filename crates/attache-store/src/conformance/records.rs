//! Checks of the record store.

use std::sync::Arc;

use tokio::task::JoinSet;

use super::Store;

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
