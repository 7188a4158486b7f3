//! Normalizes a document to a card of 1.0: exactly the members that its presence rules ask for.
//!
//! The presence rules of 1.0: required members are always present, members with presence when they were set, and all
//! others only when they differ from their default. Unknown members are dropped and reported.

use serde_json::{Map, Value};

use crate::document::kind_name;
use crate::shape::{MemberKind, MemberRule, MemberSpec, Presence, Shape, v1_0};
use crate::{CardDocument, InvalidCard};

/// A card in the form of 1.0, without its signatures.
#[derive(Debug, Clone, PartialEq)]
pub struct NormalizedCard {
    pub card: CardDocument,
    /// Paths of members that 1.0 does not know and that a signature of this form does not cover.
    pub unknown: Vec<String>,
}

pub fn normalize(document: &CardDocument) -> Result<NormalizedCard, InvalidCard> {
    let mut unknown = Vec::new();
    let mut unsigned = document.clone();
    unsigned.remove("signatures");
    let mut card = normalize_object(&unsigned, &v1_0::CARD, "", &mut unknown)?;
    card.remove("signatures");
    Ok(NormalizedCard { card, unknown })
}

fn normalize_object(
    members: &Map<String, Value>,
    shape: &Shape,
    path: &str,
    unknown: &mut Vec<String>,
) -> Result<Map<String, Value>, InvalidCard> {
    let known = |name: &str| shape.member(name).is_some();
    unknown.extend(members.keys().filter(|name| !known(name)).map(|name| member_path(path, name)));
    let mut said = 0;
    let mut normal = Map::new();
    for member in shape.members {
        let value = members.get(member.name).filter(|value| !value.is_null());
        said += usize::from(value.is_some());
        if let Some(value) = self::normalize_member(value, member, &member_path(path, member.name), unknown)?
        {
            normal.insert(member.name.to_owned(), value);
        }
    }
    if shape.choice == MemberRule::ExactlyOne && said > 1 {
        let words = format!("{} holds one of its members, and here are {said}", shape.name);
        return Err(InvalidCard { path: path.to_owned(), message: words });
    }
    Ok(normal)
}

fn normalize_member(
    value: Option<&Value>,
    member: &MemberSpec,
    path: &str,
    unknown: &mut Vec<String>,
) -> Result<Option<Value>, InvalidCard> {
    let Some(value) = value else {
        let required = member.presence == Presence::Required;
        return Ok(required.then(|| default_value(&member.kind)));
    };
    let value = normalize_value(value, &member.kind, path, unknown)?;
    let left_out = member.presence == Presence::Implicit && value == default_value(&member.kind);
    Ok((!left_out).then_some(value))
}

fn normalize_value(
    value: &Value,
    wanted: &MemberKind,
    path: &str,
    unknown: &mut Vec<String>,
) -> Result<Value, InvalidCard> {
    match (wanted, value) {
        (MemberKind::Text, Value::String(_))
        | (MemberKind::Flag, Value::Bool(_))
        | (MemberKind::Free, Value::Object(_)) => Ok(value.clone()),
        (MemberKind::Object(shape), Value::Object(members)) => {
            Ok(normalize_object(members, shape, path, unknown)?.into())
        }
        (MemberKind::List(kind), Value::Array(items)) => {
            let items = items.iter().enumerate();
            let items =
                items.map(|(index, item)| normalize_value(item, kind, &format!("{path}[{index}]"), unknown));
            Ok(Value::Array(items.collect::<Result<_, _>>()?))
        }
        (MemberKind::Map(kind), Value::Object(entries)) => {
            let entries = entries.iter().map(|(name, entry)| {
                Ok((name.clone(), normalize_value(entry, kind, &member_path(path, name), unknown)?))
            });
            Ok(Value::Object(entries.collect::<Result<_, InvalidCard>>()?))
        }
        _ => {
            let words = format!("has to be {}, and is {}", wanted.describe(), kind_name(value));
            Err(InvalidCard { path: path.to_owned(), message: words })
        }
    }
}

impl MemberKind {
    pub(crate) fn describe(&self) -> &'static str {
        match self {
            Self::Text => "a text",
            Self::Flag => "true or false",
            Self::List(_) => "a list",
            Self::Free | Self::Object(_) | Self::Tagged(_) | Self::Map(_) => "an object",
        }
    }
}

/// The default value of a member.
fn default_value(kind: &MemberKind) -> Value {
    match kind {
        MemberKind::Text => "".into(),
        MemberKind::Flag => false.into(),
        MemberKind::List(_) => Value::Array(Vec::new()),
        MemberKind::Free | MemberKind::Tagged(_) | MemberKind::Map(_) => Value::Object(Map::new()),
        MemberKind::Object(shape) => {
            let required = shape.members.iter().filter(|member| member.presence == Presence::Required);
            required
                .map(|member| (member.name.to_owned(), default_value(&member.kind)))
                .collect::<Map<_, _>>()
                .into()
        }
    }
}

