//! Where cards are found, and where they may lead.

use attache_card::{Algorithm, ExistingSignatures, KeyLifetime, KeySet, SigningKey};
use attache_client::{
    CardCache, CardSource, Client, ClientError, ClientOptions, InterfaceHost, Origin, SignatureCheck,
    SignaturePolicy,
};
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use serde_json::{Value, json};

use crate::{TOKEN, answer, card, credential, task};

fn page(status: u16) -> PlannedResponse {
    PlannedResponse::text(status, "text/html", "<h1>hello</h1>")
}

fn targets(server: &ModelServer) -> Vec<String> {
    server.received().iter().map(|request| request.target.clone()).collect()
}

async fn try_connect(address: &str, options: ClientOptions) -> Result<Client, ClientError> {
    Client::connect(address, options).await
}

#[tokio::test]
async fn a_base_address_gets_both_well_known_paths_and_then_itself() {
    let server = ModelServer::with_responses([page(404), page(200), card("JSONRPC", "/rpc")]);
    let client = try_connect(&format!("{}/agents/one", server.url()), Default::default()).await.unwrap();
    assert_eq!(client.url(), format!("{}/rpc", server.url()));
    assert_eq!(
        targets(&server),
        ["/agents/one/.well-known/agent-card.json", "/agents/one/.well-known/agent.json", "/agents/one"]
    );
    let greeting = answer(200, json!({"message": "welcome"}));
    let server = ModelServer::with_responses([page(404), page(404), greeting]);
    let error = try_connect(&format!("{}/api", server.url()), Default::default()).await.unwrap_err();
    assert!(matches!(error, ClientError::NoCard { .. }), "a document that is no card: {error}");
    let server = ModelServer::with_responses([page(404), page(404)]);
    let error = try_connect(&server.url(), Default::default()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no card there; looked at /.well-known/agent-card.json, /.well-known/agent.json"
    );
}

#[tokio::test]
async fn a_refusal_at_the_first_path_does_not_hide_the_card_at_the_second() {
    for status in [400, 403] {
        let server = ModelServer::with_responses([page(status), card("JSONRPC", "/rpc")]);
        try_connect(&server.url(), Default::default()).await.unwrap();
        let server = ModelServer::with_responses([page(status), page(404)]);
        let error = try_connect(&server.url(), Default::default()).await.unwrap_err();
        assert!(matches!(error, ClientError::Status { status: told, .. } if told == status), "{error}");
    }
}

#[tokio::test]
async fn the_url_of_a_card_is_fetched_as_it_is() {
    let server = ModelServer::with_responses([card("JSONRPC", "/"), card("JSONRPC", "/")]);
    try_connect(&format!("{}/cards/mine.json", server.url()), Default::default()).await.unwrap();
    let source = CardSource::CardUrl(format!("{}/agent-card", server.url()));
    Client::connect_to(&source, Default::default()).await.unwrap();
    assert_eq!(targets(&server), ["/cards/mine.json", "/agent-card"]);
}

#[tokio::test]
async fn a_card_is_asked_for_without_the_credential_first() {
    for status in [401, 403] {
        let server = ModelServer::with_responses([answer(status, json!({})), card("JSONRPC", "/")]);
        let options = ClientOptions { credential: Some(credential()), ..Default::default() };
        try_connect(&server.url(), options).await.unwrap();
        let received = server.received();
        assert_eq!(received[0].header("authorization"), None);
        assert_eq!(received[1].header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));
    }
    let server = ModelServer::with_responses([answer(401, json!({"error": {"message": "no"}}))]);
    let error = try_connect(&server.url(), Default::default()).await.unwrap_err();
    assert!(matches!(error, ClientError::Unauthenticated { .. }), "{error:?}");
}

