//! What is not tried again.

use std::io::{Read, Write};

use attache_model::{LanguageError, LanguageModel, Prompt};
use attache_model_http::gemini::{Backend, GeminiOptions};
use attache_model_http::retry::RetryOptions;
use attache_net::BaseUrl;
use attache_testkit::model_server::{ModelServer, PlannedResponse, gemini};
use serde_json::json;

use super::world::{KEY, PromptResult, World, hello, options, prompt, seconds, user};

async fn fail(answer: PlannedResponse) -> PromptResult {
    let world = World::new([answer]);
    let told = world.ask(hello()).await;
    assert!(told.pieces.is_empty(), "{told:?}");
    assert_eq!(world.server.received().len(), 1);
    told
}

#[tokio::test(start_paused = true)]
async fn a_bad_request_is_told_as_it_was_said() {
    let told = fail(gemini::error(400, "INVALID_ARGUMENT", "Please use a valid role.", json!([]))).await;
    let LanguageError::Request { what } = told.error() else { panic!("{told:?}") };
    assert_eq!(what, "Please use a valid role. (400 INVALID_ARGUMENT)");
}

#[tokio::test(start_paused = true)]
async fn a_quota_for_the_day_is_final() {
    let daily = json!([
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "30s"},
    ]);
    let told = fail(gemini::error(429, "RESOURCE_EXHAUSTED", "quota", daily)).await;
    let wanted = Some(seconds(30));
    assert!(
        matches!(told.error(), LanguageError::QuotaExhausted { retry_after, .. } if *retry_after == wanted)
    );
    let never = fail(gemini::error(429, "RESOURCE_EXHAUSTED", "Quota exceeded, limit: 0", json!([]))).await;
    assert!(matches!(never.error(), LanguageError::QuotaExhausted { .. }), "{never:?}");
}

#[tokio::test(start_paused = true)]
async fn a_pause_of_hours_is_final() {
    let told = fail(gemini::error(429, "", "Please retry in 10h17m5s", json!([]))).await;
    let wanted = Some(seconds(37_025));
    assert!(
        matches!(told.error(), LanguageError::QuotaExhausted { retry_after, .. } if *retry_after == wanted)
    );
    let told = fail(gemini::error_with_delay(503, "UNAVAILABLE", "later", "301s")).await;
    assert!(matches!(told.error(), LanguageError::Unavailable { .. }), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn an_unknown_model_is_named() {
    let told = fail(gemini::error(404, "NOT_FOUND", "no such model", json!([]))).await;
    assert!(
        matches!(told.error(), LanguageError::NoSuchModel { model, .. } if model == "house-model"),
        "{told:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_wrong_address_is_told_as_one() {
    let page = "<html><title>404</title><p>no such model of a car</html>";
    let told = fail(PlannedResponse::text(404, "text/html", page)).await;
    let LanguageError::Request { what } = told.error() else { panic!("{told:?}") };
    assert!(what.ends_with("is the base URL right?") && !what.contains("car"), "{what}");
    for body in [page, "It works!", "Hi"] {
        let told = fail(PlannedResponse::text(200, "text/html", body)).await;
        let LanguageError::Unusable { what } = told.error() else { panic!("{told:?}") };
        assert!(what.ends_with("instead of a response of the API: is the base URL right?"), "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_without_tls_is_not_tried_again() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let place = format!("https://{}", listener.local_addr().unwrap());
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 1024]).unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
    });
    let told = at(&place).await;
    assert!(told.pieces.is_empty(), "{told:?}");
    let LanguageError::Unreachable { what } = told.error() else { panic!("{told:?}") };
    assert!(what.contains("does not speak TLS") && what.contains(&place), "{what}");
    serving.join().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_up_on_tls_is_tried_a_few_times() {
    let server = ModelServer::with_responses([PlannedResponse::text(200, "text/plain", "")]);
    let told = at(&server.url().replace("http://", "https://")).await;
    assert_eq!(told.pauses(), [5.0, 10.0]);
    assert!(told.error().to_string().ends_with("does it speak HTTPS?"), "{told:?}");
}

/// The error for a model at another address.
async fn at(place: &str) -> PromptResult {
    let server = ModelServer::with_responses([PlannedResponse::text(200, "text/plain", "")]);
    let base_url = Some(BaseUrl::parse(place).unwrap());
    let backend = Backend::Developer { base_url };
    let options = GeminiOptions { backend, ..options(&server, "house-model") };
    World::with(server, options).ask(hello()).await
}

#[tokio::test(start_paused = true)]
async fn network_failures_are_not_retried_if_the_options_say_so() {
    let answer = || PlannedResponse::text(200, "text/plain", "");
    let gone = ModelServer::with_responses([answer()]);
    let retry = RetryOptions { retry_network_failures: false, ..crate::world::retry() };
    let options = GeminiOptions { retry, ..options(&gone, "house-model") };
    drop(gone);
    let told = World::with(ModelServer::with_responses([answer()]), options).ask(hello()).await;
    assert!(told.pieces.is_empty(), "{told:?}");
    assert!(matches!(told.error(), LanguageError::Unreachable { .. }), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_is_too_long_is_told_apart() {
    let message = "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).";
    let told = fail(gemini::error(400, "INVALID_ARGUMENT", message, json!([]))).await;
    assert!(matches!(told.error(), LanguageError::TooLong { .. }), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_redirect_is_not_followed() {
    let told =
        fail(PlannedResponse::text(302, "text/html", "moved").header("location", "https://example.com/"))
            .await;
    assert!(told.error().to_string().contains("leads elsewhere"), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_key_that_a_server_repeats_is_not_shown() {
    let message = format!("API key {KEY} is not valid");
    let told = fail(gemini::error(403, "PERMISSION_DENIED", &message, json!([]))).await;
    assert!(matches!(told.error(), LanguageError::Credential { .. }), "{told:?}");
    assert!(!format!("{told:?}").contains(KEY), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_says_nothing_is_not_sent() {
    for empty in [Prompt::default(), prompt([user("")])] {
        let world = World::new([]);
        let told = world.ask(empty).await;
        assert!(matches!(told.error(), LanguageError::Request { .. }), "{told:?}");
        assert!(world.server.received().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_before_it_is_wanted() {
    let world = World::new([]);
    drop(world.model.stream(hello()));
    assert!(world.server.received().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_model_shows_no_key() {
    let world = World::new([]);
    assert!(!format!("{:?}", world.model).contains(KEY));
}
