//! Which interface of a card is called, and which one after it.

use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use attache_client::{Binding, Client, ClientError, ClientOptions, OutgoingMessage, Version};
use attache_testkit::model_server::{ModelServer, PlannedResponse, ResponseEnd};
use serde_json::{Value, json};

use crate::{answer, connect, task};

/// A card that lists bindings of 1.0 with their addresses.
fn card(interfaces: &[(&str, &str)]) -> PlannedResponse {
    let interface = |(binding, url): &(&str, &str)| json!({"url": url, "protocolBinding": binding, "protocolVersion": "1.0"});
    let interfaces: Vec<Value> = interfaces.iter().map(interface).collect();
    answer(
        200,
        json!({"name": "agent", "supportedInterfaces": interfaces, "capabilities": {"streaming": true}}),
    )
}

fn done() -> PlannedResponse {
    let done = json!({"task": task("TASK_STATE_COMPLETED")});
    PlannedResponse::stream().bytes(format!("data: {done}\n\n"))
}

fn message(id: &str) -> OutgoingMessage {
    OutgoingMessage::text(id, "hi")
}

/// An address of this machine where nothing listens.
fn silent_address() -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    format!("http://{}/rpc", listener.local_addr().unwrap())
}

fn targets(server: &ModelServer) -> Vec<String> {
    server.received()[1..].iter().map(|it| format!("{} {}", it.method, it.target)).collect()
}

#[tokio::test]
async fn an_interface_that_is_not_there_is_left_for_the_next_one_and_that_is_remembered() {
    for status in [404, 405, 501] {
        let absent = PlannedResponse::text(status, "text/html", "<p>nothing here</p>");
        let card = card(&[("JSONRPC", "/rpc"), ("HTTP+JSON", "/rest")]);
        let server = ModelServer::with_responses([card, absent, done(), done()]);
        let client = connect(&server).await;
        assert_eq!(client.interface_change(), None);
        for id in ["m-1", "m-2"] {
            client.stream(message(id)).await.unwrap().next().await.unwrap().unwrap();
        }
        let calls = ["POST /rpc", "POST /rest/message:stream", "POST /rest/message:stream"];
        assert_eq!(targets(&server), calls, "{status}");
        let change = client.interface_change().unwrap();
        let expected = format!("so HTTP+JSON 1.0 at {}/rest is used", server.url());
        assert!(change.contains(&format!("status {status}")) && change.ends_with(&expected), "{change}");
    }
}

#[tokio::test]
async fn an_interface_where_nothing_listens_is_left_for_the_next_one() {
    let silent = silent_address();
    let first = card(&[("GRPC", &silent), ("JSONRPC", &silent), ("HTTP+JSON", "/rest")]);
    let server = ModelServer::with_responses([first, answer(200, task("TASK_STATE_COMPLETED"))]);
    let origin = attache_client::Origin::parse(&silent).unwrap();
    let options = ClientOptions { allowed_origins: vec![origin], ..ClientOptions::default() };
    let client = Client::connect(&server.url(), options).await.unwrap();
    client.get("t-1", None).await.unwrap();
    assert_eq!(targets(&server), ["GET /rest/tasks/t-1"]);
    assert!(client.interface_change().unwrap().contains("GRPC 1.0 at"), "{:?}", client.interface_change());
}

#[tokio::test]
async fn a_server_without_http_2_is_called_over_the_other_binding_that_it_lists() {
    let server = ModelServer::with_handler(|request| match request.method.as_str() {
        "GET" => card(&[("GRPC", request.header("host").unwrap()), ("JSONRPC", "/rpc")]),
        "POST" => answer(200, json!({"result": task("TASK_STATE_COMPLETED")})),
        // The beginning of HTTP/2. A connection that is closed at once may look broken.
        _ => PlannedResponse::text(400, "text/plain", "what?").pause(Duration::from_secs(60)),
    });
    let client = connect(&server).await;
    client.get("t-1", None).await.unwrap();
    let change = client.interface_change().unwrap();
    assert!(change.contains("does not speak HTTP/2") && change.contains("JSONRPC 1.0"), "{change}");
}

#[tokio::test]
async fn a_message_that_may_have_been_accepted_is_sent_to_no_other_interface() {
    let cut = PlannedResponse::text(200, "application/json", "{").ending(ResponseEnd::Cut);
    let failed = PlannedResponse::text(500, "text/plain", "oh");
    let page = PlannedResponse::text(200, "text/html", "<p>hello</p>");
    let refused = answer(200, json!({"error": {"code": -32602, "message": "no"}}));
    for response in [cut, failed, page, refused] {
        let card = card(&[("JSONRPC", "/rpc"), ("HTTP+JSON", "/rest")]);
        let server = ModelServer::with_responses([card, response]);
        connect(&server).await.send(message("m-1")).await.unwrap_err();
        assert_eq!(targets(&server), ["POST /rpc"]);
    }
}

#[tokio::test]
async fn an_interface_that_has_answered_is_left_for_no_other() {
    let absent = PlannedResponse::text(404, "text/plain", "gone");
    let known = answer(200, json!({"result": task("TASK_STATE_WORKING")}));
    let card = card(&[("JSONRPC", "/rpc"), ("HTTP+JSON", "/rest")]);
    let server = ModelServer::with_responses([card, known, absent]);
    let client = connect(&server).await;
    client.get("t-1", None).await.unwrap();
    let error = client.get("t-1", None).await.unwrap_err();
    assert!(matches!(error, ClientError::Status { status: 404, .. }), "{error:?}");
    assert_eq!(targets(&server), ["POST /rpc", "POST /rpc"]);
}

#[tokio::test]
async fn when_no_interface_is_there_the_error_is_that_of_the_first() {
    let absent = |status| PlannedResponse::text(status, "text/plain", "gone");
    let card = card(&[("JSONRPC", "/rpc"), ("HTTP+JSON", "/rest")]);
    let server = ModelServer::with_responses([card, absent(405), absent(404), absent(404)]);
    let error = connect(&server).await.send(message("m-1")).await.unwrap_err();
    assert!(matches!(error, ClientError::Status { status: 405, .. }), "{error:?}");
    let calls = ["POST /rpc", "POST /rest/message:send", "POST /rest/v1/message:send"];
    assert_eq!(targets(&server), calls);
}

#[tokio::test]
async fn a_binding_that_the_caller_wants_is_left_for_no_other() {
    let card = card(&[("HTTP+JSON", "/rest"), ("JSONRPC", "/rpc")]);
    let server = ModelServer::with_responses([card, PlannedResponse::text(404, "text/plain", "gone")]);
    let options = ClientOptions {
        binding: Some(Binding::JsonRpc),
        version: Some(Version::V1_0),
        ..ClientOptions::default()
    };
    let client = Client::connect(&server.url(), options).await.unwrap();
    client.send(message("m-1")).await.unwrap_err();
    assert_eq!(targets(&server), ["POST /rpc"]);
}
