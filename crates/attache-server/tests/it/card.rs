//! The public card and the addresses it names, and how caches are spared.

use std::time::Duration;

use serde_json::json;

use crate::world::{TestServer, launch, message};

const PATH: &str = "/.well-known/agent-card.json";
const ALIAS: &str = "/.well-known/agent.json";

async fn start() -> TestServer {
    launch().options(|options| options.card_max_age = Duration::from_secs(120)).start().await
}

#[tokio::test]
async fn urls_never_come_from_the_host_header() {
    let server =
        launch().options(|options| options.allowed_hosts.push("attacker.example".into())).start().await;
    let plain = server.client().get(PATH).await;
    for host in ["attacker.example", "attacker.example:99", "localhost:1"] {
        let client = server.client().with("host", host).with("x-forwarded-host", "attacker.example");
        let client = client.with("x-forwarded-proto", "https").with("forwarded", "host=attacker.example");
        let card = client.get(PATH).await;
        assert_eq!(card.status, 200, "{host}: {}", card.text());
        assert_eq!(card.body, plain.body, "{host}");
        assert!(!card.text().contains("attacker"), "{host}");
    }
}

#[tokio::test]
async fn k2_a_card_says_how_it_may_be_kept() {
    let server = start().await;
    let card = server.client().get(PATH).await;
    assert_eq!(card.header("content-type"), Some("application/json"));
    assert_eq!(card.header("cache-control"), Some("public, max-age=120"));
    assert_eq!(card.header("vary"), Some("A2A-Version"));
    let etag = card.header("etag").expect("a tag");
    assert!(etag.starts_with("W/\"") && etag.ends_with('"'), "{etag}");
    let modified = card.header("last-modified").expect("a date");
    assert!(modified.ends_with(" GMT"), "{modified}");
    let pure = server.client().with("A2A-Version", "1.0").get(PATH).await;
    assert_ne!(pure.header("etag"), Some(etag), "each form has its own tag");
    assert_eq!(pure.header("vary"), Some("A2A-Version"));
}

#[tokio::test]
async fn k2_a_client_that_has_the_card_is_not_sent_it_again() {
    let server = start().await;
    let client = server.client();
    let card = client.get(PATH).await;
    let tag = card.header("etag").expect("a tag").to_owned();
    let strong = tag.trim_start_matches("W/").to_owned();
    for known in [
        tag.clone(),
        strong.clone(),
        "*".to_owned(),
        format!("\"other\", {tag}"),
        format!("{strong},\"other\""),
        format!("W/\"a\" , W/\"b\" ,  {tag}  "),
    ] {
        let answer = client.with("if-none-match", &known).get(PATH).await;
        assert_eq!(answer.status, 304, "{known}");
        assert_eq!(answer.header("etag"), Some(tag.as_str()), "{known}");
        for kept in ["cache-control", "vary", "last-modified"] {
            assert_eq!(answer.header(kept), card.header(kept), "{kept}");
        }
    }
    for unknown in ["\"other\"", "W/\"other\", \"third\"", "", strong.trim_matches('"')] {
        assert_eq!(client.with("if-none-match", unknown).get(PATH).await.status, 200, "{unknown:?}");
    }
    let pure = client.with("A2A-Version", "1.0").with("if-none-match", &tag).get(PATH).await;
    assert_eq!(pure.status, 200, "the tag of one form does not stand for the other");
}

#[tokio::test]
async fn k2_a_date_serves_where_there_is_no_tag() {
    let server = start().await;
    let client = server.client();
    let modified = client.get(PATH).await.header("last-modified").expect("a date").to_owned();
    for (since, expected) in [
        (modified.as_str(), 304),
        ("Mon, 01 Jan 2120 00:00:00 GMT", 304),
        ("Wed, 01 Jan 2020 00:00:00 GMT", 200),
        ("yesterday", 200),
    ] {
        let answer = client.with("if-modified-since", since).get(PATH).await;
        assert_eq!(answer.status, expected, "{since}");
    }
    let both = client.with("if-modified-since", &modified).with("if-none-match", "\"other\"");
    assert_eq!(both.get(PATH).await.status, 200, "the tag counts before the date");
}

#[tokio::test]
async fn k2_head_sends_everything_but_the_card() {
    let server = start().await;
    for path in [PATH, ALIAS] {
        let card = server.client().get(path).await;
        let head = server.client().call("HEAD", path, b"").await;
        assert_eq!(head.status, 200);
        for name in ["etag", "cache-control", "vary", "last-modified", "content-type", "content-length"] {
            assert_eq!(head.header(name), card.header(name), "{name}");
        }
        let request = format!("HEAD {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        let raw = server.client().raw(request.as_bytes()).await;
        assert!(raw.ends_with("\r\n\r\n"), "nothing follows the head");
    }
}

#[tokio::test]
async fn another_name_of_the_json_rpc_interface_serves_the_same() {
    let server = start().await;
    let send =
        json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": message("m1", "echo hi")});
    let sent = server.client().post("/a2a", &send).await.json();
    assert_eq!(sent["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED", "{sent:#}");
    assert_eq!(server.client().get("/a2a").await.status, 405);
    let refused = server.client().with("host", "elsewhere.example").post("/a2a", &send).await.json();
    assert_eq!(refused["jsonrpc"], "2.0", "refused in the words of JSON-RPC: {refused}");
    // Its clients may leave out the kind of a part, which 0.3 asks for everywhere else.
    let message = json!({"messageId": "m2", "role": "user", "parts": [{"text": "echo hi"}]});
    let send = json!({"jsonrpc": "2.0", "id": 2, "method": "message/send", "params": {"message": message}});
    let sent = server.client().post("/a2a", &send).await.json();
    assert_eq!(sent["result"]["status"]["state"], "completed", "{sent:#}");
    let refused = server.client().post("/", &send).await.json();
    assert_eq!(refused["error"]["code"], -32602, "{refused:#}");
}
