//! Cards without a fault, and the findings about changed ones.

use attache_card::lint::{Finding, lint};
use serde_json::{Value, json};

pub(crate) fn pure() -> Value {
    json!({
        "name": "n", "description": "d", "version": "1",
        "supportedInterfaces": [{"url": "https://a.example/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "capabilities": {"streaming": true}, "defaultInputModes": ["text/plain"], "defaultOutputModes": ["image/*"],
        "skills": [{"id": "s", "name": "S", "description": "d", "tags": ["t"]}]
    })
}

pub(crate) fn older() -> Value {
    json!({
        "protocolVersion": "0.3.0", "name": "n", "description": "d", "version": "1",
        "url": "https://a.example/", "preferredTransport": "JSONRPC",
        "capabilities": {}, "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "s", "name": "S", "description": "d", "tags": ["t"]}]
    })
}

pub(crate) fn superset() -> Value {
    let mut card = pure();
    let interface =
        json!({"url": "https://a.example/", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"});
    card["supportedInterfaces"].as_array_mut().unwrap().push(interface);
    for name in ["protocolVersion", "url", "preferredTransport"] {
        card[name] = older()[name].clone();
    }
    card
}

/// `base` with members changed by JSON pointers; null removes.
pub(crate) fn changed(mut base: Value, changes: &[(&str, Value)]) -> Value {
    for (pointer, value) in changes {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        let parent = base.pointer_mut(parent).unwrap();
        match (parent, value) {
            (Value::Object(members), Value::Null) => drop(members.remove(name)),
            (Value::Object(members), value) => drop(members.insert(name.to_owned(), value.clone())),
            (Value::Array(items), value) if name == "-" => items.push(value.clone()),
            (Value::Array(items), value) => items[name.parse::<usize>().unwrap()] = value.clone(),
            _ => panic!("{pointer}"),
        }
    }
    base
}

pub(crate) fn told(finding: &Finding) -> String {
    let version = finding.version.map(|version| format!(" ({version})")).unwrap_or_default();
    format!("{} {} {}: {}{version}", finding.severity, finding.rule.name, finding.path, finding.words)
}

/// Each expected text is the beginning of one finding, and there are no others.
#[track_caller]
pub(crate) fn check(base: fn() -> Value, changes: &[(&str, Value)], expected: &[&str]) {
    let card = changed(base(), changes);
    let found: Vec<String> = lint(card.to_string().as_bytes()).iter().map(told).collect();
    let same = found.len() == expected.len()
        && expected.iter().all(|expected| found.iter().any(|found| found.starts_with(expected)));
    assert!(same, "found {found:#?}\nexpected {expected:#?}");
}

/// Every member of 0.3's protobuf definition, as it is written in JSON.
pub(crate) fn protobuf() -> Value {
    json!({
        "protocolVersion": "0.3.0", "name": "n", "description": "d", "version": "1",
        "url": "https://a.example/rpc", "preferredTransport": "JSONRPC",
        "additionalInterfaces": [
            {"url": "https://a.example/rpc", "transport": "JSONRPC"},
            {"url": "https://a.example", "transport": "HTTP+JSON", "tenant": "blue"}],
        "provider": {"url": "https://a.example", "organization": "o"},
        "documentationUrl": "https://a.example/docs", "iconUrl": "https://a.example/icon.png",
        "capabilities": {"streaming": true, "pushNotifications": true,
            "extensions": [{"uri": "https://a.example/x", "description": "d", "required": false, "params": {"a": 1}}]},
        "securitySchemes": {
            "key": {"apiKeySecurityScheme": {"location": "header", "name": "X-Key", "description": "d"}},
            "bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer", "bearerFormat": "JWT"}},
            "oauth": {"oauth2SecurityScheme": {"oauth2MetadataUrl": "https://id.example/m", "flows": {"clientCredentials":
                {"tokenUrl": "https://id.example/t", "refreshUrl": "https://id.example/r", "scopes": {"read": "r"}}}}},
            "oidc": {"openIdConnectSecurityScheme": {"openIdConnectUrl": "https://id.example/c"}},
            "mtls": {"mtlsSecurityScheme": {"description": "d"}}},
        "security": [
            {"schemes": {"oauth": {"list": ["read"]}}}, {"schemes": {"key": {"list": []}, "mtls": {}}},
            {"schemes": {"bearer": {}}}, {"schemes": {"oidc": {}}}],
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "s", "name": "S", "description": "d", "tags": ["t"], "examples": ["e"],
            "inputModes": ["text/plain"], "outputModes": ["text/plain"], "security": [{"schemes": {"key": {}}}]}],
        "supportsAuthenticatedExtendedCard": true,
        "signatures": [{"protected": "eyJhbGciOiJFZERTQSIsImtpZCI6ImsxIiwidHlwIjoiSk9TRSJ9", "signature": "AAAA",
            "header": {"kid": "k1", "x": 1}}]
    })
}