/// The path of a member.
pub(crate) fn member_path(path: &str, name: &str) -> String {
    let simple = !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric() || "_-".contains(it));
    match (path.is_empty(), simple) {
        (true, true) => name.to_owned(),
        (false, true) => format!("{path}.{name}"),
        (_, false) => format!("{path}[{name:?}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document(value: Value) -> CardDocument {
        value.as_object().unwrap().clone()
    }

    fn least() -> Value {
        json!({
            "name": "n", "description": "d", "version": "1",
            "supportedInterfaces": [{"url": "https://a.example", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
            "capabilities": {}, "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": []
        })
    }

    /// Applies `change` to the minimal card and compares the normalized result.
    #[track_caller]
    fn check(change: Value, expected: Value, unknown: &[&str]) {
        let mut card = document(least());
        card.extend(document(change));
        let found = normalize(&card).unwrap();
        let mut whole = document(least());
        whole.extend(document(expected));
        assert_eq!(Value::Object(found.card), Value::Object(whole));
        assert_eq!(found.unknown, unknown);
    }

    #[test]
    fn defaults_are_left_out_unless_they_are_required_or_were_said() {
        check(json!({}), json!({}), &[]);
        check(json!({"documentationUrl": "", "iconUrl": null}), json!({"documentationUrl": ""}), &[]);
        check(json!({"securitySchemes": {}, "securityRequirements": []}), json!({}), &[]);
        check(
            json!({"capabilities": {"streaming": false, "extensions": [], "extendedAgentCard": null}}),
            json!({"capabilities": {"streaming": false}}),
            &[],
        );
        check(
            json!({"capabilities": {"extensions": [{"uri": "u", "required": false, "description": "", "params": {}}]}}),
            json!({"capabilities": {"extensions": [{"uri": "u", "params": {}}]}}),
            &[],
        );
        check(json!({"name": ""}), json!({"name": ""}), &[]);
        check(
            json!({"skills": [{"id": "a", "examples": [], "inputModes": ["x/y"]}]}),
            json!({"skills": [{"id": "a", "name": "", "description": "", "tags": [], "inputModes": ["x/y"]}]}),
            &[],
        );
    }

    #[test]
    fn a_requirement_without_scopes_keeps_its_empty_object() {
        check(
            json!({"securityRequirements": [{"schemes": {"b": {"list": []}, "c": {"list": ["s"]}}}, {"schemes": {}}]}),
            json!({"securityRequirements": [{"schemes": {"b": {}, "c": {"list": ["s"]}}}, {}]}),
            &[],
        );
    }

    #[test]
    fn what_1_0_does_not_know_is_left_out_and_told() {
        check(
            json!({
                "url": "https://a.example", "signatures": [{"any": 1}],
                "securitySchemes": {"b": {"httpAuthSecurityScheme": {"scheme": "bearer"}, "type": "http", "scheme": "bearer"}},
                "provider": {"url": "u", "organization": "o", "x y": 1}
            }),
            json!({
                "securitySchemes": {"b": {"httpAuthSecurityScheme": {"scheme": "bearer"}}},
                "provider": {"url": "u", "organization": "o"}
            }),
            &["url", "provider[\"x y\"]", "securitySchemes.b.scheme", "securitySchemes.b.type"],
        );
    }

    #[test]
    fn required_members_are_there_even_if_they_were_not_given() {
        let found = normalize(&document(json!({}))).unwrap();
        let expected = json!({
            "name": "", "description": "", "version": "", "supportedInterfaces": [], "capabilities": {},
            "defaultInputModes": [], "defaultOutputModes": [], "skills": []
        });
        assert_eq!(Value::Object(found.card), expected);
    }

    #[test]
    fn a_member_of_the_wrong_kind_is_told_with_its_place() {
        for (change, expected) in [
            (json!({"name": 1}), "name: has to be a text, and is a number"),
            (json!({"skills": {}}), "skills: has to be a list, and is an object"),
            (json!({"skills": [{"tags": ["a", 1]}]}), "skills[0].tags[1]: has to be a text, and is a number"),
            (
                json!({"capabilities": {"streaming": "yes"}}),
                "capabilities.streaming: has to be true or false, and is a text",
            ),
            (
                json!({"securitySchemes": {"a b": {"mtlsSecurityScheme": {}, "httpAuthSecurityScheme": {}}}}),
                "securitySchemes[\"a b\"]: SecurityScheme holds one of its members, and here are 2",
            ),
        ] {
            let mut card = document(least());
            card.extend(document(change));
            assert_eq!(normalize(&card).unwrap_err().to_string(), expected);
        }
    }
}
