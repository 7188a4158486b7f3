//! Checks an input against a tool's schema, leniently: the server has the last word.
//!
//! Checks only presence, primitive types and enumerated values at the top level. The server may still refuse the input
//! with its own message.

use attache_tool::{ToolError, ToolInput};
use serde_json::{Map, Value};

/// Refuses an input that the server would certainly refuse, and names all mistakes.
pub(crate) fn check(schema: &Value, input: &ToolInput) -> Result<(), ToolError> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut wrong = missing(schema, input);
    for (name, value) in input {
        match properties.and_then(|properties| properties.get(name)) {
            Some(property) => wrong.extend(mismatch(name, property, value)),
            None if schema.get("additionalProperties") == Some(&Value::Bool(false)) => {
                wrong.push(format!("`{name}` is not one of its parameters ({})", names(properties)));
            }
            None => {}
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(ToolError::bad_input(wrong.join("; "))) }
}

fn missing(schema: &Value, input: &ToolInput) -> Vec<String> {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let absent = required.filter_map(Value::as_str).filter(|name| !input.contains_key(*name));
    absent.map(|name| format!("`{name}` is required")).collect()
}

fn mismatch(name: &str, property: &Value, value: &Value) -> Option<String> {
    let types: Vec<&str> = match property.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !types.is_empty() && !types.iter().any(|expected| is(expected, value)) {
        return Some(format!("`{name}` must be of type {}, not {}", types.join(" or "), kind(value)));
    }
    let listed = property.get("enum").and_then(Value::as_array)?;
    let texts: Vec<String> = listed.iter().map(Value::to_string).collect();
    (!listed.contains(value)).then(|| format!("`{name}` must be one of {}", texts.join(", ")))
}

fn is(expected: &str, value: &Value) -> bool {
    match expected {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        // In JSON Schema 3.0 is an integer.
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        // Unknown types are up to the server.
        _ => true,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn names(properties: Option<&Map<String, Value>>) -> String {
    let names: Vec<&str> = properties.into_iter().flat_map(Map::keys).map(String::as_str).collect();
    if names.is_empty() { "it has none".into() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn expect(input: Value, expected: Result<(), &str>) {
        let schema = json!({
            "type": "object",
            "properties": {
                "text": { "type": "string" },
                "count": { "type": "integer" },
                "ratio": { "type": ["number", "null"] },
                "mode": { "enum": ["fast", "slow"] },
                "free": {},
                "odd": { "type": "quaternion" },
            },
            "required": ["text"],
            "additionalProperties": false,
        });
        let Value::Object(input) = input else { panic!("an input is an object") };
        let found = check(&schema, &input).map_err(|error| error.message);
        assert_eq!(found, expected.map_err(String::from));
    }

    #[test]
    fn what_the_server_would_refuse_is_refused() {
        expect(
            json!({ "text": "a", "count": 3, "ratio": null, "mode": "fast", "free": [], "odd": 1 }),
            Ok(()),
        );
        expect(json!({ "text": "a", "count": 3.0 }), Ok(()));
        expect(json!({}), Err("`text` is required"));
        expect(json!({ "text": 1 }), Err("`text` must be of type string, not number"));
        expect(json!({ "text": "", "count": 1.5 }), Err("`count` must be of type integer, not number"));
        expect(
            json!({ "text": "", "ratio": "1" }),
            Err("`ratio` must be of type number or null, not string"),
        );
        expect(json!({ "text": "", "mode": "x" }), Err("`mode` must be one of \"fast\", \"slow\""));
        let unknown = "`more` is not one of its parameters (count, free, mode, odd, ratio, text)";
        expect(json!({ "text": "", "more": 1 }), Err(unknown));
    }

    #[test]
    fn a_schema_that_makes_no_sense_refuses_nothing() {
        for schema in
            [json!({}), json!({ "properties": 1, "required": "x" }), json!({ "properties": { "a": 1 } })]
        {
            assert_eq!(check(&schema, json!({ "a": 1 }).as_object().unwrap()), Ok(()));
        }
    }
}
