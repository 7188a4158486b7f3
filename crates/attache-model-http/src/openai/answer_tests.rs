//! No server response causes a panic.

use std::sync::Arc;

use attache_domain::{Content, Exchange};
use attache_net::{HttpClient, HttpClientOptions, Secret};
use proptest::prelude::*;

use super::super::request::body;
use super::super::{OpenAiModel, OpenAiOptions};
use super::*;
use crate::answer_request::RequestVariation;
use crate::any_json::any_json;

const WORDS: &str = "stop length tool_calls content_filter a {} {\"p\":1} error";
const KEYS: &str = "choices delta message content reasoning reasoning_content refusal tool_calls index id type \
    function name arguments extra_content finish_reason usage prompt_tokens error object text";

fn shared() -> Arc<OpenAi> {
    let client = HttpClient::new(&HttpClientOptions::default());
    let options = OpenAiOptions::official("m", Secret::new("key"));
    OpenAiModel::new(options, client.expect("a client")).expect("options that fit").provider
}

#[test]
fn any_chunks_are_survived() {
    let shared = shared();
    let chunks = proptest::collection::vec(any_json(KEYS, WORDS), 0..6);
    let deltas = proptest::collection::vec(any_json(KEYS, WORDS), 0..6);
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(chunks in chunks, deltas in deltas, done: bool, after_results: bool)| {
        let mut assembler = OpenAiAssembler::new(&shared, &Prompt::default());
        let within = deltas.iter().map(|delta| json!({"choices": [{"delta": delta}]}));
        let encoded = chunks.iter().cloned().chain(within).map(|chunk| chunk.to_string());
        for data in encoded.chain(done.then(|| "[DONE]".to_owned())) {
            let _ = assembler.take(&SseEvent { data: Some(data), ..SseEvent::default() }, &mut |_| ());
        }
        let _ = (assembler.verdict(StreamEnd::Closed, after_results), assembler.usage(), assembler.extent());
        // Whatever it is, it can be said again, and its calls have their results.
        let exchanges = [Exchange::User(vec![Content::Text("q".into())]), Exchange::Model(assembler.into_parts(&StopReason::Done))];
        let prompt = Prompt { exchanges: Arc::new(exchanges.map(Arc::new).into()), ..Prompt::default() };
        let body: Value = serde_json::from_str(&body(&shared, &prompt, &RequestVariation::default()).unwrap()).unwrap();
        let messages = body["messages"].as_array().unwrap();
        let called: Vec<&Value> = messages.iter().filter_map(|message| message["tool_calls"].as_array()).flatten()
            .map(|call| &call["id"]).collect();
        let settled: Vec<&Value> = messages.iter().filter_map(|message| message.get("tool_call_id")).collect();
        prop_assert_eq!(called, settled);
    });
}
