//! The client against scripted agents, right and wrong ones.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod calls;
mod streams;

use attache_client::{Client, ClientOptions};
use attache_net::Secret;
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use serde_json::{Value, json};

const TOKEN: &str = "token-for-tests-0123";

fn card(binding: &str, url: &str) -> PlannedResponse {
    let interface = json!({"url": url, "protocolBinding": binding, "protocolVersion": "1.0"});
    answer(200, json!({"name": "agent", "supportedInterfaces": [interface]}))
}

fn answer(status: u16, body: Value) -> PlannedResponse {
    PlannedResponse::text(status, "application/json", &body.to_string())
}

fn task(state: &str) -> Value {
    json!({"id": "t-1", "contextId": "c-1", "status": {"state": state}})
}

async fn connect(server: &ModelServer) -> Client {
    let options =
        ClientOptions { token: Some(Secret::new(TOKEN)), max_retries: 3, ..ClientOptions::default() };
    Client::connect(&server.url(), options).await.unwrap()
}
