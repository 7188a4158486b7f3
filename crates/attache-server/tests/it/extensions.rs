//! Extensions: declared in the card, asked for and confirmed by headers.

use attache_domain::AgentExtension;
use attache_testkit::pairs::{Ask, EXTENSION_REQUIRED, Pair, Refusal};

use crate::world::{TestServer, launch};

const PATH: &str = "/.well-known/agent-card.json";
const REQUIRED: &str = "https://example.com/required";
const OPTIONAL: &str = "https://example.com/optional";

/// Declares one required extension and an optional one.
async fn start() -> TestServer {
    let extension = |uri: &str, required| AgentExtension {
        uri: uri.to_owned(),
        description: None,
        required,
        params: None,
    };
    let extensions = vec![extension(REQUIRED, true), extension(OPTIONAL, false)];
    launch().card(|card| card.capabilities.extensions = extensions).start().await
}

#[tokio::test]
async fn e5_a_required_extension_must_be_asked_for_on_every_operation() {
    let server = start().await;
    let client = server.client();
    let card = client.get(PATH).await;
    assert_eq!(card.status, 200, "the card can be read without it");
    assert_eq!(card.json()["capabilities"]["extensions"][0]["required"], true);
    assert!(card.json()["capabilities"]["extensions"][1].get("required").is_none());
    for pair in Pair::ALL {
        let task = || "no-such-task".to_owned();
        for ask in [
            Ask::Send(pair.text("m1", "echo x")),
            Ask::Stream(pair.text("m1", "echo x")),
            Ask::Get(task()),
            Ask::Cancel(task()),
            Ask::Subscribe(task()),
            Ask::PushCreate(task()),
            Ask::PushGet(task()),
            Ask::PushList(task()),
            Ask::PushDelete(task()),
            Ask::ExtendedCard,
        ] {
            EXTENSION_REQUIRED.refuses(pair, &client, &ask, REQUIRED).await;
            let other =
                client.with("A2A-Extensions", "https://example.com/optional, https://example.com/Required");
            EXTENSION_REQUIRED.refuses(pair, &other, &ask, REQUIRED).await;
        }
    }
    let listed = Refusal::read(Pair::Rest10, &client.with("A2A-Version", "1.0").get("/tasks").await);
    EXTENSION_REQUIRED.check(Pair::Rest10, &listed);
    assert_eq!(client.get("/health").await.json()["totalTasks"], 0);
}

#[tokio::test]
async fn e2_e4_extensions_are_asked_for_and_confirmed_by_the_header_of_the_version() {
    let server = start().await;
    let (required, optional) = (REQUIRED, OPTIONAL);
    for pair in Pair::ALL {
        let (name, other) = match pair.is_v1_0() {
            true => ("a2a-extensions", "x-a2a-extensions"),
            false => ("x-a2a-extensions", "a2a-extensions"),
        };
        for (asked, confirmed) in [
            (required.to_owned(), vec![required]),
            (format!(" {optional} ,{required}"), vec![optional, required]),
            (format!("{required},https://example.com/unknown"), vec![required]),
            (format!("{required},{required}/v2,{optional}x"), vec![required]),
        ] {
            let client = server.client().with(name, &asked);
            let reply = pair.call(&client, &Ask::Send(pair.text("m1", "echo x"))).await;
            assert_eq!(reply.answer.status, 200, "{pair:?} {asked}: {}", reply.answer.text());
            let header = reply.answer.header(name).expect("the activated ones");
            let found: Vec<_> = header.split(',').map(str::trim).collect();
            assert_eq!(found, confirmed, "{pair:?} {asked}");
            assert_eq!(reply.answer.header(other), None, "{pair:?}: only the name of the version");
            let stream = pair.stream(&client, &Ask::Stream(pair.text("m1", "echo x"))).await;
            assert_eq!(stream.header(name), Some(header), "{pair:?}: on streams too");
        }
        if !pair.is_v1_0() {
            let client = server.client().with("A2A-Extensions", required);
            let reply = pair.call(&client, &Ask::Send(pair.text("m1", "echo x"))).await;
            assert_eq!(reply.answer.header("x-a2a-extensions"), Some(required), "0.3 may use either name");
        }
    }
}

#[tokio::test]
async fn e2_several_header_lines_are_one_list() {
    let server = start().await;
    let request = b"GET /tasks HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\na2a-version: 1.0\r\n\
          A2A-Extensions: https://example.com/optional\r\nA2A-Extensions: https://example.com/required\r\n\r\n";
    let answer = server.client().raw(request).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("https://example.com/optional, https://example.com/required"), "{answer}");
}

#[tokio::test]
async fn e3_undeclared_extensions_are_ignored_and_not_confirmed() {
    let server = launch().start().await;
    for pair in Pair::ALL {
        let client = server
            .client()
            .with("A2A-Extensions", "https://example.com/x")
            .with("X-A2A-Extensions", "https://example.com/x");
        let reply = pair.call(&client, &Ask::Send(pair.text("m1", "echo x"))).await;
        assert_eq!(reply.answer.status, 200);
        assert_eq!(
            (reply.answer.header("a2a-extensions"), reply.answer.header("x-a2a-extensions")),
            (None, None)
        );
    }
}
