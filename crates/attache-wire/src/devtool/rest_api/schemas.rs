//! Puts the schemas of responses into the form that client generators understand.

use serde_json::{Map, Value, json};

/// Unions whose variants get names of their own: the union, the member that tells the variants apart, and what their names
/// end with.
const UNIONS: [(&str, &str, &str); 2] =
    [("RestEvent", "type", "Event"), ("ConfirmationDetails", "kind", "Details")];

/// Members that are optional are left out rather than null, and the variants of unions have names.
pub(super) fn simplify(schemas: &mut Map<String, Value>) {
    for (union, tag, suffix) in UNIONS {
        name_variants(schemas, union, tag, suffix);
    }
    schemas.values_mut().for_each(remove_nulls);
    schemas.values_mut().for_each(remove_formats);
}

/// Formats that OpenAPI does not know. `minimum` says the same.
fn remove_formats(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            let is_unknown =
                |format: &Value| format.as_str().is_some_and(|format| format.starts_with("uint"));
            if members.get("format").is_some_and(is_unknown) {
                members.remove("format");
            }
            members.values_mut().for_each(remove_formats);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_formats),
        _ => {}
    }
}

fn name_variants(schemas: &mut Map<String, Value>, union: &str, tag: &str, suffix: &str) {
    let Some(Value::Array(variants)) = schemas.get_mut(union).and_then(|union| union.get_mut("oneOf")) else {
        return;
    };
    let variants = std::mem::take(variants);
    let (mut named, mut mapping) = (Vec::new(), Map::new());
    for variant in variants {
        let value = variant["properties"][tag]["const"].as_str().unwrap_or_default().to_owned();
        let name = format!("{}{suffix}", pascal_case(&value));
        let reference = format!("#/components/schemas/{name}");
        named.push(json!({ "$ref": reference }));
        mapping.insert(value, reference.into());
        schemas.insert(name, variant);
    }
    schemas[union]["oneOf"] = named.into();
    schemas[union]["discriminator"] = json!({ "propertyName": tag, "mapping": mapping });
}

fn pascal_case(name: &str) -> String {
    let words = name.split('_').map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        format!("{}{rest}", first.to_ascii_uppercase())
    });
    words.collect()
}

/// No response has a member that is null.
fn remove_nulls(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::Array(kinds)) = members.get_mut("type") {
                kinds.retain(|kind| kind != "null");
                if let [only] = kinds.as_slice() {
                    members["type"] = only.clone();
                }
            }
            if let Some(Value::Array(options)) = members.get_mut("anyOf") {
                options.retain(|option| option["type"] != "null");
                if let [only] = options.as_mut_slice() {
                    let only = std::mem::take(only);
                    members.remove("anyOf");
                    if let Value::Object(only) = only {
                        members.extend(only);
                    }
                }
            }
            members.values_mut().for_each(remove_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_nulls),
        _ => {}
    }
}
