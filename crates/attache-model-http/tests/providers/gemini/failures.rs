//! What is not tried again.

use attache_model::{LanguageError, LanguageModel, Prompt};
use attache_testkit::model_server::Planned;
use attache_testkit::model_server::gemini;
use serde_json::json;

use super::world::{KEY, Told, World, hello, prompt, seconds, user};

async fn fail(answer: Planned) -> Told {
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
async fn a_prompt_that_is_too_long_is_told_apart() {
    let message = "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).";
    let told = fail(gemini::error(400, "INVALID_ARGUMENT", message, json!([]))).await;
    assert!(matches!(told.error(), LanguageError::TooLong { .. }), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_redirect_is_not_followed() {
    let told =
        fail(Planned::text(302, "text/html", "moved").header("location", "https://example.com/")).await;
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
