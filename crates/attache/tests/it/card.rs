//! The agent card: what it says, in which form, to whom, and how caches are spared.

use attache_testkit::{Client, ServerProcess};
use serde_json::{Value, json};

use crate::errors::EXTENSION_REQUIRED;
use crate::pairs::driver::{Ask, Pair, Refusal};
use crate::support::{SCRIPT, launch};

const PATH: &str = "/.well-known/agent-card.json";
const ALIAS: &str = "/.well-known/agent.json";

const EVERYTHING: &str = r#"
public_url = "https://agent.example/base/"

[card]
name = "Prüf-Agent"
description = "Has a value for every field"
version = "7.8.9"
documentation_url = "https://agent.example/docs"
icon_url = "https://agent.example/icon.png"
max_age_seconds = 120
default_input_modes = ["text/plain", "image/*"]
default_output_modes = ["text/plain"]
tenants = ["acme"]
security = [{ code = ["read", "write"] }, { key = [], mtls = [] }, { device = ["read"] }]

[card.provider]
organization = "Example"
url = "https://example.com"

[[card.skills]]
id = "code"
name = "Code"
description = "Edits code"
tags = ["code", "rust"]
examples = ["Fix the bug"]
input_modes = ["text/plain"]
output_modes = ["text/markdown"]
security = [{ oidc = ["openid"] }]

[[card.skills]]
id = "plain"
name = "Plain"
description = "Has nothing but what is required"

[[card.extensions]]
uri = "https://example.com/ext/one"
description = "The first"
params = { level = 3, deep = { on = true } }

[[card.extensions]]
uri = "https://example.com/ext/two"

[card.security_schemes.key]
type = "api-key"
description = "A key"
location = "header"
name = "X-Key"

[card.security_schemes.basic]
type = "http"
scheme = "basic"

[card.security_schemes.bearer]
type = "http"
scheme = "bearer"
bearer_format = "JWT"

[card.security_schemes.code]
type = "oauth2"
metadata_url = "https://id.example/meta"
[card.security_schemes.code.flow.authorization_code]
authorization_url = "https://id.example/auth"
token_url = "https://id.example/token"
refresh_url = "https://id.example/refresh"
scopes = { read = "Read", write = "Write" }
pkce_required = true

[card.security_schemes.machine]
type = "oauth2"
[card.security_schemes.machine.flow.client_credentials]
token_url = "https://id.example/token"

[card.security_schemes.old]
type = "oauth2"
[card.security_schemes.old.flow.implicit]
authorization_url = "https://id.example/auth"
scopes = { read = "Read" }

[card.security_schemes.older]
type = "oauth2"
[card.security_schemes.older.flow.password]
token_url = "https://id.example/token"

[card.security_schemes.device]
type = "oauth2"
[card.security_schemes.device.flow.device_code]
device_authorization_url = "https://id.example/device"
token_url = "https://id.example/token"
scopes = { read = "Read" }

[card.security_schemes.oidc]
type = "open-id-connect"
url = "https://id.example/.well-known/openid-configuration"

[card.security_schemes.mtls]
type = "mutual-tls"
description = "A client certificate"
"#;

