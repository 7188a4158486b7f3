//! The form that the Python SDK of 0.3 signs, for verification.
//!
//! 0.3 defines no form, and this one does not follow RFC 8785: the members of 0.3, without empty ones and the SDK's
//! defaults, sorted by code point, in ASCII. We never sign this form.

use serde_json::{Map, Value};

use crate::CardDocument;
use crate::form::strip_empty;
use crate::normalize::member_path;
use crate::shape::{MemberKind, Shape, v0_3};

/// Members that the SDK leaves out when they have these values.
const DEFAULTS: &[(&str, &str)] = &[("protocolVersion", "0.3.0"), ("preferredTransport", "JSONRPC")];

pub(crate) struct PythonV0_3Form {
    pub(crate) bytes: Vec<u8>,
    /// Paths of members that 0.3 does not know.
    pub(crate) unknown: Vec<String>,
}

pub(crate) fn python_v0_3_form(document: &CardDocument) -> PythonV0_3Form {
    let mut unsigned = document.clone();
    unsigned.remove("signatures");
    let mut unknown = Vec::new();
    let mut card = object(&unsigned, &v0_3::CARD, "", &mut unknown);
    for (name, default) in DEFAULTS {
        if card.get(*name).is_some_and(|value| value == default) {
            card.remove(*name);
        }
    }
    let mut out = String::new();
    write(&Value::Object(strip_empty(card)), &mut out);
    PythonV0_3Form { bytes: out.into_bytes(), unknown }
}

fn object(
    members: &Map<String, Value>,
    shape: &Shape,
    path: &str,
    unknown: &mut Vec<String>,
) -> Map<String, Value> {
    let mut known = Map::new();
    for (name, value) in members {
        let path = member_path(path, name);
        match shape.member(name) {
            Some(member) => drop(known.insert(name.clone(), value_of(value, &member.kind, &path, unknown))),
            None => unknown.push(path),
        }
    }
    known
}

fn value_of(value: &Value, kind: &MemberKind, path: &str, unknown: &mut Vec<String>) -> Value {
    match (kind, value) {
        (MemberKind::Object(shape), Value::Object(members)) => object(members, shape, path, unknown).into(),
        (MemberKind::Tagged(shapes), Value::Object(members)) => {
            let tag = members.get("type").and_then(Value::as_str);
            let Some((_, shape)) = shapes.iter().find(|(name, _)| Some(*name) == tag) else {
                return value.clone();
            };
            let mut known = object(members, shape, path, unknown);
            // The default of the SDK's class.
            known.remove("type");
            known.into()
        }
        (MemberKind::List(kind), Value::Array(items)) => {
            let items = items.iter().enumerate();
            items.map(|(index, item)| value_of(item, kind, &format!("{path}[{index}]"), unknown)).collect()
        }
        (MemberKind::Map(kind), Value::Object(entries)) => {
            let entry = |(name, entry): (&String, &Value)| {
                (name.clone(), value_of(entry, kind, &member_path(path, name), unknown))
            };
            Value::Object(entries.iter().map(entry).collect())
        }
        _ => value.clone(),
    }
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(members) => {
            let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
            sorted.sort_by_key(|(name, _)| *name);
            out.push('{');
            for (index, (name, value)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(&Value::String(name.clone()), out);
                out.push(':');
                write(value, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::String(_) => {
            for unit in value.to_string().encode_utf16() {
                match char::from_u32(u32::from(unit)).filter(|letter| (' '..='~').contains(letter)) {
                    Some(letter) => out.push(letter),
                    None => out.push_str(&format!("\\u{unit:04x}")),
                }
            }
        }
        other => out.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_0_3_knows_and_the_sdk_does_not_take_for_granted_is_there() {
        let card = json!({
            "url": "https://a.example/", "protocolVersion": "0.3.0", "preferredTransport": "JSONRPC",
            "name": "Prüf 😀\n\u{7f}", "supportedInterfaces": [], "capabilities": {"streaming": false},
            "securitySchemes": {"b": {"type": "http", "scheme": "bearer", "httpAuthSecurityScheme": {}}},
            "security": [{"b": []}], "signatures": [{}], "skills": [{"id": "s", "tags": [], "extra": 1}]
        });
        let older = python_v0_3_form(card.as_object().unwrap());
        let expected = r#"{"capabilities":{"streaming":false},"name":"Pr\u00fcf \ud83d\ude00\n\u007f","securitySchemes":{"b":{"scheme":"bearer"}},"skills":[{"id":"s"}],"url":"https://a.example/"}"#;
        assert_eq!(String::from_utf8(older.bytes).unwrap(), expected);
        let mut unknown = older.unknown;
        unknown.sort();
        assert_eq!(
            unknown,
            ["securitySchemes.b.httpAuthSecurityScheme", "skills[0].extra", "supportedInterfaces"]
        );
    }
}
