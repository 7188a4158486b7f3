//! Reads JSON and refuses objects that repeat a key.
//!
//! As fast as reading a plain `Value`: the insertion into the map tells whether the key was there.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::decode::decoder::excerpt;

pub(super) struct UniqueKeys(pub(super) Value);

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor).map(UniqueKeys)
    }
}

struct ValueVisitor;

/// Larger arrays grow as their items arrive.
const MAX_PREALLOCATED_ITEMS: usize = 1024;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::with_capacity(items.size_hint().unwrap_or(0).min(MAX_PREALLOCATED_ITEMS));
        while let Some(UniqueKeys(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let UniqueKeys(value) = members.next_value()?;
            match object.entry(name) {
                serde_json::map::Entry::Vacant(entry) => entry.insert(value),
                serde_json::map::Entry::Occupied(entry) => {
                    let key = excerpt(entry.key());
                    return Err(A::Error::custom(format_args!("the key {key:?} stands twice in one object")));
                }
            };
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Value, serde_json::Error> {
        serde_json::from_str(text).map(|UniqueKeys(value)| value)
    }

    #[test]
    fn a_key_that_stands_twice_is_named() {
        for text in
            [r#"{"a":1,"a":1}"#, r#"{"a":1,"b":{},"\u0061":2}"#, r#"[{"x":[{"a":{},"b":1,"a":null}]}]"#]
        {
            let error = read(text).unwrap_err();
            assert!(
                error.is_data() && error.to_string().starts_with(r#"the key "a" stands twice"#),
                "{error}"
            );
        }
        assert!(read(r#"{"a":{"a":1},"b":[{"a":1},{"a":1}],"A":1}"#).is_ok());
    }

    proptest! {
        #[test]
        fn everything_else_is_read_as_ever(text in r#"(\{|\}|\[|\]|:|,|"[ab]"|1|-2|3\.5e3|1e400|18446744073709551615|null|true|"é\\u00e9"| ){0,12}"#) {
            let plain: Result<Value, _> = serde_json::from_str(&text);
            match (read(&text), plain) {
                (Ok(read), Ok(plain)) => prop_assert_eq!(read, plain),
                (Err(error), Ok(_)) => prop_assert!(error.is_data(), "{}", error),
                (Err(_), Err(_)) => {}
                (Ok(read), Err(error)) => prop_assert!(false, "{} {}", read, error),
            }
        }
    }
}
