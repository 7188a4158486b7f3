//! No server response causes a panic.

use std::sync::Arc;

use attache_net::{HttpClient, HttpClientOptions, Secret};
use proptest::prelude::*;

use super::super::{GeminiModel, GeminiOptions};
use super::*;
use crate::any_json::any_json;

fn shared() -> Arc<Gemini> {
    let client = HttpClient::new(&HttpClientOptions::default());
    let options = GeminiOptions::developer("m", Secret::new("key"));
    GeminiModel::new(options, client.expect("a client")).expect("options that fit").provider
}

const WORDS: &str = "STOP CONTINUATION $.a $.a[0] $.a[1].b a NULL_VALUE SAFETY MAX_TOKENS";
const KEYS: &str = "candidates content parts text thought thoughtSignature functionCall name id args partialArgs \
    willContinue jsonPath stringValue numberValue nullValue finishReason continuationToken promptFeedback \
    blockReason usageMetadata promptTokenCount error";

#[test]
fn any_chunks_are_survived() {
    let shared = shared();
    let chunks = proptest::collection::vec(any_json(KEYS, WORDS), 0..6);
    let parts = proptest::collection::vec(any_json(KEYS, WORDS), 0..6);
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(chunks in chunks, parts in parts, closed: bool, after_results: bool)| {
        let mut assembler = GeminiAssembler::new(&shared, &Prompt::default());
        let within = json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]});
        for chunk in chunks.iter().chain([&within]) {
            let event = SseEvent { data: Some(chunk.to_string()), ..SseEvent::default() };
            let _ = assembler.take(&event, &mut |_| ());
        }
        let end = if closed { StreamEnd::Closed } else { StreamEnd::Broken };
        let _ = assembler.verdict(end, after_results);
        assembler.continue_answer();
        let _ = (assembler.usage(), assembler.extent());
        assembler.into_parts(&StopReason::Done);
    });
}
