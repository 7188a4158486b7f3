//! The card for callers who have the token: what it says on every pair, who gets it, and its signatures.

use std::process::Command;

use attache_testkit::{ServerLaunch, ServerProcess, TestClient};
use serde_json::{Value, json};

use crate::support::{SCRIPT, launch};
use attache_testkit::pairs::{Ask, Pair};

const TOKEN: &str = "a-token-of-enough-length";
const PUBLIC: &str = "/.well-known/agent-card.json";

const SETTINGS: &str = r#"
[card]
description = "For everybody"
max_age_seconds = 60
tenants = ["acme"]

[card.extended]
description = "For those we know"
tenants = ["hidden"]

[[card.extended.skills]]
id = "deploy"
name = "Deploy"
description = "Deploys what was built"
tags = ["ops"]

[[card.extended.interfaces]]
url = "https://inside.example/a2a"
binding = "JSONRPC"

[[card.extended.interfaces]]
url = "https://inside.example/old"
binding = "HTTP+JSON"
version = "0.3"
"#;

fn prepared(settings: &str) -> ServerLaunch {
    launch().in_memory().script(SCRIPT).settings(settings).variable("ATTACHE_TOKEN", TOKEN)
}

async fn start() -> ServerProcess {
    prepared(SETTINGS).start().await
}

fn known(server: &ServerProcess) -> TestClient {
    server.client().with("authorization", &format!("Bearer {TOKEN}"))
}

fn skills(card: &Value) -> Vec<&str> {
    card["skills"].as_array().expect("skills").iter().filter_map(|skill| skill["id"].as_str()).collect()
}

fn tenants(card: &Value) -> Vec<&str> {
    let mut named: Vec<_> = card["supportedInterfaces"]
        .as_array()
        .expect("interfaces")
        .iter()
        .filter_map(|it| it["tenant"].as_str())
        .collect();
    named.dedup();
    named
}

#[tokio::test]
async fn the_public_card_promises_it_to_both_versions_and_keeps_quiet_about_the_rest() {
    let server = start().await;
    let card = server.client().get(PUBLIC).await;
    let said = card.json();
    assert_eq!(said["capabilities"]["extendedAgentCard"], true);
    assert_eq!(said["supportsAuthenticatedExtendedCard"], true);
    assert_eq!(said["description"], "For everybody");
    assert_eq!((skills(&said), tenants(&said)), (vec!["coding"], vec!["acme"]));
    for hidden in ["deploy", "inside.example", "hidden", "For those"] {
        assert!(!card.text().contains(hidden), "{hidden}");
    }
}

#[tokio::test]
async fn callers_with_the_token_get_it_on_every_pair() {
    let server = start().await;
    for pair in Pair::ALL {
        let reply = pair.call(&known(&server), &Ask::ExtendedCard).await;
        let card = reply.result();
        assert_eq!(card["description"], "For those we know", "{pair:?}");
        assert_eq!(skills(&card), ["coding", "deploy"], "{pair:?}");
        assert_eq!(tenants(&card), ["acme", "hidden"], "{pair:?}");
        assert_eq!(card["capabilities"]["extendedAgentCard"], true, "{pair:?}");
        let listed = card["supportedInterfaces"].as_array().expect("interfaces");
        let inside = listed.iter().filter(|it| it["url"] == "https://inside.example/a2a").count();
        assert_eq!(inside, 1, "{pair:?}: {listed:?}");
        // 1.0 gets the pure card, 0.3 one that has its own members, too.
        assert_eq!(card.get("url").is_none(), pair.is_v1_0(), "{pair:?}");
        assert_eq!(card.get("supportsAuthenticatedExtendedCard").is_none(), pair.is_v1_0(), "{pair:?}");
        if !pair.is_v1_0() {
            let additional = card["additionalInterfaces"].as_array().expect("interfaces");
            let old = json!({"url": "https://inside.example/old", "transport": "HTTP+JSON"});
            assert!(additional.contains(&old), "{pair:?}: {additional:?}");
        }
        assert_eq!(reply.answer.header("cache-control"), Some("private, max-age=60"), "{pair:?}");
        assert!(reply.answer.header("vary").is_some_and(|vary| vary.contains("Authorization")), "{pair:?}");
    }
}

#[tokio::test]
async fn an_extended_card_without_a_token_stops_the_start() {
    let (code, said) = launch().in_memory().settings(SETTINGS).start_failing().await;
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("extended card") && said.contains("hint: give the server one"), "{said}");
}

#[tokio::test]
async fn a_server_with_keys_signs_the_extended_card_too() {
    let attache = |launch: &ServerLaunch, arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_attache"));
        command.args(arguments).env_clear().env("HOME", launch.folder()).current_dir(launch.folder());
        let output = command.env("ATTACHE_TOKEN", TOKEN).output().expect("attache runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let launch = prepared(&SETTINGS.replace("[card]", "[card]\nsigning_keys = [\"key.jwk\"]"));
    assert_eq!(attache(&launch, &["keys", "new", "--out", "key.jwk"]).0, Some(0));
    let server = launch.start().await;
    let keys = format!("{}/.well-known/jwks.json", server.url());
    for pair in Pair::ALL {
        let card = pair.result(&known(&server), &Ask::ExtendedCard).await;
        assert!(card["signatures"].as_array().is_some_and(|list| !list.is_empty()), "{pair:?}");
        launch.write("card.json", &card.to_string());
        let (code, told) = attache(&launch, &["card", "verify", "card.json", "--keys", &keys, "--whole"]);
        assert_eq!(code, Some(0), "{pair:?}: {told}");
        let (code, told) = attache(&launch, &["card", "lint", "card.json", "--strict"]);
        assert_eq!(code, Some(0), "{pair:?}: {told}");
    }
    let own = ["card", "verify", "--extended", "--config", "attache.toml", "--whole"];
    assert_eq!(attache(&launch, &own).0, Some(0));
    let (code, shown) = attache(&launch, &["card", "show", "--extended", "--config", "attache.toml"]);
    assert_eq!(code, Some(0));
    assert!(shown.contains("Deploy (deploy)"), "{shown}");
}