/// The 1.0 form of the settings above, written by hand.
fn pure() -> Value {
    let interface = |url: &str, binding: &str, version: &str, tenant: Option<&str>| {
        let mut interface = json!({"url": url, "protocolBinding": binding, "protocolVersion": version});
        if let Some(tenant) = tenant {
            interface["tenant"] = tenant.into();
        }
        interface
    };
    let (rpc, rest) = ("https://agent.example/base/", "https://agent.example/base");
    json!({
        "name": "Prüf-Agent",
        "description": "Has a value for every field",
        "version": "7.8.9",
        "documentationUrl": "https://agent.example/docs",
        "iconUrl": "https://agent.example/icon.png",
        "provider": {"organization": "Example", "url": "https://example.com"},
        "supportedInterfaces": [
            interface(rpc, "JSONRPC", "1.0", None),
            interface(rest, "HTTP+JSON", "1.0", None),
            interface(rpc, "JSONRPC", "1.0", Some("acme")),
            interface(rest, "HTTP+JSON", "1.0", Some("acme")),
            interface(rpc, "JSONRPC", "0.3", None),
            interface(rest, "HTTP+JSON", "0.3", None),
        ],
        "capabilities": {
            "streaming": true,
            "pushNotifications": false,
            "extendedAgentCard": false,
            "extensions": [
                {
                    "uri": "https://example.com/ext/one",
                    "description": "The first",
                    "params": {"level": 3, "deep": {"on": true}},
                },
                {"uri": "https://example.com/ext/two"},
            ],
        },
        "defaultInputModes": ["text/plain", "image/*"],
        "defaultOutputModes": ["text/plain"],
        "skills": [
            {
                "id": "code",
                "name": "Code",
                "description": "Edits code",
                "tags": ["code", "rust"],
                "examples": ["Fix the bug"],
                "inputModes": ["text/plain"],
                "outputModes": ["text/markdown"],
                "securityRequirements": [{"schemes": {"oidc": {"list": ["openid"]}}}],
            },
            {"id": "plain", "name": "Plain", "description": "Has nothing but what is required", "tags": []},
        ],
        "securitySchemes": wrapped_schemes(),
        "securityRequirements": [
            {"schemes": {"code": {"list": ["read", "write"]}}},
            {"schemes": {"key": {}, "mtls": {}}},
            {"schemes": {"device": {"list": ["read"]}}},
        ],
    })
}

fn wrapped_schemes() -> Value {
    json!({
        "key": {"apiKeySecurityScheme": {"description": "A key", "location": "header", "name": "X-Key"}},
        "basic": {"httpAuthSecurityScheme": {"scheme": "basic"}},
        "bearer": {"httpAuthSecurityScheme": {"scheme": "bearer", "bearerFormat": "JWT"}},
        "code": {"oauth2SecurityScheme": {
            "oauth2MetadataUrl": "https://id.example/meta",
            "flows": {"authorizationCode": {
                "authorizationUrl": "https://id.example/auth",
                "tokenUrl": "https://id.example/token",
                "refreshUrl": "https://id.example/refresh",
                "scopes": {"read": "Read", "write": "Write"},
                "pkceRequired": true,
            }},
        }},
        "machine": {"oauth2SecurityScheme": {
            "flows": {"clientCredentials": {"tokenUrl": "https://id.example/token", "scopes": {}}},
        }},
        "old": {"oauth2SecurityScheme": {
            "flows": {"implicit": {"authorizationUrl": "https://id.example/auth", "scopes": {"read": "Read"}}},
        }},
        "older": {"oauth2SecurityScheme": {
            "flows": {"password": {"tokenUrl": "https://id.example/token", "scopes": {}}},
        }},
        "device": {"oauth2SecurityScheme": {
            "flows": {"deviceCode": {
                "deviceAuthorizationUrl": "https://id.example/device",
                "tokenUrl": "https://id.example/token",
                "scopes": {"read": "Read"},
            }},
        }},
        "oidc": {"openIdConnectSecurityScheme": {
            "openIdConnectUrl": "https://id.example/.well-known/openid-configuration",
        }},
        "mtls": {"mtlsSecurityScheme": {"description": "A client certificate"}},
    })
}

/// What stands beside each wrapper for readers of 0.3.
fn flat_schemes() -> Value {
    json!({
        "key": {"type": "apiKey", "description": "A key", "in": "header", "name": "X-Key"},
        "basic": {"type": "http", "scheme": "basic"},
        "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
        "code": {
            "type": "oauth2",
            "oauth2MetadataUrl": "https://id.example/meta",
            "flows": {"authorizationCode": {
                "authorizationUrl": "https://id.example/auth",
                "tokenUrl": "https://id.example/token",
                "refreshUrl": "https://id.example/refresh",
                "scopes": {"read": "Read", "write": "Write"},
            }},
        },
        "machine": {
            "type": "oauth2",
            "flows": {"clientCredentials": {"tokenUrl": "https://id.example/token", "scopes": {}}},
        },
        "old": {
            "type": "oauth2",
            "flows": {"implicit": {"authorizationUrl": "https://id.example/auth", "scopes": {"read": "Read"}}},
        },
        "older": {
            "type": "oauth2",
            "flows": {"password": {"tokenUrl": "https://id.example/token", "scopes": {}}},
        },
        // 0.3 has no device flow to show.
        "device": {"type": "oauth2", "flows": {}},
        "oidc": {
            "type": "openIdConnect",
            "openIdConnectUrl": "https://id.example/.well-known/openid-configuration",
        },
        "mtls": {"type": "mutualTLS", "description": "A client certificate"},
    })
}

