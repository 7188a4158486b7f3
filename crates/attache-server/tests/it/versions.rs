//! Which version a request gets: the header matrix on both bindings.

use attache_testkit::{HttpResponse, TestClient};
use serde_json::{Value, json};

use crate::world::{TestServer, launch};
use attache_testkit::pairs::VERSION;
use attache_testkit::pairs::{Pair, Refusal};

/// How a version is asked for, and what that means.
const ASKED: &[(&str, Asked)] = &[
    ("0.3", Asked::V0_3),
    ("0.3.0", Asked::V0_3),
    ("0.3.17", Asked::V0_3),
    ("1.0", Asked::V1_0),
    ("1.0.0", Asked::V1_0),
    ("1.0.1", Asked::V1_0),
    ("1.1", Asked::Unknown),
    ("2.0", Asked::Unknown),
    ("0.2", Asked::Unknown),
    ("0.30", Asked::Unknown),
    ("10.0", Asked::Unknown),
    ("1", Asked::Unknown),
    ("1.0.", Asked::Unknown),
    ("1.0.x", Asked::Unknown),
    ("1.0-beta", Asked::Unknown),
    ("v1.0", Asked::Unknown),
    ("latest", Asked::Unknown),
    ("1.0,0.3", Asked::Unknown),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Nothing,
    V0_3,
    V1_0,
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Served,
    /// -32601: the version asked for has no such method.
    NoSuchMethod,
    /// -32009, or what it is over REST.
    NoSuchVersion,
}

/// The table: what a method or path that belongs to a version does with what was asked for.
fn expected(pair: Pair, asked: Asked, strict: bool) -> Outcome {
    let mismatch = if pair.is_rest() { Outcome::NoSuchVersion } else { Outcome::NoSuchMethod };
    match (asked, pair.is_v1_0()) {
        (Asked::Unknown, _) => Outcome::NoSuchVersion,
        (Asked::V0_3 | Asked::Nothing, false) | (Asked::V1_0, true) => Outcome::Served,
        (Asked::V1_0, false) | (Asked::V0_3, true) => mismatch,
        (Asked::Nothing, true) if strict => mismatch,
        (Asked::Nothing, true) => Outcome::Served,
    }
}

#[tokio::test]
async fn v1_v4_the_header_decides_as_the_table_says() {
    check_headers(&start(false).await, false).await;
}

#[tokio::test]
async fn v3_a_strict_server_takes_an_absent_version_as_0_3() {
    check_headers(&start(true).await, true).await;
}

async fn check_headers(server: &TestServer, strict: bool) {
    let client = server.client();
    for pair in Pair::ALL {
        check(pair, &client, "", Asked::Nothing, strict).await;
        check(pair, &client.with("A2A-Version", ""), "", Asked::Nothing, strict).await;
        for (value, asked) in ASKED {
            check(pair, &client.with("A2A-Version", value), "", *asked, strict).await;
            check(pair, &client.with("a2a-VERSION", value), "", *asked, strict).await;
        }
    }
}

#[tokio::test]
async fn v2_the_query_parameter_stands_in_for_the_header() {
    for strict in [false, true] {
        let server = start(strict).await;
        let client = server.client();
        for pair in Pair::ALL {
            check(pair, &client, "A2A-Version=", Asked::Nothing, strict).await;
            check(pair, &client, "other=1.0", Asked::Nothing, strict).await;
            for (value, asked) in ASKED {
                check(pair, &client, &format!("A2A-Version={value}"), *asked, strict).await;
            }
            check(pair, &client, "A2A-Version=1%2E0", Asked::V1_0, strict).await;
            check(pair, &client, "x=1&A2A-Version=0.3", Asked::V0_3, strict).await;
        }
    }
}

#[tokio::test]
async fn v2_the_header_wins_over_the_query_parameter() {
    let server = start(false).await;
    for pair in Pair::ALL {
        let other = if pair.is_v1_0() { "0.3" } else { "1.0" };
        let named = server.client().with("A2A-Version", pair.version());
        let asked = if pair.is_v1_0() { Asked::V1_0 } else { Asked::V0_3 };
        check(pair, &named, &format!("A2A-Version={other}"), asked, false).await;
        check(pair, &named, "A2A-Version=9.9", asked, false).await;
        let unknown = server.client().with("A2A-Version", "9.9");
        check(pair, &unknown, &format!("A2A-Version={}", pair.version()), Asked::Unknown, false).await;
    }
}

