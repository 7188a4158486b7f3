//! Reads a card of any form as a card of 1.0, for clients.
//!
//! Four forms are about: the JSON of 0.3, the protobuf of 0.3 written as JSON, drafts of 1.0 between them, and 1.0. Where
//! a card has both spellings of a member, 1.0's counts. The result is for reading: signatures cover the received form.

use serde_json::{Map, Value, json};

use crate::CardDocument;

/// The card as 1.0 writes it. Unknown members stay unchanged.
pub fn to_v1_0(document: &CardDocument) -> CardDocument {
    let mut card = document.clone();
    if !has_items(card.get("supportedInterfaces")) {
        card.insert("supportedInterfaces".into(), Value::Array(interfaces(document)));
    }
    for name in ["url", "preferredTransport", "additionalInterfaces", "protocolVersion"] {
        card.remove(name);
    }
    let extended = ["supportsAuthenticatedExtendedCard", "supportsExtendedAgentCard"]
        .into_iter()
        .filter_map(|name| card.remove(name))
        .any(|value| value == true);
    upgrade_capabilities(&mut card, extended);
    upgrade_requirements(&mut card);
    if let Some(Value::Array(skills)) = card.get_mut("skills") {
        skills.iter_mut().filter_map(Value::as_object_mut).for_each(upgrade_requirements);
    }
    if let Some(Value::Object(schemes)) = card.get_mut("securitySchemes") {
        schemes.values_mut().filter_map(Value::as_object_mut).for_each(upgrade_scheme);
    }
    card
}

/// The card is one of 0.3 in the form of its protobuf definition: schemes in wrappers, or requirements with `schemes`.
pub(crate) fn is_protobuf_v0_3(document: &CardDocument) -> bool {
    let values = |name: &str| document.get(name).and_then(Value::as_object).into_iter().flat_map(Map::values);
    let is_wrapped = |scheme: &Value| scheme.get("type").is_none() && wrapper(scheme).is_some();
    let items = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let mut requirements = items(document.get("security"));
    requirements.extend(items(document.get("skills")).iter().flat_map(|skill| items(skill.get("security"))));
    !document.contains_key("supportedInterfaces")
        && (values("securitySchemes").any(is_wrapped)
            || requirements.iter().any(|entry| entry.get("schemes").is_some_and(Value::is_object)))
}

fn wrapper(scheme: &Value) -> Option<&String> {
    scheme.as_object()?.keys().find(|name| WRAPPERS.iter().any(|(_, wrapper)| wrapper == name))
}

/// The kinds of schemes: `type` in 0.3, and the member in 1.0 and in protobuf.
const WRAPPERS: [(&str, &str); 5] = [
    ("apiKey", "apiKeySecurityScheme"),
    ("http", "httpAuthSecurityScheme"),
    ("oauth2", "oauth2SecurityScheme"),
    ("openIdConnect", "openIdConnectSecurityScheme"),
    ("mutualTLS", "mtlsSecurityScheme"),
];

fn has_items(value: Option<&Value>) -> bool {
    value.and_then(Value::as_array).is_some_and(|items| !items.is_empty())
}

/// The interfaces of a 0.3 card, the preferred one first.
fn interfaces(document: &CardDocument) -> Vec<Value> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().trim().to_owned();
    let version = text(document.get("protocolVersion"));
    let version = if version.is_empty() { "0.3".to_owned() } else { major_minor(&version) };
    let interface = |url: String, binding: String, tenant: String| {
        let binding = if binding.is_empty() { "JSONRPC".to_owned() } else { binding };
        let mut interface = json!({ "url": url, "protocolBinding": binding, "protocolVersion": version });
        if !tenant.is_empty() {
            interface["tenant"] = tenant.into();
        }
        interface
    };
    let mut interfaces = Vec::new();
    let main = text(document.get("url"));
    if !main.is_empty() {
        interfaces.push(interface(main, text(document.get("preferredTransport")), String::new()));
    }
    for more in document.get("additionalInterfaces").and_then(Value::as_array).into_iter().flatten() {
        let url = text(more.get("url"));
        if url.is_empty() {
            continue;
        }
        let binding = text(more.get("transport").or_else(|| more.get("protocolBinding")));
        let more = interface(url, binding, text(more.get("tenant")));
        // It may say more about an interface than its first mention does.
        let is_same = |known: &Value| {
            known["url"] == more["url"]
                && text(known.get("protocolBinding")).eq_ignore_ascii_case(&text(more.get("protocolBinding")))
        };
        if interfaces.contains(&more) {
            continue;
        }
        match interfaces.iter_mut().find(|known| is_same(known) && known.get("tenant").is_none()) {
            Some(known) => *known = more,
            None => interfaces.push(more),
        }
    }
    interfaces
}

fn major_minor(version: &str) -> String {
    version.split('.').take(2).collect::<Vec<_>>().join(".")
}

fn upgrade_capabilities(card: &mut CardDocument, extended: bool) {
    let capabilities = card.entry("capabilities").or_insert_with(|| json!({}));
    let Some(capabilities) = capabilities.as_object_mut() else { return };
    capabilities.remove("stateTransitionHistory");
    if extended && !capabilities.contains_key("extendedAgentCard") {
        capabilities.insert("extendedAgentCard".into(), true.into());
    }
}

