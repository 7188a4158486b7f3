//! What is sent, compared with what Anthropic's own client sends.

use attache_testkit::model_server::{ModelServer, PlannedResponse, anthropic, scenarios};
use serde_json::json;

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
async fn a_key_goes_in_its_header_and_nowhere_else() {
    let world = World::new([yes()]);
    world.ask(hello()).await;
    let received = &world.server.received()[0];
    assert_eq!(received.target, "/v1/messages");
    assert_eq!(received.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!((received.header("x-api-key"), received.header("authorization")), (Some(KEY), None));
    assert!(!String::from_utf8_lossy(&received.body).contains(KEY));
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
