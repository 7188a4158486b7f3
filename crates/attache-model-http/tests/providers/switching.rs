//! A conversation that moves between providers: each gets all of it but the opaque data of other providers.

use std::sync::Arc;

use attache_domain::Exchange;
use attache_model::{AnswerEvent, LanguageModel, Prompt};
use attache_model_http::anthropic::AnthropicModel;
use attache_model_http::gemini::GeminiModel;
use attache_model_http::openai::OpenAiModel;
use attache_testkit::model_server::{
    ModelServer, PlannedResponse, ReceivedRequest, anthropic, gemini, openai,
};
use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::world::{answered, client, user};

/// What each of them wants back, and the others must not see.
const SECRETS: [&str; 3] = ["gemini-signature", "openai-signature", "anthropic-signature"];

/// Every provider thinks, says which it is, and calls a tool with something opaque on it.
fn answer(received: &ReceivedRequest) -> PlannedResponse {
    if received.target.ends_with("/chat/completions") {
        let piece = json!({"index": 0, "id": "call_o", "type": "function", "extra_content": SECRETS[1],
            "function": {"name": "look", "arguments": "{\"at\": \"openai\"}"}});
        let chunk = || openai::chunk();
        return openai::answer([
            chunk().reasoning("Hm."),
            chunk().text("I am OpenAI."),
            chunk().call_piece(piece).finish("tool_calls"),
        ]);
    }
    if received.target.ends_with("/v1/messages") {
        return anthropic::message()
            .thinking(["Hm."], SECRETS[2])
            .text(["I am Anthropic."])
            .call("toolu_a", "look", ["{\"at\": \"anthropic\"}"])
            .stop("tool_use");
    }
    let called = gemini::chunk().call("look", json!({"at": "gemini"})).signed(SECRETS[0]).finish("STOP");
    gemini::answer([gemini::chunk().thought("Hm."), gemini::chunk().text("I am Gemini."), called])
}

struct Providers {
    server: ModelServer,
    models: [Arc<dyn LanguageModel>; 3],
}

fn providers() -> Providers {
    let server = ModelServer::with_handler(answer);
    let gemini = crate::gemini::world::options(&server, "gemini-3-flash-preview");
    let openai = crate::openai::world::options(&server, "gpt-5.1");
    let anthropic = crate::anthropic::world::options(&server, "claude-opus-4-6");
    let models: [Arc<dyn LanguageModel>; 3] = [
        Arc::new(GeminiModel::new(gemini, client()).unwrap()),
        Arc::new(OpenAiModel::new(openai, client()).unwrap()),
        Arc::new(AnthropicModel::new(anthropic, client()).unwrap()),
    ];
    Providers { server, models }
}

async fn ask(model: &dyn LanguageModel, exchanges: &[Exchange]) -> Vec<Exchange> {
    let exchanges = Arc::new(exchanges.iter().cloned().map(Arc::new).collect());
    let told: Vec<_> = model.stream(Prompt { exchanges, ..Prompt::default() }).collect().await;
    match told.last() {
        Some(Ok(AnswerEvent::End { parts, .. })) => answered(parts),
        other => panic!("{other:?}"),
    }
}

/// Every text and input of a request, wherever it is.
fn contains(body: &Value, text: &str) -> bool {
    body.to_string().contains(text)
}

#[tokio::test]
async fn everyone_gets_its_own_opaque_data_and_no_other() {
    // Every order, each provider twice, so that everyone is asked after every other.
    for order in [[0, 1, 2, 0, 1, 2], [2, 1, 0, 2, 1, 0], [0, 2, 1, 1, 0, 2]] {
        let Providers { server, models } = providers();
        let mut exchanges = vec![user("Hello")];
        let mut asked = [false; 3];
        for (turn, index) in order.into_iter().enumerate() {
            exchanges.extend(ask(&*models[index], &exchanges).await);
            let body = server.received()[turn].json();
            for (other, secret) in SECRETS.iter().enumerate() {
                let expected = other == index && asked[index];
                assert_eq!(contains(&body, secret), expected, "{index} about {secret} in {body:#}");
            }
            for (other, name) in ["Gemini", "OpenAI", "Anthropic"].iter().enumerate() {
                assert_eq!(contains(&body, &format!("I am {name}.")), asked[other], "{body:#}");
            }
            asked[index] = true;
        }
    }
}

#[tokio::test]
async fn every_call_has_its_result_in_everyones_words() {
    let Providers { server, models } = providers();
    let mut exchanges = vec![user("Hello")];
    for index in [0, 1, 2, 0, 1, 2] {
        exchanges.extend(ask(&*models[index], &exchanges).await);
    }
    let received = server.received();
    let messages = received[4].json()["messages"].as_array().unwrap().clone();
    let called: Vec<_> =
        messages.iter().filter_map(|message| message["tool_calls"][0]["id"].as_str()).collect();
    let settled: Vec<_> = messages.iter().filter_map(|message| message["tool_call_id"].as_str()).collect();
    assert_eq!((called.len(), &called), (4, &settled));
    let messages = received[5].json()["messages"].as_array().unwrap().clone();
    let of = |kind: &str, key: &str| -> Vec<String> {
        let blocks = messages.iter().flat_map(|message| message["content"].as_array().unwrap());
        let fitting = blocks.filter(|block| block["type"] == kind);
        fitting.map(|block| block[key].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(of("tool_use", "id").len(), 5);
    assert_eq!(of("tool_use", "id"), of("tool_result", "tool_use_id"));
}