/// Of a card or a skill.
fn upgrade_requirements(holder: &mut Map<String, Value>) {
    let Some(older) = holder.remove("security") else { return };
    if has_items(holder.get("securityRequirements")) {
        return;
    }
    let entries = older.as_array().cloned().unwrap_or_default();
    let entries = entries.into_iter().map(|entry| match entry {
        Value::Object(members) if !members.get("schemes").is_some_and(Value::is_object) => {
            let schemes = members.into_iter().map(|(name, scopes)| match has_items(Some(&scopes)) {
                true => (name, json!({ "list": scopes })),
                false => (name, json!({})),
            });
            json!({ "schemes": Value::Object(schemes.collect()) })
        }
        entry => entry,
    });
    holder.insert("securityRequirements".into(), Value::Array(entries.collect()));
}

fn upgrade_scheme(scheme: &mut Map<String, Value>) {
    let kind = scheme.get("type").and_then(Value::as_str).map(str::to_owned);
    let is_wrapped = WRAPPERS.iter().any(|(_, wrapper)| scheme.contains_key(*wrapper));
    let known = WRAPPERS.iter().find(|(name, _)| Some(*name) == kind.as_deref());
    match known {
        _ if is_wrapped => scheme.retain(|name, _| WRAPPERS.iter().any(|(_, wrapper)| wrapper == name)),
        None => {}
        Some((_, wrapper)) => {
            let mut members = std::mem::take(scheme);
            members.remove("type");
            if let Some(location) = members.remove("in") {
                members.insert("location".into(), location);
            }
            scheme.insert((*wrapper).to_owned(), Value::Object(members));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(card: Value, expected: Value) {
        let upgraded = Value::Object(to_v1_0(card.as_object().unwrap()));
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(&upgraded[name], value, "{name} of {upgraded}");
        }
        let again = Value::Object(to_v1_0(upgraded.as_object().unwrap()));
        assert_eq!(again, upgraded, "a card of 1.0 stays as it is");
    }

    #[test]
    fn the_json_of_0_3_becomes_1_0() {
        check(
            json!({
                "protocolVersion": "0.3.0", "url": "https://a.example/rpc",
                "additionalInterfaces": [
                    {"url": "https://a.example/rpc", "transport": "JSONRPC"},
                    {"url": "https://a.example", "transport": "HTTP+JSON"}],
                "capabilities": {"streaming": true, "stateTransitionHistory": true},
                "supportsAuthenticatedExtendedCard": true,
                "securitySchemes": {"k": {"type": "apiKey", "in": "header", "name": "X-Key"}},
                "security": [{"k": []}, {"o": ["read"]}],
                "skills": [{"id": "s", "security": [{"k": []}]}]
            }),
            json!({
                "supportedInterfaces": [
                    {"url": "https://a.example/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"},
                    {"url": "https://a.example", "protocolBinding": "HTTP+JSON", "protocolVersion": "0.3"}],
                "capabilities": {"streaming": true, "extendedAgentCard": true},
                "securitySchemes": {"k": {"apiKeySecurityScheme": {"location": "header", "name": "X-Key"}}},
                "securityRequirements": [{"schemes": {"k": {}}}, {"schemes": {"o": {"list": ["read"]}}}],
                "skills": [{"id": "s", "securityRequirements": [{"schemes": {"k": {}}}]}],
                "url": null, "security": null, "protocolVersion": null
            }),
        );
    }

    #[test]
    fn the_protobuf_of_0_3_becomes_1_0_with_its_tenants() {
        check(
            json!({
                "protocolVersion": "0.3.0", "url": "https://a.example/rpc", "preferredTransport": "GRPC",
                "additionalInterfaces": [
                    {"url": "https://a.example/rpc", "transport": "grpc", "tenant": "blue"},
                    {"url": "https://a.example/rpc", "transport": "GRPC", "tenant": "red"}],
                "securitySchemes": {"b": {"httpAuthSecurityScheme": {"scheme": "bearer"}}},
                "security": [{"schemes": {"b": {"list": []}}}],
                "signatures": [{"protected": "p", "signature": "s", "header": {"kid": "k"}}]
            }),
            json!({
                "supportedInterfaces": [
                    {"url": "https://a.example/rpc", "protocolBinding": "grpc", "protocolVersion": "0.3", "tenant": "blue"},
                    {"url": "https://a.example/rpc", "protocolBinding": "GRPC", "protocolVersion": "0.3", "tenant": "red"}],
                "securitySchemes": {"b": {"httpAuthSecurityScheme": {"scheme": "bearer"}}},
                "securityRequirements": [{"schemes": {"b": {"list": []}}}],
                "signatures": [{"protected": "p", "signature": "s", "header": {"kid": "k"}}]
            }),
        );
    }

    #[test]
    fn what_1_0_says_counts_in_a_card_for_both() {
        check(
            json!({
                "url": "https://old.example", "protocolVersion": "0.3.0",
                "supportedInterfaces": [{"url": "https://a.example", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
                "securitySchemes": {"b": {"httpAuthSecurityScheme": {"scheme": "bearer"}, "type": "http", "scheme": "basic"}},
                "security": [{"x": []}], "securityRequirements": [{"schemes": {"b": {}}}]
            }),
            json!({
                "supportedInterfaces": [{"url": "https://a.example", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
                "securitySchemes": {"b": {"httpAuthSecurityScheme": {"scheme": "bearer"}}},
                "securityRequirements": [{"schemes": {"b": {}}}]
            }),
        );
        check(json!({"name": "n"}), json!({"supportedInterfaces": [], "capabilities": {}}));
        check(
            json!({"url": 7, "capabilities": [], "security": {}, "skills": 1}),
            json!({"supportedInterfaces": []}),
        );
    }
}
