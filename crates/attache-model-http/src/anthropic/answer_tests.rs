//! No server response causes a panic.

use std::sync::Arc;

use attache_domain::{Content, Exchange};
use attache_net::{HttpClient, HttpClientOptions, Secret};
use proptest::prelude::*;

use super::super::request::body;
use super::super::{AnthropicModel, AnthropicOptions};
use super::*;
use crate::answer_request::RequestVariation;
use crate::any_json::any_json;

const WORDS: &str = "message_start content_block_start content_block_delta content_block_stop message_delta \
    message_stop message ping error text thinking redacted_thinking tool_use text_delta thinking_delta \
    signature_delta input_json_delta end_turn max_tokens pause_turn refusal {} {\"p\":1";
const KEYS: &str = "type index content_block delta message usage input_tokens output_tokens stop_reason content \
    text thinking signature data id name input partial_json error stop_details";

fn shared() -> Arc<Anthropic> {
    let client = HttpClient::new(&HttpClientOptions::default());
    let options = AnthropicOptions::official("claude-opus-4-6", Secret::new("key"));
    AnthropicModel::new(options, client.expect("a client")).expect("options that fit").provider
}

#[test]
fn any_events_are_survived() {
    let shared = shared();
    let events = proptest::collection::vec(any_json(KEYS, WORDS), 0..8);
    let blocks = proptest::collection::vec(any_json(KEYS, WORDS), 0..4);
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(events in events, blocks in blocks, over: bool, after_results: bool)| {
        let mut assembler = AnthropicAssembler::new(&shared, &Prompt::default());
        let within = blocks.iter().map(|block| json!({"type": "content_block_start", "content_block": block}));
        let end = over.then(|| json!({"type": "message_stop"}));
        for event in within.chain(events).chain(end) {
            let event = SseEvent { data: Some(event.to_string()), ..SseEvent::default() };
            let _ = assembler.take(&event, &mut |_| ());
        }
        let _ = (assembler.verdict(StreamEnd::Closed, after_results), assembler.so_far(), assembler.extent());
        assembler.continue_answer();
        let _ = assembler.usage();
        // Whatever it is, it can be said again, and its calls have their results.
        let exchanges = [Exchange::User(vec![Content::Text("q".into())]), Exchange::Model(assembler.into_parts(&StopReason::Done))];
        let prompt = Prompt { exchanges: Arc::new(exchanges.map(Arc::new).into()), ..Prompt::default() };
        let body: Value = serde_json::from_str(&body(&shared, &prompt, &RequestVariation::default()).unwrap()).unwrap();
        let of = |kind: &str, key: &str| -> Vec<Value> {
            let messages = body["messages"].as_array().unwrap().iter();
            let blocks = messages.flat_map(|message| message["content"].as_array().unwrap());
            blocks.filter(|block| block["type"] == kind).map(|block| block[key].clone()).collect()
        };
        prop_assert_eq!(of("tool_use", "id"), of("tool_result", "tool_use_id"));
    });
}