#[tokio::test]
async fn another_origin_is_neither_followed_nor_rewritten() {
    let elsewhere = ModelServer::with_responses([
        answer(200, task("TASK_STATE_WORKING")),
        answer(200, task("TASK_STATE_WORKING")),
    ]);
    let names_it = || card("HTTP+JSON", &elsewhere.url());
    let server = ModelServer::with_responses([names_it(), names_it(), names_it()]);
    let options = || ClientOptions { credential: Some(credential()), ..Default::default() };
    let error = try_connect(&server.url(), options()).await.unwrap_err();
    let said = format!(
        "its card names {}, but comes from {}; that is another origin, so it was not followed",
        elsewhere.url(),
        server.url()
    );
    assert_eq!(error.to_string(), said);

    let allowed_origins = vec![Origin::parse(&elsewhere.url()).unwrap()];
    let client = try_connect(&server.url(), ClientOptions { allowed_origins, ..options() }).await.unwrap();
    client.get("t-1", None).await.unwrap();
    assert_eq!(elsewhere.received()[0].header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));

    let host = ClientOptions { interface_host: InterfaceHost::Given, ..options() };
    let client = try_connect(&server.url(), host).await.unwrap();
    assert_eq!(client.url(), format!("{}/", server.url()), "the caller asked for it");
}

#[tokio::test]
async fn a_redirect_of_a_card_stays_at_its_origin() {
    let moved = |to: &str| PlannedResponse::text(302, "text/plain", "").header("location", to);
    let server = ModelServer::with_responses([moved("/new/card.json"), card("JSONRPC", "/")]);
    try_connect(&server.url(), Default::default()).await.unwrap();
    assert_eq!(targets(&server), ["/.well-known/agent-card.json", "/new/card.json"]);

    let elsewhere = ModelServer::with_responses([card("JSONRPC", "/")]);
    let server = ModelServer::with_responses([moved(&elsewhere.url())]);
    let options = ClientOptions { credential: Some(credential()), ..Default::default() };
    let error = try_connect(&server.url(), options).await.unwrap_err();
    let said = format!("a redirect of its card leads to {}, but comes from", elsewhere.url());
    assert!(error.to_string().contains(&said), "{error}");
    assert_eq!(elsewhere.received().len(), 0);
}

#[tokio::test]
async fn a_redirect_of_a_card_may_lead_to_an_allowed_origin() {
    let elsewhere = ModelServer::with_responses([
        answer(401, json!({})),
        card("HTTP+JSON", "/"),
        answer(200, task("TASK_STATE_WORKING")),
    ]);
    let moved = PlannedResponse::text(302, "text/plain", "").header("location", &elsewhere.url());
    let server = ModelServer::with_responses([moved]);
    let allowed_origins = vec![Origin::parse(&elsewhere.url()).unwrap()];
    let options = ClientOptions { credential: Some(credential()), allowed_origins, ..Default::default() };
    let client = try_connect(&server.url(), options).await.unwrap();
    assert_eq!(client.url(), format!("{}/", elsewhere.url()), "a relative URL is below the card's own");
    client.get("t-1", None).await.unwrap();
    let authorizations: Vec<bool> =
        elsewhere.received().iter().map(|it| it.header("authorization").is_some()).collect();
    assert_eq!(authorizations, [false, true, true], "the flag named this origin");
    assert_eq!(server.received()[0].header("authorization"), None);
}

