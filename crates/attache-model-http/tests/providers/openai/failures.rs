//! What is not tried again.

use attache_model::{LanguageError, LanguageModel, Prompt};
use attache_model_http::ModelOptions;
use attache_model_http::openai::OpenAiModel;
use attache_testkit::model_server::{PlannedResponse, openai};

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
    assert_eq!(what, "Invalid value: 'nobody'. (400 invalid_request_error)");
    let told = scenario("no-such-model", |planned| planned).ask(hello()).await;
    assert!(matches!(told.error(), LanguageError::NoSuchModel { model, .. } if model == "no-such-model"));
    let told = scenario("no-quota", |planned| planned).ask(hello()).await;
    assert!(matches!(told.error(), LanguageError::QuotaExhausted { .. }), "{told:?}");
    assert!(told.pauses().is_empty(), "{told:?}");
    let told = fail(openai::error(400, "invalid_request_error", "context_length_exceeded", "x")).await;
    assert!(matches!(told.error(), LanguageError::TooLong { .. }), "{told:?}");
    for status in [401, 403] {
        let told = fail(openai::error(status, "invalid_request_error", "invalid_api_key", "no")).await;
        assert!(matches!(told.error(), LanguageError::Credential { .. }), "{told:?}");
    }
    let told = fail(PlannedResponse::text(404, "text/html", "<html>nothing here</html>")).await;
    assert!(told.error().to_string().contains("is the base URL right?"), "{told:?}");
    let told = fail(PlannedResponse::text(200, "text/plain", "Ollama is running")).await;
    assert!(matches!(told.error(), LanguageError::Unusable { .. }), "{told:?}");
    assert!(told.error().to_string().contains("is the base URL right?"), "{told:?}");
    let told =
        fail(PlannedResponse::text(302, "text/html", "moved").header("location", "https://example.com/"))
            .await;
    assert!(told.error().to_string().contains("leads elsewhere"), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_key_that_a_server_repeats_is_not_shown() {
    let told = fail(openai::error(401, "x", "", &format!("Incorrect API key provided: {KEY}"))).await;
    assert!(!format!("{told:?}").contains(KEY), "{told:?}");
    assert!(!format!("{:?}", World::new([]).model).contains(KEY));
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

#[test]
fn options_have_to_fit_together() {
    let refused = |options: ModelOptions| {
        OpenAiModel::new(options, crate::world::client()).err().map(|error| error.what)
    };
    let keyless = refused(ModelOptions::new("gpt-5", None)).expect("no key");
    assert!(keyless.contains("wants a key"), "{keyless}");
    let nameless =
        refused(ModelOptions { key: Some(attache_net::Secret::new("k")), ..ModelOptions::new(" ", None) })
            .expect("no name");
    assert!(nameless.contains("not the name"), "{nameless}");
}
