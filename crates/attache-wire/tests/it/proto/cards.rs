//! The card, made of the documents that HTTP serves.

use attache_proto::{v0_3, v1_0};
use attache_wire::card::{CardForm, write};
use attache_wire::{Version, proto};
use prost::Message;
use serde_json::{Value, json};

use super::transcoded::{alike, to_json};
use crate::card::full_card;

fn signed(form: CardForm) -> Vec<u8> {
    let mut document: Value = serde_json::from_slice(&write(form, &full_card())).unwrap();
    document["signatures"] = json!([{ "protected": "e30", "signature": "c2ln", "header": { "x": 1 } }]);
    document.to_string().into_bytes()
}

/// Lists and maps that are empty are not there any more: protobuf cannot tell.
fn without_empty_ones(value: Value) -> Value {
    let is_there = |value: &Value| *value != json!([]) && *value != json!({});
    match value {
        Value::Object(members) => {
            let members = members.into_iter().map(|(name, value)| (name, without_empty_ones(value)));
            members.filter(|(name, value)| is_there(value) || name == "mtlsSecurityScheme").collect()
        }
        Value::Array(items) => items.into_iter().map(without_empty_ones).collect(),
        other => other,
    }
}

#[test]
fn a_1_0_card_says_in_protobuf_what_it_says_in_json() {
    let document = signed(CardForm::V1_0);
    let bytes = proto::encode_card(Version::V1_0, &document).unwrap();
    let (written, expected) =
        (to_json(Version::V1_0, "AgentCard", &bytes), serde_json::from_slice(&document));
    assert_eq!(without_empty_ones(alike(&written)), without_empty_ones(alike(&expected.unwrap())));
    let card = v1_0::AgentCard::decode(&*bytes).unwrap();
    assert_eq!(card.signatures[0].signature, "c2ln");
}

#[test]
fn a_0_3_card_has_what_0_3_has_a_place_for() {
    let card = proto::encode_card(Version::V0_3, &signed(CardForm::Superset)).unwrap();
    let card = v0_3::AgentCard::decode(&*card).unwrap();
    assert_eq!(card.protocol_version, "0.3.0");
    assert_eq!((card.url.as_str(), card.preferred_transport.as_str()), ("https://a.example/", "JSONRPC"));
    assert_eq!(card.additional_interfaces.len(), 2);
    assert_eq!(card.icon_url, "https://a.example/icon.svg");
    assert_eq!(card.signatures[0].protected, "e30");
    assert!(card.security_schemes.len() > 5);
    let bearer = card.security_schemes["bearer"].scheme.as_ref().unwrap();
    assert!(
        matches!(bearer, v0_3::security_scheme::Scheme::HttpAuthSecurityScheme(it) if it.scheme == "bearer")
    );
    let expected: Value = serde_json::from_slice(&write(CardForm::Superset, &full_card())).unwrap();
    let listed = expected["security"].as_array().unwrap();
    assert_eq!(card.security.len(), listed.len());
    for (requirement, expected) in card.security.iter().zip(listed) {
        for (name, scopes) in &requirement.schemes {
            assert_eq!(json!(scopes.list), expected[name]);
        }
    }
}

#[test]
fn what_is_no_card_is_told() {
    assert!(proto::encode_card(Version::V1_0, b"{").is_err());
    assert!(proto::encode_card(Version::V1_0, b"{\"name\":7}").is_err());
}