#[tokio::test]
async fn a_credential_does_not_travel_in_the_clear() {
    let inline = json!({"supportedInterfaces": [
        {"url": "http://192.0.2.7/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
    ]});
    let allowed_origins = vec![Origin::parse("http://192.0.2.7").unwrap()];
    let options = ClientOptions { credential: Some(credential()), allowed_origins, ..Default::default() };
    let client = Client::connect_to(&CardSource::Inline(inline.to_string()), options).await.unwrap();
    let error = client.get("t-1", None).await.unwrap_err();
    assert!(error.to_string().contains("a credential goes over https only"), "{error}");
}

#[tokio::test]
async fn a_card_has_a_largest_size_and_is_json() {
    let large = PlannedResponse::text(200, "application/json", &"x".repeat(2 << 20));
    let server = ModelServer::with_responses([large]);
    let error = try_connect(&server.url(), Default::default()).await.unwrap_err();
    assert!(error.to_string().contains("larger than"), "{error}");
    let server = ModelServer::with_responses([page(200), page(200)]);
    let error = try_connect(&server.url(), Default::default()).await.unwrap_err();
    assert!(matches!(&error, ClientError::Malformed { .. }), "{error:?}");
}

#[tokio::test]
async fn a_known_card_is_kept_while_it_is_fresh_and_then_asked_about() {
    let tagged =
        |control: &str| card("JSONRPC", "/").header("etag", "W/\"7\"").header("cache-control", control);
    for (control, asked) in [("public, max-age=60", 1), ("no-cache", 2)] {
        let same = PlannedResponse::text(304, "application/json", "");
        let server = ModelServer::with_responses([tagged(control), same]);
        let cards = CardCache::default();
        for _ in 0..2 {
            let options = ClientOptions { cards: cards.clone(), ..Default::default() };
            assert_eq!(try_connect(&server.url(), options).await.unwrap().card().name, "agent");
        }
        let received = server.received();
        assert_eq!(received.len(), asked, "{control}");
        assert!(received[1..].iter().all(|it| it.header("if-none-match") == Some("W/\"7\"")));
    }
}

#[tokio::test]
async fn a_card_that_is_forgotten_is_fetched_again_and_the_others_stay() {
    let fresh = || card("JSONRPC", "/").header("cache-control", "max-age=60");
    let servers = [(); 2].map(|()| ModelServer::with_handler(move |_| fresh()));
    let cards = CardCache::default();
    for _ in 0..2 {
        for server in &servers {
            let options = ClientOptions { cards: cards.clone(), ..Default::default() };
            try_connect(&server.url(), options).await.unwrap();
        }
        cards.forget(&CardSource::Address(servers[0].url()));
    }
    assert_eq!(servers.map(|server| server.received().len()), [2, 1]);
}

#[test]
fn the_origin_of_an_inline_card_is_that_of_its_first_interface() {
    for card in [
        json!({"name": "a", "url": "https://a.example/x"}),
        json!({"name": "a", "supportedInterfaces": [
            {"url": "https://a.example/x", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
            {"url": "https://b.example/x", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
        ]}),
    ] {
        let origin = CardSource::Inline(card.to_string()).origin().unwrap();
        assert_eq!(origin.to_string(), "https://a.example", "{card}");
    }
    assert!(CardSource::Inline("{}".to_owned()).origin().is_err());
}

fn signed(key: &SigningKey) -> Value {
    let card = json!({
        "name": "agent", "description": "d", "version": "1", "capabilities": {}, "skills": [],
        "supportedInterfaces": [{"url": "/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
    });
    let keys = std::slice::from_ref(key);
    let card = attache_card::sign(card.as_object().unwrap(), keys, None, ExistingSignatures::Keep);
    Value::Object(card.unwrap())
}

#[tokio::test]
async fn a_card_without_a_signature_that_counts_is_told_or_refused() {
    let key = SigningKey::generate(Algorithm::Es256, KeyLifetime::default()).unwrap();
    let keys = KeySet::of([key.public().clone()]);
    let good = signed(&key);
    let mut bad = good.clone();
    bad["name"] = "other".into();
    for (card, policy, expected) in [
        (&good, SignaturePolicy::Require, Ok(0)),
        (&bad, SignaturePolicy::Ignore, Ok(0)),
        (&bad, SignaturePolicy::Warn, Ok(1)),
        (&bad, SignaturePolicy::Require, Err("signature")),
    ] {
        let server = ModelServer::with_responses([answer(200, card.clone())]);
        let signatures = SignatureCheck { keys: keys.clone(), policy, ..Default::default() };
        let found = try_connect(&server.url(), ClientOptions { signatures, ..Default::default() }).await;
        match (found, expected) {
            (Ok(client), Ok(notices)) => {
                assert_eq!(client.notices().len(), notices, "{:?}", client.notices())
            }
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (found, expected) => panic!("{found:?}, expected {expected:?}"),
        }
    }
}
