//! Servers over HTTP that refuse.

use attache_net::Secret;
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use attache_tool_mcp::{McpServerOptions, Transport};

use crate::world::{World, why};

fn http(url: String) -> Transport {
    Transport::Http { url, headers: vec![("Authorization".into(), Secret::new("Bearer s3cret"))] }
}

async fn refused(transport: Transport) -> String {
    why(&World::new().connect(vec![McpServerOptions::new("srv", transport)]).await)
}

#[tokio::test]
async fn missing_credentials_are_told_with_the_setting_that_holds_them() {
    for status in [401, 403] {
        let server =
            ModelServer::with_responses([PlannedResponse::text(status, "text/plain", "who are you?")]);
        let why = refused(http(server.url())).await;
        assert!(why.contains(&status.to_string()) && why.contains("`headers`"), "{why}");
        assert_eq!(server.received()[0].header("authorization"), Some("Bearer s3cret"));
    }
}

#[tokio::test]
async fn what_the_server_says_of_its_refusal_is_told() {
    let json = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"closed\non Sundays"}}"#;
    let server = ModelServer::with_responses([PlannedResponse::text(503, "application/json", json)]);
    assert_eq!(refused(http(server.url())).await, "it answers 503: closed on Sundays");
    let server = ModelServer::with_responses([PlannedResponse::text(200, "text/html", "<html>")]);
    let why = refused(http(server.url())).await;
    assert!(why.contains("does not speak MCP") || why.contains("text/html"), "{why}");
}

#[tokio::test]
async fn a_refusal_that_repeats_the_credential_is_told_without_it() {
    let server = ModelServer::with_responses([PlannedResponse::text(
        400,
        "text/plain",
        "bad token s3cret in Bearer s3cret",
    )]);
    assert_eq!(refused(http(server.url())).await, "it answers 400: bad token (hidden) in (hidden)");
}

#[tokio::test]
async fn a_huge_answer_is_not_read() {
    let server = ModelServer::with_responses([PlannedResponse::text(
        200,
        "application/json",
        &"x".repeat(17 * 1024 * 1024),
    )]);
    assert!(refused(http(server.url())).await.contains("larger than 16777216 bytes"));
    let stream = PlannedResponse::stream().bytes(format!("data: {}", "x".repeat(17 * 1024 * 1024)));
    let server = ModelServer::with_responses([stream]);
    let why = refused(Transport::Sse { url: server.url(), headers: vec![] }).await;
    assert!(why.contains("larger than 16 MiB"), "{why}");
}

#[tokio::test]
async fn the_older_way_is_refused_when_it_leads_elsewhere_or_nowhere() {
    let sse = async |answer: PlannedResponse| {
        let server = ModelServer::with_responses([answer]);
        refused(Transport::Sse { url: server.url(), headers: vec![] }).await
    };
    let elsewhere =
        PlannedResponse::stream().bytes("event: endpoint\ndata: https://evil.example/take\n\n").hold();
    assert!(sse(elsewhere).await.contains("a place on another server"));
    assert!(
        sse(PlannedResponse::stream().bytes(": nothing\n\n")).await.contains("ended before it said where")
    );
    assert!(sse(PlannedResponse::text(200, "text/html", "<html>")).await.contains("text/html"));
}

#[tokio::test]
async fn a_stream_that_says_nothing_is_given_up() {
    let server = ModelServer::with_responses([PlannedResponse::stream().bytes(": wait\n\n").hold()]);
    let mut world = World::new();
    world.context.connect_timeout = std::time::Duration::from_millis(300);
    let transport = Transport::Sse { url: server.url(), headers: vec![] };
    let servers = world.connect(vec![McpServerOptions::new("srv", transport)]).await;
    assert!(why(&servers).contains("did not answer within"), "{}", why(&servers));
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let server = ModelServer::with_responses([
        PlannedResponse::text(307, "text/plain", "").header("location", "/elsewhere")
    ]);
    assert!(refused(http(server.url())).await.contains("307"));
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn a_server_that_refuses_both_ways_is_told_of_once() {
    let refusals = [
        PlannedResponse::text(404, "text/plain", "nothing here"),
        PlannedResponse::text(404, "text/plain", "nor here"),
    ];
    let server = ModelServer::with_responses(refusals);
    let why = refused(Transport::Detect { url: server.url(), headers: vec![] }).await;
    assert_eq!(why, "it answers 404: nothing here");
    assert_eq!(server.received().len(), 2);
}

#[tokio::test]
async fn addresses_are_checked_before_anything_is_sent() {
    for (url, expected) in [
        ("example.com/mcp", "not a URL"),
        ("ftp://example.com", "must start with https://"),
        ("https://me:s3cret@example.com", "give the credential in `headers`"),
        ("http://example.com/mcp", "https only"),
    ] {
        let why = refused(http(url.into())).await;
        assert!(why.contains(expected) && !why.contains("s3cret"), "{url}: {why}");
    }
}

#[tokio::test]
async fn an_unreachable_server_is_reported() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(refused(http(format!("http://{free}"))).await.contains("no connection"));
    let why = refused(Transport::Sse { url: format!("http://{free}"), headers: vec![] }).await;
    assert!(why.contains("no connection"), "{why}");
}