/// The form that readers of both versions understand.
fn superset() -> Value {
    let mut card = pure();
    card["protocolVersion"] = "0.3.0".into();
    card["url"] = "https://agent.example/base/".into();
    card["preferredTransport"] = "JSONRPC".into();
    card["additionalInterfaces"] = json!([
        {"url": "https://agent.example/base/", "transport": "JSONRPC"},
        {"url": "https://agent.example/base", "transport": "HTTP+JSON"},
    ]);
    // The alternative by the device flow is of no use to 0.3.
    card["security"] = json!([{"code": ["read", "write"]}, {"key": [], "mtls": []}]);
    card["skills"][0]["security"] = json!([{"oidc": ["openid"]}]);
    for (name, flat) in flat_schemes().as_object().expect("an object") {
        let scheme = card["securitySchemes"][name].as_object_mut().expect("a scheme");
        scheme.extend(flat.as_object().expect("an object").clone());
    }
    card
}

async fn start(settings: &str) -> ServerProcess {
    launch().forgetful().script(SCRIPT).settings(settings).start().await
}

#[tokio::test]
async fn every_field_comes_from_the_settings_in_the_pure_form() {
    let server = start(EVERYTHING).await;
    let card = server.client().with("A2A-Version", "1.0").get(PATH).await;
    assert_eq!(card.status, 200);
    assert_eq!(card.json(), pure());
}

#[tokio::test]
async fn every_field_comes_from_the_settings_in_the_superset() {
    let server = start(EVERYTHING).await;
    for client in
        [server.client(), server.client().with("A2A-Version", "0.3"), server.client().with("A2A-Version", "")]
    {
        let card = client.get(PATH).await;
        assert_eq!(card.status, 200);
        assert_eq!(card.json(), superset());
    }
}

#[tokio::test]
async fn k1_the_old_path_serves_the_same_documents() {
    let server = start(EVERYTHING).await;
    for client in [server.client(), server.client().with("A2A-Version", "1.0")] {
        let (card, alias) = (client.get(PATH).await, client.get(ALIAS).await);
        assert_eq!(alias.status, 200);
        assert_eq!(alias.body, card.body);
        assert_eq!(alias.header("etag"), card.header("etag"));
    }
}

#[tokio::test]
async fn the_default_card_tells_where_the_server_listens_and_works() {
    let server = launch().forgetful().start().await;
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
        (url.to_owned(), "HTTP+JSON", "0.3"),
    ];
    assert_eq!(interfaces.len(), expected.len());
    for (interface, (url, binding, version)) in interfaces.iter().zip(expected) {
        let expected = json!({"url": url, "protocolBinding": binding, "protocolVersion": version});
        assert_eq!(*interface, expected);
    }
    for member in
        ["provider", "securitySchemes", "securityRequirements", "documentationUrl", "iconUrl", "signatures"]
    {
        assert!(card.get(member).is_none(), "{member} is not set, so it is not there");
    }
}

