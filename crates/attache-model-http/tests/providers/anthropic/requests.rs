//! What is sent, compared with what Anthropic's own client sends.

use attache_domain::{Exchange, ModelPart, ModelPartContent, ProviderData};
use attache_model::{Prompt, Thinking};
use attache_model_http::anthropic::{AnthropicOptions, ApiVersion};
use attache_testkit::model_server::{ModelServer, PlannedResponse, anthropic, scenarios};
use serde_json::{Value, json};

use super::world::{KEY, World, answered, hello, options, prompt, user};
use crate::golden;

const GOLDEN: &str = include_str!("../../../../../tests/models/anthropic-requests.json");

fn yes() -> PlannedResponse {
    anthropic::message().text(["Yes."]).stop("end_turn")
}

fn world(model: &str) -> World {
    let server = ModelServer::with_handler(|received| scenarios::by_model(received).unwrap_or_else(yes));
    let options = options(&server, model);
    World::with(server, options)
}

#[tokio::test(start_paused = true)]
async fn a_request_is_what_the_official_client_sends() {
    for case in golden::all(GOLDEN) {
        let world = world(&case.model);
        let told = world.ask(golden::prompt_of(&case.name)).await;
        if case.hears.is_some() {
            world.ask(prompt([vec![user("Hello")], answered(told.said())].concat())).await;
        }
        let sent = world.server.received().pop().unwrap().json();
        assert_eq!(sent, case.body, "{}", case.name);
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_goes_in_the_header_of_its_version() {
    let asked = |version: ApiVersion| async move {
        let server = ModelServer::with_responses([yes()]);
        let options = AnthropicOptions { version, ..options(&server, "house-model") };
        let world = World::with(server, options);
        world.ask(Prompt { temperature: Some(0.5), ..hello() }).await;
        world.server.received().pop().unwrap()
    };
    let received = asked(ApiVersion::June2023).await;
    assert_eq!(received.target, "/v1/messages");
    assert_eq!(received.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!((received.header("x-api-key"), received.header("authorization")), (Some(KEY), None));
    assert_eq!(received.json()["temperature"], json!(0.5));
    let received = asked(ApiVersion::October2026).await;
    assert_eq!(received.header("anthropic-version"), Some("2026-10-21"));
    assert_eq!(received.header("x-api-key"), None);
    assert_eq!(received.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(received.json().get("temperature"), None);
}

/// What a prompt to think asks for, in the middle of a turn whose call has this thought before it.
async fn asked_to_think(model: &str, thought_of: &str) -> Value {
    let call = || scenarios::anthropic::answer("parallel-calls").expect("a known scenario");
    let world = World::of(model, [call(), yes()]);
    let told = world.ask(hello()).await;
    let mut exchanges = [vec![user("Hello")], answered(told.said())].concat();
    if let Exchange::Model(said) = &mut exchanges[1] {
        said[0] = ModelPart {
            what: ModelPartContent::Thought("Two files.".into()),
            opaque: Some(ProviderData {
                provider: format!("anthropic@{}", world.server.url()),
                model: thought_of.into(),
                data: json!({"signature": "s"}),
            }),
        };
    }
    world.ask(Prompt { thinking: Some(Thinking::High), ..prompt(exchanges) }).await;
    world.server.received()[1].json()["thinking"].clone()
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_began_without_thoughts_goes_on_without() {
    assert_eq!(asked_to_think("claude-sonnet-4-5", "claude-sonnet-4-5-20250929").await["type"], "enabled");
    assert_eq!(asked_to_think("claude-sonnet-4-5", "claude-opus-4-5").await, Value::Null);
    // Later models do not mind.
    assert_eq!(asked_to_think("claude-opus-4-6", "claude-opus-4-5").await["type"], "adaptive");
}

#[tokio::test(start_paused = true)]
async fn calls_of_the_past_bring_their_tools_along() {
    let world = world("parallel-calls");
    let told = world.ask(hello()).await;
    assert_eq!(world.server.received()[0].json().get("tool_choice"), None);
    world.ask(prompt([vec![user("Hello")], answered(told.said())].concat())).await;
    let body = world.server.received()[1].json();
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
    assert_eq!(
        (body["tools"].as_array().map(Vec::len), &body["tools"][0]["name"]),
        (Some(1), &json!("read_file"))
    );
}
