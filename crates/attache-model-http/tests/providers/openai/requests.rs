//! What is sent, compared with what OpenAI's own client sends.

use attache_testkit::model_server::openai::{self, chunk};
use attache_testkit::model_server::{ModelServer, scenarios};

use super::world::{KEY, World, answered, hello, options, prompt, user};
use crate::golden;

const GOLDEN: &str = include_str!("../../../../../tests/models/openai-requests.json");

fn world(model: &str) -> World {
    let server = ModelServer::with_handler(|received| {
        let yes = || openai::answer([chunk().text("Yes.").finish("stop")]);
        scenarios::by_model(received).unwrap_or_else(yes)
    });
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
    let world = World::new([openai::answer([chunk().text("Yes.").finish("stop")])]);
    world.ask(hello()).await;
    let received = &world.server.received()[0];
    assert_eq!(received.target, "/v1/chat/completions");
    assert_eq!(received.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert!(!String::from_utf8_lossy(&received.body).contains(KEY));
}
