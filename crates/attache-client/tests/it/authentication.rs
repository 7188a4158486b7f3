//! Credentials that are refused, got anew, and not repeated.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use attache_client::{
    CardSource, Client, ClientError, ClientOptions, Credential, CredentialError, CredentialRequest,
    CredentialSource, Origin, OutgoingMessage, StreamEvent,
};
use attache_net::Secret;
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use serde_json::{Value, json};

use crate::{answer, card, credential, task};

/// Gives `token-1`, `token-2` and so on, up to the last; then nothing else.
#[derive(Debug)]
struct Rotating {
    given: AtomicUsize,
    last: usize,
    asked: Mutex<Vec<String>>,
}

impl Rotating {
    fn new(last: usize) -> Arc<Self> {
        Arc::new(Self { given: AtomicUsize::new(1), last, asked: Mutex::default() })
    }
}

#[async_trait]
impl CredentialSource for Rotating {
    async fn credential(
        &self,
        request: CredentialRequest<'_>,
    ) -> Result<Option<Credential>, CredentialError> {
        self.asked.lock().unwrap().push(request.target.path().to_owned());
        if request.refused.is_some() {
            if self.given.load(Ordering::SeqCst) >= self.last {
                return Ok(None);
            }
            self.given.fetch_add(1, Ordering::SeqCst);
        }
        let number = self.given.load(Ordering::SeqCst);
        Ok(Some(Credential::bearer(&Secret::new(format!("token-{number}")))))
    }
}

fn tokens(server: &ModelServer) -> Vec<Option<String>> {
    let token = |value: &str| value.trim_start_matches("Bearer ").to_owned();
    server.received().iter().map(|it| it.header("authorization").map(token)).collect()
}

/// An agent whose card is public and that takes one token.
fn agent(binding: &'static str, accepted: &'static str, status: u16) -> ModelServer {
    ModelServer::with_handler(move |received| {
        if received.target.starts_with("/.well-known") {
            return card(binding, "/");
        }
        if received.header("authorization") != Some(accepted) {
            return answer(status, json!({"error": {"code": -32000, "message": "who are you?"}}));
        }
        match (binding, received.header("accept")) {
            (_, Some("text/event-stream")) => {
                let event = json!({"task": task("TASK_STATE_COMPLETED")});
                let event = if binding == "JSONRPC" { json!({ "result": event }) } else { event };
                PlannedResponse::stream().bytes(format!("data: {event}\n\n"))
            }
            ("JSONRPC", _) => answer(200, json!({"result": task("TASK_STATE_COMPLETED")})),
            _ => answer(200, task("TASK_STATE_COMPLETED")),
        }
    })
}

async fn connect(server: &ModelServer, source: Arc<dyn CredentialSource>) -> Client {
    let options = ClientOptions { credential: Some(source), max_retries: 3, ..ClientOptions::default() };
    Client::connect(&server.url(), options).await.unwrap()
}

#[tokio::test]
async fn a_refused_credential_is_got_anew_in_calls_and_streams() {
    for binding in ["JSONRPC", "HTTP+JSON"] {
        for status in [401, 403] {
            let server = agent(binding, "Bearer token-2", status);
            let client = connect(&server, Rotating::new(9)).await;
            client.get("t-1", None).await.unwrap();
            client.get("t-1", None).await.unwrap();
            let sent = tokens(&server);
            let sent: Vec<_> = sent.iter().map(Option::as_deref).collect();
            assert_eq!(sent, [None, Some("token-1"), Some("token-2"), Some("token-2")], "{binding} {status}");

            let server = agent(binding, "Bearer token-3", status);
            let client = connect(&server, Rotating::new(9)).await;
            let mut events = client.stream(OutgoingMessage::text("m-1", "hi")).await.unwrap();
            assert!(matches!(events.next().await, Some(Ok(StreamEvent::Task(_)))), "{binding} {status}");
            assert_eq!(tokens(&server).len(), 4, "the card, two refusals, the stream");
        }
    }
}

#[tokio::test]
async fn at_most_two_more_credentials_are_tried() {
    for binding in ["JSONRPC", "HTTP+JSON"] {
        let server = agent(binding, "never", 401);
        let client = connect(&server, Rotating::new(99)).await;
        let error = client.get("t-1", None).await.unwrap_err();
        assert!(matches!(error, ClientError::Unauthenticated { .. }), "{error:?}");
        let sent: Vec<_> = tokens(&server).into_iter().flatten().collect();
        assert_eq!(sent, ["token-1", "token-2", "token-3"]);
        let error = client.stream(OutgoingMessage::text("m-1", "hi")).await.unwrap_err();
        assert!(matches!(error, ClientError::Unauthenticated { .. }), "{error:?}");
        assert_eq!(tokens(&server).len(), 1 + 3 + 3);
    }
}

