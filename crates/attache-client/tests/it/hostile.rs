//! Agents that waste time, room or trust.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Command, Stdio};
use std::time::Duration;

use attache_client::{Client, ClientError, ClientOptions, Origin, OutgoingMessage};
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use serde_json::json;

use crate::{answer, card, connect, credential, task};

async fn refused(server: &ModelServer, options: ClientOptions) -> ClientError {
    Client::connect(&server.url(), options).await.unwrap_err()
}

#[tokio::test]
async fn a_card_that_never_ends_is_given_up() {
    let quick = || ClientOptions { card_timeout: Duration::from_millis(200), ..ClientOptions::default() };
    // A head that does not come, and a body that comes byte by byte.
    for slow in [PlannedResponse::stream().hold(), drops("{", 1_000)] {
        let server = ModelServer::with_responses([slow]);
        let error = refused(&server, quick()).await;
        assert!(matches!(error, ClientError::Deadline { .. }), "{error:?}");
    }
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let error = Client::connect(&url, quick()).await.unwrap_err();
    assert!(matches!(error, ClientError::Deadline { .. }), "{error:?}");
}

/// A byte every few milliseconds: never silent for long.
fn drops(byte: &str, count: usize) -> PlannedResponse {
    let start = PlannedResponse::text(200, "application/json", byte);
    (0..count).fold(start, |planned, _| planned.pause(Duration::from_millis(20)).bytes(" "))
}

#[tokio::test]
async fn an_endless_card_and_an_endless_event_are_cut_off() {
    let room = 64 << 10;
    let endless = (0..64).fold(PlannedResponse::text(200, "application/json", "["), |planned, _| {
        planned.bytes(vec![b' '; room])
    });
    let error = refused(&ModelServer::with_responses([endless]), ClientOptions::default()).await;
    assert!(error.to_string().contains("larger than"), "{error}");

    let line = |begun| (0..64).fold(begun, |planned: PlannedResponse, _| planned.bytes(vec![b'x'; room]));
    let working = json!({"result": {"task": task("TASK_STATE_WORKING")}});
    let begun = PlannedResponse::stream().bytes(format!("data: {working}\n\ndata: "));
    let first = PlannedResponse::stream().bytes("data: ");
    let server = ModelServer::with_responses([card("JSONRPC", "/"), line(begun), line(first)]);
    let options = ClientOptions { max_event_bytes: 1 << 20, ..ClientOptions::default() };
    let client = Client::connect(&server.url(), options).await.unwrap();
    let mut events = client.stream(OutgoingMessage::text("m-1", "hi")).await.unwrap();
    events.next().await.unwrap().unwrap();
    let error = events.next().await.unwrap().unwrap_err();
    assert!(matches!(&error, ClientError::Malformed { .. }), "{error:?}");
    assert!(events.next().await.is_none(), "it is not asked again");
    let error = client.stream(OutgoingMessage::text("m-2", "hi")).await.unwrap_err();
    assert!(matches!(&error, ClientError::Malformed { .. }), "{error:?}");
}