#[tokio::test]
async fn urls_never_come_from_the_host_header() {
    let server = start("allowed_hosts = [\"attacker.example\"]\n").await;
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
async fn a_server_with_a_token_declares_it_and_says_no_word_of_its_value() {
    let launch = launch().forgetful().variable("ATTACHE_TOKEN", "a-token-of-enough-length");
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
async fn k2_a_card_says_how_it_may_be_kept() {
    let server = start(EVERYTHING).await;
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
async fn k2_a_tag_stays_with_its_content_across_restarts() {
    let launch = launch().forgetful().settings(EVERYTHING);
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
async fn k2_a_client_that_has_the_card_is_not_sent_it_again() {
    let server = start(EVERYTHING).await;
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
    let server = start(EVERYTHING).await;
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
    let server = start(EVERYTHING).await;
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

const EXTENSIONS: &str = r#"
[[card.extensions]]
uri = "https://example.com/required"
required = true
[[card.extensions]]
uri = "https://example.com/optional"
"#;

#[tokio::test]
async fn e5_a_required_extension_must_be_asked_for_on_every_operation() {
    let server = start(EXTENSIONS).await;
    let client = server.client();
    let card = client.get(PATH).await;
    assert_eq!(card.status, 200, "the card can be read without it");
    assert_eq!(card.json()["capabilities"]["extensions"][0]["required"], true);
    assert!(card.json()["capabilities"]["extensions"][1].get("required").is_none());
    for pair in Pair::ALL {
        let task = || "no-such-task".to_owned();
        for ask in [
            Ask::Send(pair.text("m1", "echo x")),
            Ask::Stream(pair.text("m1", "echo x")),
            Ask::Get(task()),
            Ask::Cancel(task()),
            Ask::Subscribe(task()),
            Ask::PushCreate(task()),
            Ask::PushGet(task()),
            Ask::PushList(task()),
            Ask::PushDelete(task()),
            Ask::ExtendedCard,
        ] {
            let what = "https://example.com/required";
            EXTENSION_REQUIRED.refuses(pair, &client, &ask, what).await;
            let other =
                client.with("A2A-Extensions", "https://example.com/optional, https://example.com/Required");
            EXTENSION_REQUIRED.refuses(pair, &other, &ask, what).await;
        }
    }
    let listed = Refusal::read(Pair::Rest10, &client.get("/tasks").await);
    EXTENSION_REQUIRED.check(Pair::Rest10, &listed);
    assert_eq!(client.get("/health").await.json()["totalTasks"], 0);
}

#[tokio::test]
async fn e2_e4_extensions_are_asked_for_and_confirmed_by_the_header_of_the_version() {
    let server = start(EXTENSIONS).await;
    let (required, optional) = ("https://example.com/required", "https://example.com/optional");
    for pair in Pair::ALL {
        let (name, other) = match pair.is_v1_0() {
            true => ("a2a-extensions", "x-a2a-extensions"),
            false => ("x-a2a-extensions", "a2a-extensions"),
        };
        for (asked, confirmed) in [
            (required.to_owned(), vec![required]),
            (format!(" {optional} ,{required}"), vec![optional, required]),
            (format!("{required},https://example.com/unknown"), vec![required]),
            (format!("{required},{required}/v2,{optional}x"), vec![required]),
        ] {
            let client = server.client().with(name, &asked);
            let reply = pair.call(&client, &Ask::Send(pair.text("m1", "echo x"))).await;
            assert_eq!(reply.answer.status, 200, "{pair:?} {asked}: {}", reply.answer.text());
            let header = reply.answer.header(name).expect("the activated ones");
            let found: Vec<_> = header.split(',').map(str::trim).collect();
            assert_eq!(found, confirmed, "{pair:?} {asked}");
            assert_eq!(reply.answer.header(other), None, "{pair:?}: only the name of the version");
            let stream = pair.stream(&client, &Ask::Stream(pair.text("m1", "echo x"))).await;
            assert_eq!(stream.header(name), Some(header), "{pair:?}: on streams too");
        }
        if !pair.is_v1_0() {
            let client = server.client().with("A2A-Extensions", required);
            let reply = pair.call(&client, &Ask::Send(pair.text("m1", "echo x"))).await;
            assert_eq!(reply.answer.header("x-a2a-extensions"), Some(required), "0.3 may use either name");
        }
    }
}

#[tokio::test]
async fn e2_several_header_lines_are_one_list() {
    let server = start(EXTENSIONS).await;
    let request = b"GET /tasks HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\na2a-version: 1.0\r\n\
          A2A-Extensions: https://example.com/optional\r\nA2A-Extensions: https://example.com/required\r\n\r\n";
    let answer = server.client().raw(request).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("https://example.com/optional, https://example.com/required"), "{answer}");
}

#[tokio::test]
async fn e3_extensions_nobody_declared_are_passed_over_and_not_confirmed() {
    let server = launch().forgetful().script(SCRIPT).start().await;
    for pair in Pair::ALL {
        let client: Client = server
            .client()
            .with("A2A-Extensions", "https://example.com/x")
            .with("X-A2A-Extensions", "https://example.com/x");
        let reply = pair.call(&client, &Ask::Send(pair.text("m1", "echo x"))).await;
        assert_eq!(reply.answer.status, 200);
        assert_eq!(
            (reply.answer.header("a2a-extensions"), reply.answer.header("x-a2a-extensions")),
            (None, None)
        );
    }
}