#[tokio::test]
async fn an_unchanged_credential_is_not_repeated() {
    let server = agent("JSONRPC", "never", 403);
    let client = connect(&server, credential()).await;
    let error = client.get("t-1", None).await.unwrap_err();
    assert_eq!(error.to_string(), "who are you?");
    assert_eq!(tokens(&server).len(), 2, "the card and one call");
}

#[tokio::test]
async fn a_guarded_card_is_fetched_with_new_credentials_too() {
    for status in [401, 403] {
        let server = ModelServer::with_handler(move |received| match received.header("authorization") {
            Some("Bearer token-3") => card("JSONRPC", "/"),
            _ => answer(status, Value::Null),
        });
        let source = Rotating::new(9);
        connect(&server, source.clone()).await;
        let sent = tokens(&server);
        let sent: Vec<_> = sent.iter().map(Option::as_deref).collect();
        assert_eq!(sent, [None, Some("token-1"), Some("token-2"), Some("token-3")]);
        assert!(source.asked.lock().unwrap().iter().all(|path| path == "/.well-known/agent-card.json"));
    }
}

#[tokio::test]
async fn a_source_is_not_asked_for_an_origin_that_the_caller_did_not_name() {
    let elsewhere = agent("JSONRPC", "never", 401);
    let server = ModelServer::with_responses([card("JSONRPC", &elsewhere.url())]);
    let source = Rotating::new(9);
    let options = ClientOptions { credential: Some(source.clone()), ..ClientOptions::default() };
    Client::connect(&server.url(), options).await.unwrap_err();
    assert_eq!(elsewhere.received().len(), 0);
    assert!(source.asked.lock().unwrap().is_empty());
}

/// Cannot give any.
#[derive(Debug)]
struct Broken;

#[async_trait]
impl CredentialSource for Broken {
    async fn credential(&self, _: CredentialRequest<'_>) -> Result<Option<Credential>, CredentialError> {
        Err(CredentialError::unavailable("helper: auth.key: the variable KEY is not set"))
    }
}

#[tokio::test]
async fn without_a_credential_nothing_is_sent_and_the_reason_is_told() {
    let server = agent("HTTP+JSON", "never", 401);
    let client = connect(&server, Arc::new(Broken)).await;
    let error = client.get("t-1", None).await.unwrap_err();
    assert_eq!(error.to_string(), "helper: auth.key: the variable KEY is not set");
    assert_eq!(server.received().len(), 1, "the public card");
}

#[tokio::test]
async fn the_card_tells_the_source_and_the_caller_how_to_authenticate() {
    let schemes = json!({"k": {"type": "apiKey", "in": "query", "name": "key"}});
    let older = json!({"name": "agent", "url": "/", "protocolVersion": "0.3.0", "securitySchemes": schemes,
        "security": [{"k": []}]});
    let server = ModelServer::with_responses([answer(200, older)]);
    let client = Client::connect(&server.url(), ClientOptions::default()).await.unwrap();
    let missing = client.security().missing(|_| false).unwrap();
    assert!(missing.contains("query parameter key"), "{missing}");
}

#[tokio::test]
async fn no_credential_is_requested_for_a_connection_without_tls() {
    let source = Rotating::new(1);
    let options = || ClientOptions {
        credential: Some(source.clone()),
        allowed_origins: vec![Origin::parse("http://192.0.2.7").unwrap()],
        ..Default::default()
    };
    // No one listens at this address, so a request would end with another error.
    for address in [
        CardSource::Address("http://192.0.2.7".to_owned()),
        CardSource::CardUrl("http://192.0.2.7/card".to_owned()),
    ] {
        let error = Client::connect_to(&address, options()).await.unwrap_err().to_string();
        assert!(error.contains("a credential goes over https only"), "{error}");
    }
    let inline = json!({"supportedInterfaces": [
        {"url": "http://192.0.2.7/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
    ]});
    let client = Client::connect_to(&CardSource::Inline(inline.to_string()), options()).await.unwrap();
    let error = client.get("t-1", None).await.unwrap_err().to_string();
    assert!(error.contains("a credential goes over https only"), "{error}");
    assert_eq!(*source.asked.lock().unwrap(), Vec::<String>::new());
}
