//! Which bytes of a card are signed.
//!
//! 1.0 defines its canonical form, but the SDKs of Python and JavaScript drop every empty value, even those that 1.0
//! keeps, and other verifiers check the document as received, with members that 1.0 does not know. One valid
//! signature is enough for a card, so each form that differs gets one.

use std::fmt;

use serde_json::{Map, Value};

use crate::canonical::canonical_object;
use crate::{CardDocument, InvalidCard, normalize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SignedForm {
    /// The canonical form of 1.0.
    Specified,
    /// The same without any empty text, list or object, as in SDKs.
    Stripped,
    /// The whole document as received.
    Whole,
    /// Like `Stripped`, for the members of 0.3, as in its Python SDK. Verified, but never signed.
    PythonV0_3,
}

impl fmt::Display for SignedForm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Specified => "the form of 1.0",
            Self::Stripped => "the form of 1.0 without empty values",
            Self::Whole => "the whole document",
            Self::PythonV0_3 => "the form of 0.3's Python SDK",
        })
    }
}

/// The distinct canonical forms of a card, without signatures.
///
/// A card of 0.3 alone has one, the whole document: 0.3 defines signatures, but no form.
pub fn signed_forms(document: &CardDocument) -> Result<Vec<(SignedForm, Vec<u8>)>, InvalidCard> {
    let mut forms: Vec<(SignedForm, Vec<u8>)> = Vec::new();
    for (form, bytes) in all_signed_forms(document)? {
        if forms.iter().all(|(_, known)| *known != bytes) {
            forms.push((form, bytes));
        }
    }
    Ok(forms)
}

/// Includes duplicates.
pub(crate) fn all_signed_forms(document: &CardDocument) -> Result<Vec<(SignedForm, Vec<u8>)>, InvalidCard> {
    let mut unsigned = document.clone();
    unsigned.remove("signatures");
    let whole = (SignedForm::Whole, canonical_object(&unsigned));
    if !document.contains_key("supportedInterfaces") {
        return Ok(vec![whole]);
    }
    let card = normalize(document)?.card;
    let specified = (SignedForm::Specified, canonical_object(&card));
    Ok(vec![specified, (SignedForm::Stripped, canonical_object(&strip_empty(card))), whole])
}

pub(crate) fn strip_empty(members: Map<String, Value>) -> Map<String, Value> {
    members.into_iter().filter_map(|(name, value)| Some((name, strip(value)?))).collect()
}

/// Strips empty values; `None` if nothing is left.
fn strip(value: Value) -> Option<Value> {
    let left = match value {
        Value::Object(members) => Value::Object(strip_empty(members)),
        Value::Array(items) => Value::Array(items.into_iter().filter_map(strip).collect()),
        other => other,
    };
    let empty = match &left {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    };
    (!empty).then_some(left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn card(change: Value) -> CardDocument {
        let mut card = json!({
            "name": "n", "description": "d", "version": "1",
            "supportedInterfaces": [{"url": "https://a.example", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
            "capabilities": {"streaming": true}, "defaultInputModes": ["a/b"], "defaultOutputModes": ["a/b"],
            "skills": [{"id": "i", "name": "n", "description": "d", "tags": ["t"]}]
        });
        card.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        card.as_object().unwrap().clone()
    }

    #[track_caller]
    fn check(change: Value, expected: &[SignedForm]) {
        let found: Vec<SignedForm> =
            signed_forms(&card(change)).unwrap().into_iter().map(|(form, _)| form).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn there_is_one_form_for_each_way_to_read_a_card() {
        check(json!({}), &[SignedForm::Specified]);
        check(json!({"signatures": [{"protected": "a", "signature": "b"}]}), &[SignedForm::Specified]);
        check(
            json!({"securityRequirements": [{"schemes": {"b": {}}}]}),
            &[SignedForm::Specified, SignedForm::Stripped],
        );
        check(json!({"url": "https://a.example"}), &[SignedForm::Specified, SignedForm::Whole]);
        check(
            json!({"url": "https://a.example", "securityRequirements": [{"schemes": {"b": {}}}]}),
            &[SignedForm::Specified, SignedForm::Stripped, SignedForm::Whole],
        );
    }

    #[test]
    fn a_card_of_0_3_is_signed_as_it_is() {
        let card = json!({"url": "https://a.example", "name": "", "signatures": []});
        let forms = signed_forms(card.as_object().unwrap()).unwrap();
        assert_eq!(forms, [(SignedForm::Whole, br#"{"name":"","url":"https://a.example"}"#.to_vec())]);
    }

    #[test]
    fn whatever_is_empty_goes_and_what_is_left_empty_by_it_too() {
        let value =
            json!({"a": "", "b": [[], {"c": {}}], "d": [0, false, "", null, "x"], "e": {"f": {"g": [""]}}});
        assert_eq!(
            Value::Object(strip_empty(value.as_object().unwrap().clone())),
            json!({"d": [0, false, "x"]})
        );
    }
}
