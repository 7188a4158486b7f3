//! The client against scripted agents, right and wrong ones.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod authentication;
mod calls;
mod discovery;
mod endings;
mod hostile;
mod interfaces;
mod lenient;
mod reflected;
mod streams;
mod versions;

use std::sync::Arc;

use attache_client::{Client, ClientOptions, CredentialSource, FixedCredential};
use attache_net::Secret;
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use serde_json::{Value, json};

const TOKEN: &str = "token-for-tests-0123";

/// A card that offers one interface of 1.0. A relative URL is at the scripted agent.
fn card(binding: &str, url: &str) -> PlannedResponse {
    let interface = json!({"url": url, "protocolBinding": binding, "protocolVersion": "1.0"});
    let capabilities = json!({"streaming": true});
    answer(200, json!({"name": "agent", "supportedInterfaces": [interface], "capabilities": capabilities}))
}

fn answer(status: u16, body: Value) -> PlannedResponse {
    PlannedResponse::text(status, "application/json", &body.to_string())
}

fn task(state: &str) -> Value {
    json!({"id": "t-1", "contextId": "c-1", "status": {"state": state}})
}

fn credential() -> Arc<dyn CredentialSource> {
    FixedCredential::bearer(&Secret::new(TOKEN))
}

async fn connect(server: &ModelServer) -> Client {
    let options =
        ClientOptions { credential: Some(credential()), max_retries: 3, ..ClientOptions::default() };
    Client::connect(&server.url(), options).await.unwrap()
}
