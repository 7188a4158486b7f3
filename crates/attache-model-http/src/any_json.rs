//! Generates JSON that resembles a provider's, for tests.

use proptest::prelude::*;
use serde_json::Value;

/// Objects with these keys, and texts of these words.
pub(crate) fn any_json(keys: &'static str, words: &'static str) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        one_of(words).prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 40, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((one_of(keys), inner), 0..5)
                .prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

fn one_of(words: &'static str) -> impl Strategy<Value = String> {
    let words: Vec<_> = words.split_whitespace().chain([""]).map(str::to_owned).collect();
    proptest::sample::select(words)
}
