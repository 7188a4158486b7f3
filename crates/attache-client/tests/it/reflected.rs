//! Agents that repeat the credential that they got.

use attache_client::{Client, ClientOptions, OutgoingMessage};
use attache_testkit::model_server::{ModelServer, PlannedResponse, ReceivedRequest};
use serde_json::{Value, json};

use crate::{TOKEN, answer, card, connect, credential};

fn sent(request: &ReceivedRequest) -> String {
    request.header("authorization").unwrap_or("nothing").to_owned()
}

/// Answers each call with what `reply` makes of the credential.
fn reflecting(reply: impl Fn(&str) -> PlannedResponse + Send + Sync + 'static) -> ModelServer {
    ModelServer::with_handler(move |request| match request.target.contains("well-known") {
        true => card("JSONRPC", "/"),
        false => reply(&sent(request)),
    })
}

#[track_caller]
fn check(shown: &str) {
    assert!(shown.contains("(hid") && !shown.contains(&TOKEN[..8]), "{shown}");
}

#[tokio::test]
async fn an_error_that_repeats_the_credential_does_not_show_it() {
    let refusal = |text: &str| json!({"error": {"code": -32603, "message": text}});
    let server = reflecting(move |sent| answer(200, refusal(sent)));
    let client = connect(&server).await;
    let message = || OutgoingMessage::text("m-1", "hi");
    check(&format!("{:?}", client.get("t-1", None).await.unwrap_err()));
    check(&format!("{:?}", client.stream(message()).await.unwrap_err()));
    let server =
        reflecting(move |sent| PlannedResponse::stream().bytes(format!("data: {}\n\n", refusal(sent))));
    check(&format!("{:?}", connect(&server).await.stream(message()).await.unwrap_err()));
    let mut events = connect(&server).await.subscribe("t-1", None).await.unwrap();
    check(&format!("{:?}", events.next().await.unwrap().unwrap_err()));
    // What is quoted of it ends within the credential.
    let server = reflecting(|sent| {
        PlannedResponse::text(200, "application/json", &format!("{} {sent}", "x".repeat(45)))
    });
    check(&format!("{:?}", connect(&server).await.get("t-1", None).await.unwrap_err()));
    let server = reflecting(|sent| PlannedResponse::text(502, "text/plain", sent));
    check(&format!("{:?}", connect(&server).await.get("t-1", None).await.unwrap_err()));
    let server = reflecting(|sent| answer(401, json!({"message": sent})));
    check(&format!("{:?}", connect(&server).await.get("t-1", None).await.unwrap_err()));
}

#[tokio::test]
async fn a_card_that_repeats_the_credential_does_not_show_it() {
    let server = ModelServer::with_handler(|request| match request.header("authorization") {
        None => PlannedResponse::text(401, "text/plain", "who?"),
        Some(sent) => PlannedResponse::text(403, "text/plain", sent),
    });
    let options = || ClientOptions { credential: Some(credential()), ..ClientOptions::default() };
    check(&format!("{:?}", Client::connect(&server.url(), options()).await.unwrap_err()));
    let server = ModelServer::with_handler(|request| match request.header("authorization") {
        None => PlannedResponse::text(401, "text/plain", "who?"),
        Some(sent) => {
            let interface = json!({"url": "/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"});
            answer(200, json!({"name": "a", "description": sent, "supportedInterfaces": [interface]}))
        }
    });
    check(&Client::connect(&server.url(), options()).await.unwrap().card().description);
}

#[tokio::test]
async fn events_and_tasks_that_repeat_the_credential_do_not_show_it() {
    let event = |sent: &str| -> Value {
        let parts = json!([{"text": sent}, {"data": {"deep": [sent]}}, {"url": sent, "filename": sent}]);
        let message = json!({"messageId": "m", "role": "ROLE_AGENT", "parts": parts});
        let status = json!({"state": "TASK_STATE_COMPLETED", "message": message});
        let artifact = json!({"artifactId": "a", "name": sent, "description": sent, "parts": parts});
        let metadata = json!({"any": sent});
        json!({"id": "t-1", "contextId": "c-1", "status": status, "history": [message], "artifacts": [artifact], "metadata": metadata})
    };
    let server = reflecting(move |sent| {
        let streamed = json!({"result": {"task": event(sent)}});
        PlannedResponse::stream().bytes(format!("data: {streamed}\n\n"))
    });
    let mut stream = connect(&server).await.stream(OutgoingMessage::text("m-1", "hi")).await.unwrap();
    check(&format!("{:?}", stream.next().await.unwrap().unwrap()));
    let server = reflecting(move |sent| answer(200, json!({"result": event(sent)})));
    check(&format!("{:?}", connect(&server).await.get("t-1", None).await.unwrap()));
}
