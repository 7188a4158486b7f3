//! What is sent, compared with what OpenAI's own client sends.

use attache_model::Prompt;
use attache_model_http::openai::{OpenAiOptions, OutputLimit};
use attache_testkit::model_server::openai::{self, chunk};
use attache_testkit::model_server::{ModelServer, scenarios};
use serde_json::json;

use super::world::{KEY, World, answered, hello, options, prompt, user};
use crate::golden;

const GOLDEN: &str = include_str!("../../../../../tests/models/openai-requests.json");

fn world(model: &str) -> World {
    let server = ModelServer::with_handler(|received| {
        let yes = || openai::answer([chunk().text("Yes.").finish("stop")]);
        scenarios::by_model(received).unwrap_or_else(yes)
    });
    let limit = Some(OutputLimit::MaxCompletionTokens);
    let options = OpenAiOptions { output_limit: limit, ..options(&server, model) };
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
async fn a_key_goes_in_its_header_and_nowhere_else() {
    let server = ModelServer::with_responses([openai::answer([chunk().text("Yes.").finish("stop")])]);
    let options = OpenAiOptions {
        organization: Some("org".into()),
        headers: vec![("x-gateway".into(), attache_net::Secret::new("gate"))],
        ..options(&server, "house-model")
    };
    let world = World::with(server, options);
    world.ask(hello()).await;
    let received = &world.server.received()[0];
    assert_eq!(received.target, "/v1/chat/completions");
    assert_eq!(received.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(
        (received.header("openai-organization"), received.header("x-gateway")),
        (Some("org"), Some("gate"))
    );
    assert!(!String::from_utf8_lossy(&received.body).contains(KEY));
}

#[tokio::test(start_paused = true)]
async fn a_limit_has_the_name_that_the_server_knows() {
    let limited = || Prompt { max_output_tokens: Some(7), ..hello() };
    let world = World::new([openai::answer([chunk().text("Yes.").finish("stop")])]);
    world.ask(limited()).await;
    assert_eq!(world.server.received()[0].json()["max_tokens"], json!(7));
}
