//! What is not tried again.

use attache_model::{LanguageError, Prompt};
use attache_model_http::ModelOptions;
use attache_model_http::anthropic::AnthropicModel;
use attache_testkit::model_server::{PlannedResponse, anthropic};
use serde_json::json;

use super::world::{KEY, PromptResult, World, hello, prompt, scenario, user};

async fn fail(answer: PlannedResponse) -> PromptResult {
    let world = World::new([answer]);
    let told = world.ask(hello()).await;
    assert!(told.pieces.is_empty(), "{told:?}");
    assert_eq!(world.server.received().len(), 1);
    told
}

#[tokio::test(start_paused = true)]
async fn each_failure_is_told_by_what_can_be_done_about_it() {
    let told = scenario("bad-request", |planned| planned).ask(hello()).await;
    let LanguageError::Request { what } = told.error() else { panic!("{told:?}") };
    assert_eq!(what, "messages: roles must alternate (400 invalid_request_error)");
    let told = scenario("no-such-model", |planned| planned).ask(hello()).await;
    assert!(matches!(told.error(), LanguageError::NoSuchModel { model, .. } if model == "no-such-model"));
    let long = "prompt is too long: 210000 tokens > 200000 maximum";
    let told = fail(anthropic::error(400, "invalid_request_error", long)).await;
    assert!(matches!(told.error(), LanguageError::TooLong { .. }), "{told:?}");
    let told = fail(anthropic::error(413, "request_too_large", "x")).await;
    assert!(matches!(told.error(), LanguageError::TooLong { .. }), "{told:?}");
    for (status, kind) in [(401, "authentication_error"), (403, "permission_error")] {
        let told = fail(anthropic::error(status, kind, "no")).await;
        assert!(matches!(told.error(), LanguageError::Credential { .. }), "{told:?}");
    }
    let spent = json!({"type": "error", "error": {"type": "rate_limit_error", "message": "x",
        "details": {"error_code": "enforced_spend_limit_reached"}}});
    let spent = PlannedResponse::text(429, "application/json", &spent.to_string());
    for answer in [anthropic::error(402, "billing_error", "x"), spent] {
        let told = fail(answer).await;
        assert!(matches!(told.error(), LanguageError::QuotaExhausted { .. }), "{told:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wrong_address_is_told_as_one() {
    let page = || PlannedResponse::text(404, "text/html", "<html><title>Our models</title></html>");
    for answer in [page(), anthropic::error(404, "not_found_error", "Not Found")] {
        let told = fail(answer).await;
        let LanguageError::Request { what } = told.error() else { panic!("{told:?}") };
        assert!(what.ends_with("is the base URL right?"), "{what}");
    }
    let told = fail(PlannedResponse::text(200, "text/html", "<!doctype html><p>Welcome!")).await;
    let LanguageError::Unusable { what } = told.error() else { panic!("{told:?}") };
    assert!(what.ends_with("is the base URL right?"), "{what}");
}

#[tokio::test(start_paused = true)]
async fn a_key_that_a_server_repeats_is_not_shown() {
    let told = fail(anthropic::error(401, "authentication_error", &format!("invalid {KEY}"))).await;
    assert!(!format!("{told:?}").contains(KEY), "{told:?}");
    assert!(!format!("{:?}", World::new([]).model).contains(KEY));
}

#[tokio::test(start_paused = true)]
async fn a_prompt_that_says_nothing_is_not_sent() {
    for empty in [Prompt::default(), prompt([user(" ")])] {
        let world = World::new([]);
        let told = world.ask(empty).await;
        assert!(matches!(told.error(), LanguageError::Request { .. }), "{told:?}");
        assert!(world.server.received().is_empty());
    }
}

#[test]
fn anthropic_itself_wants_a_key() {
    let refused = AnthropicModel::new(ModelOptions::new("claude-opus-4-6", None), crate::world::client());
    assert!(refused.is_err_and(|error| error.what.contains("wants a key")));
}