/// A few kilobytes that become many megabytes.
fn bomb(megabytes: usize) -> Vec<u8> {
    let mut gzip =
        Command::new("gzip").args(["-9", "-c"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = gzip.stdin.take().unwrap();
    let writing = std::thread::spawn(move || {
        for _ in 0..megabytes {
            input.write_all(&[b' '; 1 << 20]).unwrap();
        }
    });
    let mut packed = Vec::new();
    gzip.stdout.take().unwrap().read_to_end(&mut packed).unwrap();
    writing.join().unwrap();
    assert!(gzip.wait().unwrap().success() && packed.len() < megabytes << 12);
    packed
}

#[tokio::test]
async fn a_body_that_unpacks_to_more_than_its_limit_is_cut_off() {
    let packed = |bytes: Vec<u8>| {
        PlannedResponse::text(200, "application/json", "").header("content-encoding", "gzip").bytes(bytes)
    };
    let error = refused(&ModelServer::with_responses([packed(bomb(32))]), ClientOptions::default()).await;
    assert!(error.to_string().contains("larger than"), "{error}");
    let server = ModelServer::with_responses([card("JSONRPC", "/"), packed(bomb(32))]);
    let options = ClientOptions { max_response_bytes: 2 << 20, ..ClientOptions::default() };
    let client = Client::connect(&server.url(), options).await.unwrap();
    let error = client.get("t-1", None).await.unwrap_err();
    assert!(error.to_string().contains("larger than"), "{error}");
}

#[tokio::test]
async fn redirects_lead_neither_in_circles_nor_away_with_a_credential() {
    let moved = |to: &str| PlannedResponse::text(307, "text/plain", "").header("location", to);
    let server = ModelServer::with_handler(move |_| moved("/round.json"));
    let error = refused(&server, ClientOptions::default()).await;
    assert!(error.to_string().contains("more than 5 redirects"), "{error}");

    // A call is not led anywhere, not even within its origin.
    let elsewhere = ModelServer::with_responses([answer(200, task("TASK_STATE_WORKING"))]);
    for target in [elsewhere.url(), "/other".to_owned(), "file:///etc/passwd".to_owned()] {
        let server = ModelServer::with_responses([card("JSONRPC", "/"), moved(&target)]);
        let error = connect(&server).await.get("t-1", None).await.unwrap_err();
        assert!(matches!(error, ClientError::Status { status: 307, .. }), "{error:?}");
        assert!(
            error.to_string().contains(&format!("a redirect to {target}, and calls follow none")),
            "{error}"
        );
        assert_eq!(server.received().len(), 2);
    }
    assert_eq!(elsewhere.received().len(), 0);
    let server = ModelServer::with_responses([moved("http://me:word@127.0.0.1/")]);
    let options = ClientOptions { credential: Some(credential()), ..ClientOptions::default() };
    assert!(refused(&server, options).await.to_string().contains("password in it"));
}

#[tokio::test]
async fn an_origin_that_only_looks_alike_is_another_one() {
    let server = ModelServer::with_responses([card("JSONRPC", "http://127.0.0.1.evil.example/")]);
    let error = refused(&server, ClientOptions::default()).await;
    assert!(matches!(&error, ClientError::OtherOrigin { .. }), "{error:?}");
    let allowed = Origin::parse("https://agent.example").unwrap();
    for other in [
        "http://agent.example",
        "https://agent.example:8443",
        "https://agent.example.evil.example",
        "https://agent.example@evil.example",
        "https://xn--agent-4ve.example",
    ] {
        assert!(!Origin::parse(other).is_ok_and(|other| allowed.is_same(&other)), "{other}");
    }
}

#[tokio::test]
async fn a_card_of_the_published_form_is_read_and_called_with_its_tenant() {
    let card = json!({
        "protocolVersion": "0.3.0", "name": "Recipe Agent", "description": "Cooks.", "url": "/a2a",
        "preferredTransport": "", "version": "1.0.0",
        "additionalInterfaces": [
            {"url": "/a2a", "transport": "JSONRPC", "tenant": "kitchen"},
            {"url": "/rest", "transport": "HTTP+JSON", "tenant": "kitchen"},
        ],
        "provider": {"url": "https://recipes.example", "organization": "Recipes"},
        "capabilities": {"streaming": false, "pushNotifications": true},
        "securitySchemes": {
            "key": {"apiKeySecurityScheme": {"location": "header", "name": "X-API-Key"}},
            "mtls": {"mtlsSecurityScheme": {"description": "m"}},
        },
        "security": [{"schemes": {"key": {"list": []}, "mtls": {}}}],
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "r", "name": "R", "description": "Finds.", "tags": ["cooking"], "examples": ["bread"],
            "inputModes": [], "outputModes": [], "security": [{"schemes": {"key": {"list": []}}}]}],
        "supportsAuthenticatedExtendedCard": true,
        "signatures": [{"protected": "e30", "signature": "AAAA", "header": {"kid": "k-1"}}],
        "iconUrl": "https://recipes.example/icon.png",
    });
    let done = json!({"kind": "task", "id": "t-1", "contextId": "c-1", "status": {"state": "completed"}});
    let server = ModelServer::with_responses([
        answer(200, card),
        answer(200, json!({"jsonrpc": "2.0", "id": 1, "result": done})),
    ]);
    let client = connect(&server).await;
    assert!(client.card().capabilities.extended_agent_card);
    client.send(OutgoingMessage::text("m-1", "bread")).await.unwrap();
    let sent = server.received()[1].json();
    assert_eq!((&sent["method"], &sent["params"]["tenant"]), (&json!("message/send"), &json!("kitchen")));
}
