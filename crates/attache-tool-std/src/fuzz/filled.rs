//! Builds objects that match the parameters of a tool, from arbitrary texts.

use std::iter::Cycle;
use std::str::Split;

use attache_tool::ToolInput;
use serde_json::{Map, Value};

/// The number of items in a list, which varies.
const MAX_ITEMS: usize = 4;

/// Each member takes the next of the texts, which NULs separate; after the last text the first one is used again. An
/// empty text leaves out an optional member.
pub(super) fn filled(schema: &Value, texts: &str) -> ToolInput {
    object(schema, &mut texts.split('\0').cycle())
}

type Texts<'a> = Cycle<Split<'a, char>>;

fn object(schema: &Value, texts: &mut Texts<'_>) -> Map<String, Value> {
    let mut members = Map::new();
    let required =
        |name: &str| schema["required"].as_array().is_some_and(|names| names.iter().any(|it| it == name));
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        let text = texts.next().unwrap_or_default();
        if !text.is_empty() || required(name) {
            members.insert(name.clone(), value(schema, text, texts));
        }
    }
    members
}

fn value(schema: &Value, text: &str, texts: &mut Texts<'_>) -> Value {
    if let Some(known) = schema["enum"].as_array().filter(|known| !known.is_empty()) {
        return known[text.len() % known.len()].clone();
    }
    match schema["type"].as_str() {
        Some("object") => Value::Object(object(schema, texts)),
        Some("array") => {
            let count = text.len() % MAX_ITEMS;
            (0..count).map(|_| value(&schema["items"], texts.next().unwrap_or_default(), texts)).collect()
        }
        Some("integer") => text.parse::<i64>().map_or(text.len().into(), Value::from),
        Some("boolean") => (text.len() % 2 == 1).into(),
        _ => text.into(),
    }
}
