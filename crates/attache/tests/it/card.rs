//! The agent card: what it says, in which form, to whom, and how caches are spared.

mod documents;

use attache_testkit::ServerProcess;
use serde_json::json;

use crate::support::{SCRIPT, launch};
use documents::{EVERYTHING, pure, superset};

const PATH: &str = "/.well-known/agent-card.json";
const ALIAS: &str = "/.well-known/agent.json";

async fn start(settings: &str) -> ServerProcess {
    launch().in_memory().script(SCRIPT).settings(settings).start().await
}

#[tokio::test]
async fn k1_every_field_comes_from_the_settings_in_both_forms_and_under_both_paths() {
    let server = start(EVERYTHING).await;
    let client = server.client();
    for (client, expected) in [
        (client.with("A2A-Version", "1.0"), pure()),
        (client.clone(), superset()),
        (client.with("A2A-Version", "0.3"), superset()),
        (client.with("A2A-Version", ""), superset()),
    ] {
        let (card, alias) = (client.get(PATH).await, client.get(ALIAS).await);
        assert_eq!((card.status, alias.status), (200, 200));
        assert_eq!(card.json(), expected);
        assert_eq!(alias.body, card.body);
        assert_eq!(alias.header("etag"), card.header("etag"));
    }
}

#[tokio::test]
async fn one_form_can_be_served_to_all_clients() {
    for (form, url, interfaces) in [("1.0", false, true), ("0.3", true, false)] {
        let server = start(&format!("[card]\nform = \"{form}\"\n")).await;
        for client in [server.client(), server.client().with("A2A-Version", "1.0")] {
            let (card, alias) = (client.get(PATH).await, client.get(ALIAS).await);
            assert_eq!(alias.body, card.body);
            let card = card.json();
            assert_eq!(card.get("url").is_some(), url, "{form}: {card:#}");
            assert_eq!(card.get("supportedInterfaces").is_some(), interfaces, "{form}: {card:#}");
            let history = card["capabilities"].get("stateTransitionHistory").is_some();
            assert_eq!(history, url, "{form}: only 0.3 has it");
        }
    }
}

#[tokio::test]
async fn the_default_card_tells_where_the_server_listens_and_works() {
    let server = launch().in_memory().start().await;
    let client = server.client();
    let card = client.with("A2A-Version", "1.0").get(PATH).await.json();
    for member in ["name", "description", "version", "supportedInterfaces", "capabilities", "skills"] {
        assert!(card.get(member).is_some(), "{member} is required");
    }
    let url = server.url();
    let interfaces: Vec<_> = card["supportedInterfaces"].as_array().expect("interfaces").clone();
    let expected = [
        (format!("{url}/"), "JSONRPC", "1.0"),
        (url.to_owned(), "HTTP+JSON", "1.0"),
        (format!("{url}/"), "JSONRPC", "0.3"),
        (format!("{url}/rest"), "HTTP+JSON", "0.3"),
    ];
    assert_eq!(interfaces.len(), expected.len());
    for (interface, (url, binding, version)) in interfaces.iter().zip(expected) {
        let expected = json!({"url": url, "protocolBinding": binding, "protocolVersion": version});
        assert_eq!(*interface, expected);
    }
    let provider = json!({"organization": "attache", "url": format!("{url}/")});
    assert_eq!(card["provider"], provider, "clients read it without asking whether it is there");
    assert_eq!(card["skills"][0]["inputModes"], card["defaultInputModes"]);
    assert_eq!(card["skills"][0]["outputModes"], card["defaultOutputModes"]);
    for member in ["securitySchemes", "securityRequirements", "documentationUrl", "iconUrl", "signatures"] {
        assert!(card.get(member).is_none(), "{member} is not set, so it is not there");
    }
}

#[tokio::test]
async fn a_server_with_a_token_declares_it_and_says_no_word_of_its_value() {
    let launch = launch().in_memory().variable("ATTACHE_TOKEN", "a-token-of-enough-length");
    let server = launch.start().await;
    let card = server.client().get(PATH).await;
    assert!(!card.text().contains("a-token-of-enough-length"));
    let card = card.json();
    let scheme = &card["securitySchemes"]["bearer"];
    assert_eq!(scheme["httpAuthSecurityScheme"]["scheme"], "bearer");
    assert_eq!((&scheme["type"], &scheme["scheme"]), (&json!("http"), &json!("bearer")));
    assert_eq!(card["securityRequirements"], json!([{"schemes": {"bearer": {}}}]));
    assert_eq!(card["security"], json!([{"bearer": []}]));
}

#[tokio::test]
async fn k2_a_tag_stays_with_its_content_across_restarts() {
    let launch = launch().in_memory().settings(EVERYTHING);
    let server = launch.start().await;
    let before = server.client().get(PATH).await;
    server.kill().await;
    let server = launch.start().await;
    let after = server.client().get(PATH).await;
    assert_eq!(before.header("etag"), after.header("etag"));
    server.kill().await;
    launch.write("attache.toml", &EVERYTHING.replace("7.8.9", "7.9.0"));
    let server = launch.start().await;
    let changed = server.client().get(PATH).await;
    assert_ne!(before.header("etag"), changed.header("etag"));
    let tag = before.header("etag").expect("a tag");
    assert_eq!(server.client().with("if-none-match", tag).get(PATH).await.status, 200);
}

#[tokio::test]
async fn the_card_lists_an_interface_of_each_tenant_for_1_0_only() {
    let server = start("[card]\ntenants = [\"acme\", \"other\"]\n").await;
    let client = server.client().with("A2A-Version", "1.0");
    let card = client.get("/.well-known/agent-card.json").await.json();
    let interfaces = card["supportedInterfaces"].as_array().expect("interfaces");
    for tenant in ["acme", "other"] {
        let theirs: Vec<_> = interfaces.iter().filter(|it| it["tenant"] == tenant).collect();
        assert!(theirs.len() >= 2, "one for each binding: {interfaces:#?}");
        assert!(theirs.iter().all(|it| it["protocolVersion"] == "1.0"), "0.3 knows no tenants: {theirs:?}");
    }
}