#[tokio::test]
async fn v4_an_unknown_version_is_answered_with_the_supported_ones() {
    let server = start(false).await;
    for pair in Pair::ALL {
        let refusal = Refusal::read(pair, &ask(pair, &server.client().with("A2A-Version", "2.0"), "").await);
        VERSION.check(pair, &refusal);
        assert_eq!(refusal.metadata["supportedVersions"], "0.3,1.0", "{pair:?}");
        assert!(refusal.message.contains("2.0"), "{}", refusal.message);
    }
    // Also for methods that no version has.
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "nothing"});
    let answer = server.client().with("A2A-Version", "2.0").post("/", &request).await;
    VERSION.check(Pair::Rpc10, &Refusal::read(Pair::Rpc10, &answer));
}

#[tokio::test]
async fn a_refusal_has_the_form_of_the_method_or_path_whatever_the_header_says() {
    let server = start(false).await;
    for pair in Pair::ALL {
        for header in ["0.3", "1.0", "2.0"] {
            let answer = ask(pair, &server.client().with("A2A-Version", header), "").await;
            // Reading it as the pair's own form fails on any other shape.
            if answer.status != 200 || answer.json().get("error").is_some() {
                Refusal::read(pair, &answer);
            }
        }
    }
}

#[tokio::test]
async fn s11_a_stream_is_refused_before_it_opens() {
    let server = start(false).await;
    for pair in Pair::ALL {
        let ask = attache_testkit::pairs::Ask::Stream(pair.text("m1", "stream"));
        let (verb, path, body) = pair.request(&ask);
        let body = body.expect("a body").to_string();
        let client = server.client().with("content-type", "application/json").with("A2A-Version", "3.0");
        let refusal = Refusal::read(pair, &client.call(verb, &path, body.as_bytes()).await);
        VERSION.check(pair, &refusal);
    }
    let health = server.client().get("/health").await.json();
    assert_eq!(health["totalTasks"], 0);
}

#[tokio::test]
async fn a_tenant_cannot_be_called_v1() {
    let server = start(false).await;
    // Else this would be the tenant `v1` of version 1.0.
    let answer = server.client().with("A2A-Version", "1.0").get("/v1/tasks").await;
    let refusal = Refusal::read(Pair::Rest03, &answer);
    assert_eq!(refusal.http, 404, "{refusal:#?}");
}

async fn start(strict: bool) -> TestServer {
    launch().options(move |options| options.strict_version = strict).start().await
}

async fn check(pair: Pair, client: &TestClient, query: &str, asked: Asked, strict: bool) {
    let answer = ask(pair, client, query).await;
    let found = match pair.is_rest() {
        true if answer.status == 200 => Outcome::Served,
        true => rest_outcome(pair, &answer),
        false => match answer.json()["error"]["code"].as_i64() {
            None => Outcome::Served,
            Some(-32601) => Outcome::NoSuchMethod,
            Some(-32009) => Outcome::NoSuchVersion,
            Some(code) => panic!("{pair:?} {asked:?}: unexpected {code}"),
        },
    };
    assert_eq!(
        found,
        expected(pair, asked, strict),
        "{pair:?} {query:?} {asked:?} strict {strict}: {client:?}"
    );
}

fn rest_outcome(pair: Pair, answer: &HttpResponse) -> Outcome {
    VERSION.check(pair, &Refusal::read(pair, answer));
    Outcome::NoSuchVersion
}

/// A send, which every version and binding has.
async fn ask(pair: Pair, client: &TestClient, query: &str) -> HttpResponse {
    let (verb, mut path, body) = pair.request(&attache_testkit::pairs::Ask::Send(pair.text("m1", "echo x")));
    if !query.is_empty() {
        path.push('?');
        path.push_str(query);
    }
    let body: Value = body.expect("a body");
    client.with("content-type", "application/json").call(verb, &path, body.to_string().as_bytes()).await
}
