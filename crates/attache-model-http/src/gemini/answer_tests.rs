//! Whatever a server sends is survived.

use std::sync::Arc;

use attache_net::{Client, ClientOptions, Proxy, Secret};
use proptest::prelude::*;

use super::super::{GeminiModel, GeminiOptions};
use super::*;

fn shared() -> Arc<Shared> {
    let client = Client::new(&ClientOptions { proxy: Proxy::Never, ..ClientOptions::default() });
    let options = GeminiOptions::developer("m", Secret::new("key"));
    GeminiModel::new(options, client.expect("a client")).expect("options that fit").shared
}

const WORDS: &str = "STOP CONTINUATION $.a $.a[0] $.a[1].b a NULL_VALUE SAFETY MAX_TOKENS";
const KEYS: &str = "candidates content parts text thought thoughtSignature functionCall name id args partialArgs \
    willContinue jsonPath stringValue numberValue nullValue finishReason continuationToken promptFeedback \
    blockReason usageMetadata promptTokenCount error";

fn one_of(words: &'static str) -> impl Strategy<Value = String> {
    let words: Vec<_> = words.split_whitespace().chain([""]).map(str::to_owned).collect();
    proptest::sample::select(words)
}

/// JSON that looks like an answer often enough to get anywhere.
fn json_like() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        one_of(WORDS).prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 40, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((one_of(KEYS), inner), 0..5)
                .prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

#[test]
fn any_chunks_are_survived() {
    let shared = shared();
    let chunks = proptest::collection::vec(json_like(), 0..6);
    let parts = proptest::collection::vec(json_like(), 0..6);
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(chunks in chunks, parts in parts, closed: bool, after_results: bool)| {
        let mut assembly = Assembly::new(&shared, &Prompt::default());
        let within = json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]});
        for chunk in chunks.iter().chain([&within]) {
            for chunk in Chunk::all(&chunk.to_string()).unwrap_or_default() {
                assembly.take(chunk, &mut |_| ());
            }
        }
        let end = if closed { StreamEnd::Closed } else { StreamEnd::Broken };
        let _ = assembly.verdict(end, after_results);
        assembly.carry_on();
        let _ = (assembly.usage(), assembly.extent());
        assembly.into_said(&Stop::Done);
    });
}
