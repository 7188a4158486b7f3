//! Who speaks the extension: by a header, in a message, by what is asked; and what the others get.

use attache_testkit::editor::{URI, header};
use attache_testkit::model_server::ModelServer;
use attache_testkit::model_server::gemini::says;
use attache_testkit::{SseStream, TestClient};
use serde_json::{Value, json};

use attache_testkit::pairs::EXTENSION_REQUIRED;
use attache_testkit::pairs::{Ask, Pair};

use super::world::require_extension;
use crate::agent_world::{AgentLaunch, AgentServer, launch_with};

/// Everybody is greeted.
async fn greeting(more: impl FnOnce(AgentLaunch) -> AgentLaunch) -> (ModelServer, AgentServer) {
    let model = ModelServer::with_handler(|_| says("Hello."));
    let server = more(launch_with(&model)).start().await;
    (model, server)
}

/// The extension in another version.
fn version(number: &str) -> String {
    URI.replace("/v0/", &format!("/v{number}/"))
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Speaks {
    Extension,
    Plainly,
}

/// What a stream spoke, to its end; never both.
async fn spoken(stream: &mut SseStream) -> Speaks {
    let frames = stream.rest().await;
    let (first, events) = frames.split_first().expect("the task and its events");
    assert!(first.raw.contains("Hi!"), "the task comes first: {}", first.raw);
    let with = events.iter().filter(|frame| frame.raw.contains("\"kind\":\"TEXT_CONTENT\"")).count();
    let without = events.iter().filter(|frame| frame.raw.contains("answer-1")).count();
    match (with, without) {
        (1, 0) => Speaks::Extension,
        (0, 1..) => Speaks::Plainly,
        _ => panic!("neither the one nor the other: {frames:#?}"),
    }
}

/// A message on `pair` through `client` is answered so, and the header of the answer says which extension is spoken.
async fn check(pair: Pair, client: &TestClient, params: Value, expected: Speaks, confirmed: Option<&str>) {
    let mut stream = pair.stream(client, &Ask::Stream(params.clone())).await;
    assert_eq!(stream.header(header(pair)), confirmed, "{pair:?} {params}");
    assert_eq!(spoken(&mut stream).await, expected, "{pair:?} {params}");
}

#[tokio::test]
async fn a_header_of_either_version_asks_for_it() {
    let (_model, server) = greeting(|launch| launch).await;
    for pair in Pair::ALL {
        for (number, name) in ["X-A2A-Extensions", "A2A-Extensions"].into_iter().enumerate() {
            let client = server.client().with(name, URI);
            let params = pair.text(&format!("m-{pair:?}-{number}"), "Hi!");
            check(pair, &client, params, Speaks::Extension, Some(URI)).await;
        }
    }
}

#[tokio::test]
async fn a_message_shows_it_by_its_extensions_or_its_metadata() {
    let (_model, server) = greeting(|launch| launch).await;
    let client = server.client();
    for pair in Pair::ALL {
        let mut named = pair.text(&format!("named-{pair:?}"), "Hi!");
        named["message"]["extensions"] = json!([URI]);
        check(pair, &client, named, Speaks::Extension, Some(URI)).await;
        let mut settings = pair.text(&format!("settings-{pair:?}"), "Hi!");
        settings["message"]["metadata"] = json!({ URI: {} });
        check(pair, &client, settings, Speaks::Extension, Some(URI)).await;
        let nothing = pair.text(&format!("nothing-{pair:?}"), "Hi!");
        check(pair, &client, nothing, Speaks::Plainly, None).await;
    }
}

#[tokio::test]
async fn versions_are_told_apart() {
    let (_model, server) = greeting(|launch| launch).await;
    for (number, expected) in [
        ("0", Speaks::Extension),
        ("0.0", Speaks::Extension),
        ("0.0.7", Speaks::Extension),
        ("0.0.1-beta", Speaks::Extension),
        ("1", Speaks::Plainly),
        ("1.0.0", Speaks::Plainly),
        ("0.1", Speaks::Plainly),
    ] {
        let uri = version(number);
        for pair in Pair::ALL {
            let client = server.client().with(header(pair), &uri);
            let confirmed = (expected == Speaks::Extension).then_some(uri.as_str());
            let params = pair.text(&format!("{pair:?}-{number}"), "Hi!");
            check(pair, &client, params, expected, confirmed).await;
            let mut params = pair.text(&format!("within-{pair:?}-{number}"), "Hi!");
            params["message"]["extensions"] = json!([uri]);
            let confirmed = (expected == Speaks::Extension).then_some(URI);
            check(pair, &server.client(), params, expected, confirmed).await;
        }
    }
}

#[tokio::test]
async fn among_others_it_is_found_and_others_alone_are_no_sign_of_it() {
    let (_model, server) = greeting(|launch| launch).await;
    for pair in Pair::ALL {
        let among = server.client().with(header(pair), &format!("https://example.com/x, {URI}"));
        check(pair, &among, pair.text(&format!("a-{pair:?}"), "Hi!"), Speaks::Extension, Some(URI)).await;
        let others = server.client().with(header(pair), "https://example.com/x");
        check(pair, &others, pair.text(&format!("o-{pair:?}"), "Hi!"), Speaks::Plainly, None).await;
    }
}

#[tokio::test]
async fn where_it_is_required_no_client_is_served_without_it() {
    let (model, server) = greeting(|launch| launch.options(require_extension)).await;
    let client = server.client();
    let card = client.get("/.well-known/agent-card.json").await.json();
    let offered = &card["capabilities"]["extensions"][0];
    assert_eq!((&offered["uri"], &offered["required"]), (&json!(URI), &json!(true)), "{card:#}");
    for pair in Pair::ALL {
        let other = client.with(header(pair), &version("1"));
        for ask in [Ask::Send(pair.text("m1", "Hi!")), Ask::Get("x".into()), Ask::Cancel("x".into())] {
            EXTENSION_REQUIRED.refuses(pair, &client, &ask, URI).await;
            EXTENSION_REQUIRED.refuses(pair, &other, &ask, URI).await;
        }
    }
    assert!(model.received().is_empty());
    for pair in Pair::ALL {
        let with = client.with(header(pair), URI);
        let params = pair.text(&format!("m-{pair:?}"), "Hi!");
        check(pair, &with, params, Speaks::Extension, Some(URI)).await;
        let mut params = pair.text(&format!("s-{pair:?}"), "Hi!");
        params["message"]["metadata"] = json!({ URI: {} });
        check(pair, &client, params, Speaks::Extension, Some(URI)).await;
    }
}
