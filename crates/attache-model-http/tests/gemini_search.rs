//! A search by a Gemini model, over real HTTP against a server that plays what is planned.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::time::Duration;

use attache_model::LanguageError;
use attache_model_http::gemini::{
    Backend, GeminiCredential, GeminiOptions, GeminiSearch, SearchAnswer, SearchSource, SearchSupport,
};
use attache_model_http::retry::{Jitter, RetryOptions};
use attache_net::{BaseUrl, HttpClient, HttpClientOptions, Secret};
use attache_testkit::model_server::{ModelServer, PlannedResponse, gemini};
use serde_json::{Value, json};

const KEY: &str = "s3cret-key";

fn search(server: &ModelServer) -> GeminiSearch {
    search_by("house-model", server)
}

fn search_by(model: &str, server: &ModelServer) -> GeminiSearch {
    let backend = Backend::Developer { base_url: Some(BaseUrl::parse(&server.url()).unwrap()) };
    let first_pause = Duration::from_millis(1);
    let retry = RetryOptions { jitter: Jitter::none(), first_delay: first_pause, ..RetryOptions::default() };
    let options = GeminiOptions {
        retry,
        ..GeminiOptions::new(model, GeminiCredential::ApiKey(Secret::new(KEY)), backend)
    };
    let client = HttpClientOptions::default();
    GeminiSearch::new(options, HttpClient::new(&client).unwrap()).unwrap()
}

fn reply(value: Value) -> PlannedResponse {
    PlannedResponse::text(200, "application/json", &value.to_string())
}

fn said(text: &str) -> Value {
    json!({ "candidates": [{ "content": { "parts": [{ "text": text }] }, "finishReason": "STOP" }] })
}

async fn searched(
    answers: impl IntoIterator<Item = PlannedResponse>,
) -> (Result<SearchAnswer, LanguageError>, ModelServer) {
    let server = ModelServer::with_responses(answers);
    (search(&server).search("why?").await, server)
}

#[tokio::test]
async fn a_search_is_a_request_of_its_own() {
    let (found, server) = searched([reply(said("Because."))]).await;
    assert_eq!(found.unwrap(), SearchAnswer { text: "Because.".into(), ..SearchAnswer::default() });
    let received = &server.received()[0];
    assert_eq!(received.target, "/v1beta/models/house-model:generateContent");
    assert_eq!(received.header("x-goog-api-key"), Some(KEY));
    let expected = json!({ "contents": [{ "role": "user", "parts": [{ "text": "why?" }] }], "tools": [{ "googleSearch": {} }] });
    assert_eq!(received.json(), expected);
}

#[tokio::test]
async fn sources_stand_behind_places_of_the_whole_text() {
    let value = json!({ "candidates": [{
        "content": { "parts": [{ "text": "Hm.", "thought": true }, { "text": "Grüße. " }, { "text": "Ende." }] },
        "finishReason": "STOP",
        "groundingMetadata": {
            "groundingChunks": [{ "web": { "uri": "https://a.test", "title": "A" } }, {}],
            "groundingSupports": [
                { "segment": { "partIndex": 1, "startIndex": 0, "endIndex": 8 }, "groundingChunkIndices": [0] },
                { "segment": { "partIndex": 2, "endIndex": 5 }, "groundingChunkIndices": [0, 1] },
                { "segment": { "partIndex": 7, "endIndex": 5 }, "groundingChunkIndices": [0] },
                { "segment": { "endIndex": 999 } },
            ],
            "webSearchQueries": ["why"],
        },
    }] });
    let (found, _) = searched([reply(value)]).await;
    let source = |title: &str, url: &str| SearchSource { title: title.into(), url: url.into() };
    let support = |end, sources: &[usize]| SearchSupport { end, sources: sources.to_vec() };
    let expected = SearchAnswer {
        text: "Grüße. Ende.".into(),
        sources: vec![source("A", "https://a.test"), source("", "")],
        supports: vec![support(8, &[0]), support(14, &[0, 1]), support(14, &[])],
    };
    assert_eq!(found.unwrap(), expected);
}

#[tokio::test]
async fn a_busy_moment_passes() {
    let busy = || gemini::error(503, "UNAVAILABLE", "busy", json!([]));
    let (found, server) = searched([busy(), reply(said("Because."))]).await;
    assert_eq!((found.unwrap().text.as_str(), server.received().len()), ("Because.", 2));
    let (found, server) = searched([busy(), busy(), busy(), busy()]).await;
    assert!(matches!(found, Err(LanguageError::Unavailable { .. })), "{found:?}");
    assert_eq!(server.received().len(), 3);
}

#[tokio::test]
async fn what_went_wrong_is_told_without_secrets() {
    let refused = gemini::error(403, "PERMISSION_DENIED", &format!("not with {KEY}"), json!([]));
    let (found, _) = searched([refused]).await;
    let error = found.unwrap_err();
    assert!(matches!(error, LanguageError::Credential { .. }), "{error:?}");
    assert!(!format!("{error:?}").contains(KEY), "{error:?}");
    for (answer, part) in [
        (json!({ "promptFeedback": { "blockReason": "SAFETY" } }), "SAFETY"),
        (json!({ "candidates": [{ "finishReason": "RECITATION" }] }), "RECITATION"),
        (json!([1]), "not what was expected"),
    ] {
        let (found, _) = searched([reply(answer)]).await;
        let error = found.unwrap_err();
        assert!(matches!(&error, LanguageError::Unusable { what } if what.contains(part)), "{error:?}");
    }
}

#[tokio::test]
async fn an_account_without_previews_searches_by_another_model() {
    let server = ModelServer::with_handler(|received| match received.target.contains("gemini-3") {
        true => gemini::error(404, "NOT_FOUND", "no access to previews", json!([])),
        false => reply(said("Because.")),
    });
    let search = search_by("flash", &server);
    for _ in 0..2 {
        assert_eq!(search.search("why?").await.unwrap().text, "Because.");
    }
    let targets: Vec<_> = server.received().iter().map(|received| received.target.clone()).collect();
    let target = |model: &str| format!("/v1beta/models/{model}:generateContent");
    let other = target("gemini-2.5-flash");
    // The second search does not have to find out again.
    assert_eq!(targets, [target("gemini-3.6-flash"), target("gemini-3-flash-preview"), other.clone(), other]);
}

#[tokio::test]
async fn a_search_that_fails_names_the_last_model() {
    let answer = || gemini::error(404, "NOT_FOUND", "no", json!([]));
    let server = ModelServer::with_responses([answer(), answer(), answer()]);
    let error = search_by("flash", &server).search("why?").await.unwrap_err();
    assert!(
        matches!(&error, LanguageError::NoSuchModel { model, .. } if model == "gemini-2.5-flash"),
        "{error:?}"
    );
}
