//! A JSON value that is usually text and can then be borrowed.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

#[derive(Debug, PartialEq)]
pub(super) enum TextOrValue<'a> {
    Text(Cow<'a, str>),
    Other(Value),
}

impl TextOrValue<'_> {
    /// `None` if it is no text.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Other(_) => "",
        }
    }

    pub(super) fn into_value(self) -> Value {
        match self {
            Self::Text(text) => text.into(),
            Self::Other(value) => value,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for TextOrValue<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrValueVisitor)
    }
}

struct TextOrValueVisitor;

impl<'de> Visitor<'de> for TextOrValueVisitor {
    type Value = TextOrValue<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(TextOrValue::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(TextOrValue::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(TextOrValue::Other(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(TextOrValue::Other(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(TextOrValue::Other(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        Ok(TextOrValue::Other(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(TextOrValue::Other(Value::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        Value::deserialize(SeqAccessDeserializer::new(items)).map(TextOrValue::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Self::Value, A::Error> {
        Value::deserialize(MapAccessDeserializer::new(members)).map(TextOrValue::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_borrowed_where_it_can_be_and_everything_else_is_kept() {
        let read = |json| serde_json::from_str::<TextOrValue<'_>>(json).unwrap();
        assert!(matches!(read(r#""plain""#), TextOrValue::Text(Cow::Borrowed("plain"))));
        assert!(matches!(read(r#""a\nb""#), TextOrValue::Text(Cow::Owned(text)) if text == "a\nb"));
        for json in ["null", "true", "-7", "7", "1.5", r#"[1,"a",{"b":null}]"#, r#"{"a":[{}],"b":"c"}"#] {
            assert_eq!(read(json), TextOrValue::Other(serde_json::from_str(json).unwrap()), "{json}");
        }
    }
}
