//! Parses the input of a call. Checks it against the tool's schema first, so that errors name the wrong member.
//!
//! Supports only the parts of JSON Schema that these tools use.

use attache_tool::{ToolError, ToolInput, ToolSpec};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The input as `T`. The error says what is wrong and what is expected.
pub(crate) fn read<T: DeserializeOwned>(spec: &ToolSpec, input: &ToolInput) -> Result<T, ToolError> {
    let wrong = |message: String| ToolError::bad_input(format!("{}: {message}", spec.name));
    let mut input = input.clone();
    check_object(&spec.parameters, &mut input, "").map_err(wrong)?;
    serde_json::from_value(Value::Object(input)).map_err(|error| wrong(error.to_string()))
}

fn check(schema: &Value, value: &mut Value, path: &str) -> Result<(), String> {
    match (schema["type"].as_str(), &mut *value) {
        (Some("object"), Value::Object(members)) => check_object(schema, members, &format!("{path}."))?,
        (Some("array"), Value::Array(items)) => check_array(schema, items, path)?,
        (Some("integer"), Value::Number(_)) => check_integer(schema, value, path)?,
        (Some("string"), Value::String(text)) => {
            if schema["minLength"].as_u64().is_some_and(|least| (text.len() as u64) < least) {
                return Err(format!("{path:?} is empty"));
            }
        }
        (Some("boolean"), Value::Bool(_)) | (Some("number"), Value::Number(_)) | (None, _) => {}
        (Some(expected), found) => {
            return Err(format!("{path:?} must be of type {expected}, and is {}", kind_of(found)));
        }
    }
    match schema["enum"].as_array() {
        Some(known) if !known.contains(value) => {
            Err(format!("{path:?} must be one of {}", Value::Array(known.clone())))
        }
        _ => Ok(()),
    }
}

fn check_object(schema: &Value, members: &mut Map<String, Value>, prefix: &str) -> Result<(), String> {
    let none = Map::new();
    let known = schema["properties"].as_object().unwrap_or(&none);
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if let Some(missing) = required.iter().find(|name| members.get(**name).is_none_or(Value::is_null)) {
        return Err(format!("\"{prefix}{missing}\" is missing"));
    }
    // Some models send null for a missing value.
    members.retain(|_, value| !value.is_null());
    for (name, value) in members {
        let Some(schema) = known.get(name) else {
            let mut names: Vec<&str> = known.keys().map(String::as_str).collect();
            names.sort_unstable();
            return Err(format!("there is no member \"{prefix}{name}\"; known are {}", names.join(", ")));
        };
        check(schema, value, &format!("{prefix}{name}"))?;
    }
    Ok(())
}

fn check_array(schema: &Value, items: &mut [Value], path: &str) -> Result<(), String> {
    let count = items.len() as u64;
    if let Some(least) = schema["minItems"].as_u64().filter(|least| count < *least) {
        return Err(format!("{path:?} must have at least {least} items, and has {count}"));
    }
    if let Some(most) = schema["maxItems"].as_u64().filter(|most| count > *most) {
        return Err(format!("{path:?} must have at most {most} items, and has {count}"));
    }
    items
        .iter_mut()
        .enumerate()
        .try_for_each(|(at, item)| check(&schema["items"], item, &format!("{path}[{at}]")))
}

/// Converts whole numbers with a decimal point, which some models write, to integers.
fn check_integer(schema: &Value, value: &mut Value, path: &str) -> Result<(), String> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if let Some(whole) =
        value.as_f64().filter(|number| value.is_f64() && number.fract() == 0.0 && number.abs() < EXACT)
    {
        #[expect(clippy::cast_possible_truncation, reason = "whole and small enough, as was just checked")]
        let whole = whole as i64;
        *value = whole.into();
    }
    let Some(number) = value.as_i64() else {
        return Err(format!("{path:?} must be a whole number, and is {value}"));
    };
    if let Some(least) = schema["minimum"].as_i64().filter(|least| number < *least) {
        return Err(format!("{path:?} must be at least {least}, and is {number}"));
    }
    match schema["maximum"].as_i64().filter(|most| number > *most) {
        Some(most) => Err(format!("{path:?} must be at most {most}, and is {number}")),
        None => Ok(()),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use attache_tool::ToolKind;
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Input {
        name: String,
        count: Option<u32>,
        #[serde(default)]
        tags: Vec<String>,
    }

    fn read_input(input: Value) -> Result<Input, String> {
        let parameters = json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "minLength": 1 },
                "count": { "type": "integer", "minimum": 1, "maximum": 9 },
                "tags": { "type": "array", "minItems": 1, "maxItems": 2, "items": { "type": "string" } },
                "mode": { "type": "string", "enum": ["a", "b"] },
                "options": { "type": "object", "properties": { "deep": { "type": "boolean" } } },
            },
            "required": ["name"],
        });
        let spec = ToolSpec {
            name: "tool".to_owned(),
            title: "Tool".to_owned(),
            description: String::new(),
            kind: ToolKind::Other,
            parameters,
            repeatable: true,
            parallel: true,
            origin: None,
        };
        read(&spec, input.as_object().unwrap()).map_err(|error| error.message)
    }

    #[track_caller]
    fn refuses(input: Value, expected: &str) {
        assert_eq!(read_input(input).unwrap_err(), format!("tool: {expected}"));
    }

    #[test]
    fn what_fits_is_read() {
        let input =
            json!({ "name": "a", "count": 3.0, "tags": ["x"], "mode": "b", "options": { "deep": true } });
        let expected = Input { name: "a".to_owned(), count: Some(3), tags: vec!["x".to_owned()] };
        assert_eq!(read_input(input), Ok(expected));
        let input = json!({ "name": "a", "count": null });
        assert_eq!(read_input(input), Ok(Input { name: "a".to_owned(), count: None, tags: Vec::new() }));
    }

    #[test]
    fn an_error_names_the_member_and_what_would_be_right() {
        refuses(json!({}), r#""name" is missing"#);
        refuses(json!({ "name": null }), r#""name" is missing"#);
        refuses(json!({ "name": 1 }), r#""name" must be of type string, and is a number"#);
        refuses(json!({ "name": "" }), r#""name" is empty"#);
        refuses(
            json!({ "name": "a", "size": 1 }),
            r#"there is no member "size"; known are count, mode, name, options, tags"#,
        );
        refuses(json!({ "name": "a", "count": 0 }), r#""count" must be at least 1, and is 0"#);
        refuses(json!({ "name": "a", "count": 10 }), r#""count" must be at most 9, and is 10"#);
        refuses(json!({ "name": "a", "count": 1.5 }), r#""count" must be a whole number, and is 1.5"#);
        refuses(json!({ "name": "a", "tags": [] }), r#""tags" must have at least 1 items, and has 0"#);
        refuses(
            json!({ "name": "a", "tags": ["x", 2] }),
            r#""tags[1]" must be of type string, and is a number"#,
        );
        refuses(json!({ "name": "a", "mode": "c" }), r#""mode" must be one of ["a","b"]"#);
        refuses(
            json!({ "name": "a", "options": { "wide": true } }),
            r#"there is no member "options.wide"; known are deep"#,
        );
        refuses(
            json!({ "name": "a", "options": { "deep": 1 } }),
            r#""options.deep" must be of type boolean, and is a number"#,
        );
    }
}
