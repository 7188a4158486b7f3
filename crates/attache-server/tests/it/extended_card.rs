//! The card for authenticated callers: who gets it.

use std::time::Duration;

use attache_testkit::TestClient;
use attache_testkit::pairs::{Ask, Pair, REQUEST_ID};
use serde_json::json;

use crate::world::{TestServer, launch};

const TOKEN: &str = "a-token-of-enough-length";
const PUBLIC: &str = "/.well-known/agent-card.json";

async fn start() -> TestServer {
    let launch = launch().token(TOKEN).tenants(&["acme", "hidden"]).options(|options| {
        options.card_max_age = Duration::from_secs(60);
        options.card.capabilities.extended_agent_card = true;
        let mut extended = options.card.clone();
        extended.description = "Can deploy too".into();
        options.extended_card = Some(extended);
    });
    launch.start().await
}

fn known(server: &TestServer) -> TestClient {
    server.client().with("authorization", &format!("Bearer {TOKEN}"))
}

#[tokio::test]
async fn callers_with_the_token_get_it_on_every_pair() {
    let server = start().await;
    for pair in Pair::ALL {
        let reply = pair.call(&known(&server), &Ask::ExtendedCard).await;
        let card = reply.result();
        assert_eq!(card["description"], "Can deploy too", "{pair:?}");
        assert_eq!(card["capabilities"]["extendedAgentCard"], true, "{pair:?}");
        // 1.0 gets the pure card, 0.3 one that has its own members, too.
        assert_eq!(card.get("url").is_none(), pair.is_v1_0(), "{pair:?}");
        assert_eq!(reply.answer.header("cache-control"), Some("private, max-age=60"), "{pair:?}");
        assert!(reply.answer.header("vary").is_some_and(|vary| vary.contains("Authorization")), "{pair:?}");
    }
}

#[tokio::test]
async fn only_callers_with_the_token_get_it() {
    let server = start().await;
    let wrong = server.client().with("authorization", "Bearer another-token-of-length");
    for client in [server.client(), wrong] {
        for pair in Pair::ALL {
            let reply = pair.call(&client, &Ask::ExtendedCard).await;
            assert_eq!(reply.answer.status, 401, "{pair:?}");
            let scheme = reply.answer.header("www-authenticate").expect("how to do better");
            assert!(scheme.starts_with("Bearer"), "{pair:?}: {scheme}");
            assert!(!reply.answer.text().contains("deploy"), "{pair:?}");
            assert_ne!(reply.answer.header("cache-control"), Some("private, max-age=60"), "{pair:?}");
        }
    }
}

#[tokio::test]
async fn a_server_that_has_none_says_so_to_known_callers_too() {
    let server = launch().token(TOKEN).start().await;
    let card = server.client().get(PUBLIC).await.json();
    assert_eq!(card["capabilities"]["extendedAgentCard"], false);
    assert!(card.get("supportsAuthenticatedExtendedCard").is_none());
    for pair in Pair::ALL {
        let reply = pair.call(&known(&server), &Ask::ExtendedCard).await;
        let refusal = reply.refusal();
        assert_eq!(refusal.code.unwrap_or(-32004), -32004, "{pair:?}");
        if pair.is_v1_0() {
            assert_eq!(refusal.reason.as_deref(), Some("UNSUPPORTED_OPERATION"), "{pair:?}");
        }
        if !pair.is_rest() {
            assert_eq!(refusal.id, REQUEST_ID, "{pair:?}");
        }
    }
}

#[tokio::test]
async fn tenants_ask_for_it_like_everybody_and_hidden_ones_are_served() {
    let server = start().await;
    let client = known(&server).with("A2A-Version", "1.0");
    let whole = client.get("/extendedAgentCard").await.json();
    for tenant in ["acme", "hidden"] {
        let answer = client.get(&format!("/{tenant}/extendedAgentCard")).await;
        assert_eq!((answer.status, answer.json()), (200, whole.clone()), "{tenant}");
        let over_rpc = client.rpc("GetExtendedAgentCard", json!({"tenant": tenant})).await;
        assert_eq!(over_rpc["result"], whole, "{tenant}");
    }
    assert_eq!(client.get("/nobody/extendedAgentCard").await.status, 404);
    let over_rpc = client.rpc("GetExtendedAgentCard", json!({"tenant": "nobody"})).await;
    assert_eq!(over_rpc["error"]["code"], -32602, "{over_rpc}");
}
