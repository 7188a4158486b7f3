//! Parses untrusted cards.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::DocumentError;

/// A card as it was received.
pub type CardDocument = Map<String, Value>;

/// Larger cards are refused.
pub const MAX_BYTES: usize = 1 << 20;

/// Nesting of lists and objects: far deeper than any card, far below the stack's limit.
const MAX_DEPTH: usize = 64;

/// Parses one JSON object. Refuses repeated members: parsers disagree about which one counts, and a signature must
/// not mean two things.
pub fn parse(text: &[u8]) -> Result<CardDocument, DocumentError> {
    if text.len() > MAX_BYTES {
        return Err(DocumentError::TooLarge { bytes: text.len(), limit: MAX_BYTES });
    }
    // Some editors begin a file with it.
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = StrictSeed { depth: 0 }.deserialize(&mut reader);
    let value = value.and_then(|value| reader.end().map(|()| value));
    match value.map_err(|error| DocumentError::NotJson { why: error.to_string() })? {
        Value::Object(document) => Ok(document),
        other => Err(DocumentError::NotAnObject { found: kind_name(&other) }),
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The name of a value's type.
pub(crate) fn kind_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[derive(Clone, Copy)]
struct StrictSeed {
    depth: usize,
}

impl StrictSeed {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        if self.depth == MAX_DEPTH {
            return Err(E::custom(format!("it is nested more than {MAX_DEPTH} levels deep")));
        }
        Ok(Self { depth: self.depth + 1 })
    }
}

impl<'de> DeserializeSeed<'de> for StrictSeed {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictSeed {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number is too large"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element_seed(inner)? {
            items.push(item);
        }
        Ok(items.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut members = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            if members.contains_key(&name) {
                return Err(A::Error::custom(format!("the member {name:?} is there twice")));
            }
            members.insert(name, map.next_value_seed(inner)?);
        }
        Ok(members.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<usize, &str>) {
        match (parse(text.as_bytes()).map_err(|error| error.to_string()), expected) {
            (Ok(document), Ok(members)) => assert_eq!(document.len(), members),
            (Err(error), Err(part)) => assert!(error.contains(part), "{error}"),
            (found, expected) => panic!("{text}: {found:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn only_one_object_without_a_doubt_is_read() {
        check(r#"{"name": "a", "deep": [1, -1, 1.5, null, true, {"x": "\u00fc"}]}"#, Ok(2));
        check("{}", Ok(0));
        check("\u{feff}{}", Ok(0));
        check("[]", Err("this is a list"));
        check("\"card\"", Err("this is a text"));
        check(r#"{"a": 1, "a": 1}"#, Err("\"a\" is there twice"));
        check(r#"{"b": [{"a": 1, "\u0061": 2}]}"#, Err("\"a\" is there twice"));
        check("{} {}", Err("trailing"));
        check("", Err("EOF"));
        check(r#"{"a": 1e999}"#, Err("not JSON"));
        check("<html>", Err("not JSON"));
    }

    #[test]
    fn depth_and_size_are_bounded() {
        let nested = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        check(&nested(MAX_DEPTH - 1), Ok(1));
        check(&nested(MAX_DEPTH), Err("64 levels"));
        check(&nested(100_000), Err("64 levels"));
        check(&format!("{{\"a\":\"{}\"}}", "x".repeat(MAX_BYTES)), Err("too large"));
    }
}
