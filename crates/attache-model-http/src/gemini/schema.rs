//! Reduces JSON Schemas to the keywords that Gemini accepts.
//!
//! MCP tools can have any schema. Unknown keywords are dropped, which makes a schema wider, never narrower. Recursive
//! references are cut for the same reason.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// Keywords that are copied unchanged.
const PLAIN: &[&str] = &[
    "$id",
    "$anchor",
    "type",
    "format",
    "title",
    "description",
    "enum",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "required",
    "propertyOrdering",
];
/// Keywords whose value is a schema, `true` or `false`.
const SCHEMA: &[&str] = &["items", "additionalProperties"];
const SCHEMAS: &[&str] = &["anyOf", "oneOf", "prefixItems"];

/// The reduced schema of a call's input.
pub(super) fn clean(schema: &Value) -> Value {
    let definitions = definitions(schema);
    let cleaner = Cleaner { reachable: reachable(&definitions) };
    let mut clean = match cleaner.schema(schema, None) {
        Value::Object(clean) => clean,
        _ => Map::new(),
    };
    clean.remove("$ref");
    clean.entry("type").or_insert_with(|| json!("object"));
    if !cleaner.reachable.is_empty() {
        let kept =
            definitions.iter().map(|(name, schema)| (name.clone(), cleaner.schema(schema, Some(name))));
        clean.insert("$defs".into(), Value::Object(kept.collect()));
    }
    Value::Object(clean)
}

struct Cleaner {
    /// The definitions that each definition refers to, directly or indirectly; itself only if it is recursive.
    reachable: BTreeMap<String, BTreeSet<String>>,
}

impl Cleaner {
    /// `within` names the definition that is being reduced.
    fn schema(&self, schema: &Value, within: Option<&str>) -> Value {
        let Value::Object(schema) = schema else {
            return if schema.is_boolean() { schema.clone() } else { json!({}) };
        };
        if let Some(reference) = schema.get("$ref") {
            return self.reference(reference, schema, within);
        }
        let mut clean = Map::new();
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            if let Value::Object(part) = self.schema(part, within) {
                merge(&mut clean, part);
            }
        }
        let mut own = Map::new();
        for (key, value) in schema {
            if let Some(value) = self.keyword(key, value, within) {
                own.insert(if key == "const" { "enum".into() } else { key.clone() }, value);
            }
        }
        merge(&mut clean, own);
        Value::Object(clean)
    }

    fn keyword(&self, key: &str, value: &Value, within: Option<&str>) -> Option<Value> {
        let one = |schema: &Value| self.schema(schema, within);
        match value {
            _ if PLAIN.contains(&key) => Some(value.clone()),
            _ if key == "const" => Some(json!([value])),
            // The old form: a list with one schema for each position.
            Value::Array(_) if key == "items" => None,
            _ if SCHEMA.contains(&key) => Some(one(value)),
            Value::Array(schemas) if SCHEMAS.contains(&key) => Some(schemas.iter().map(one).collect()),
            Value::Object(properties) if key == "properties" => {
                Some(properties.iter().map(|(name, schema)| (name.clone(), one(schema))).collect())
            }
            _ => None,
        }
    }

    fn reference(&self, reference: &Value, schema: &Map<String, Value>, within: Option<&str>) -> Value {
        let name = reference.as_str().and_then(definition_name);
        let known = name.and_then(|name| Some((name, self.reachable.get(name)?)));
        match known {
            Some((name, leads_to))
                if within.is_none_or(|within| name != within && !leads_to.contains(within)) =>
            {
                json!({"$ref": format!("#/$defs/{name}")})
            }
            // A recursive or dangling reference. Its description remains.
            _ => schema.get("description").map_or_else(|| json!({}), |text| json!({"description": text})),
        }
    }
}

/// Merges two schemas: lists of requirements and properties are joined, other keywords are replaced.
fn merge(into: &mut Map<String, Value>, from: Map<String, Value>) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(Value::Object(known)), Value::Object(more)) if key == "properties" => known.extend(more),
            (Some(Value::Array(known)), Value::Array(more)) if key == "required" => {
                more.into_iter().for_each(|name| {
                    if !known.contains(&name) {
                        known.push(name)
                    }
                });
            }
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}

fn definitions(schema: &Value) -> BTreeMap<String, Value> {
    let tables = ["definitions", "$defs"].iter().filter_map(|key| schema.get(key)?.as_object());
    tables.flatten().map(|(name, schema)| (name.clone(), schema.clone())).collect()
}

/// The definition that a reference names in this document.
fn definition_name(reference: &str) -> Option<&str> {
    let name = reference.strip_prefix("#/$defs/").or_else(|| reference.strip_prefix("#/definitions/"))?;
    (!name.contains('/')).then_some(name)
}

fn reachable(definitions: &BTreeMap<String, Value>) -> BTreeMap<String, BTreeSet<String>> {
    let mut reachable: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, schema) in definitions {
        let mut found = BTreeSet::new();
        references(schema, &mut found);
        reachable.insert(name.clone(), found);
    }
    loop {
        let before: usize = reachable.values().map(BTreeSet::len).sum();
        let names: Vec<String> = reachable.keys().cloned().collect();
        for name in names {
            let further: BTreeSet<String> =
                reachable[&name].iter().filter_map(|next| reachable.get(next)).flatten().cloned().collect();
            reachable.entry(name).or_default().extend(further);
        }
        if reachable.values().map(BTreeSet::len).sum::<usize>() == before {
            return reachable;
        }
    }
}

fn references(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(schema) => {
            let name = schema.get("$ref").and_then(Value::as_str).and_then(definition_name);
            found.extend(name.map(str::to_owned));
            schema.values().for_each(|inner| references(inner, found));
        }
        Value::Array(schemas) => schemas.iter().for_each(|inner| references(inner, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(schema: Value, expected: Value) {
        assert_eq!(clean(&schema), expected, "{schema}");
        assert_eq!(clean(&expected), expected, "clean stays clean");
    }

    #[test]
    fn what_is_known_stays_and_the_rest_goes() {
        check(json!({}), json!({"type": "object"}));
        check(json!(null), json!({"type": "object"}));
        check(
            json!({"$schema": "x", "type": "object", "properties": {
                "a": {"type": "string", "default": "x", "pattern": "y", "description": "d"},
                "default": {"type": ["integer", "null"], "exclusiveMinimum": 3, "minimum": 1},
                "list": {"type": "array", "items": {"type": "string", "minLength": 1}},
            }, "required": ["a"], "additionalProperties": false}),
            json!({"type": "object", "properties": {
                "a": {"type": "string", "description": "d"},
                "default": {"type": ["integer", "null"], "minimum": 1},
                "list": {"type": "array", "items": {"type": "string"}},
            }, "required": ["a"], "additionalProperties": false}),
        );
    }

    #[test]
    fn what_can_be_said_in_other_words_is() {
        check(
            json!({"type": "object", "properties": {"a": {"const": 1}, "b": {"anyOf": [{"type": "null", "default": 2}]}}}),
            json!({"type": "object", "properties": {"a": {"enum": [1]}, "b": {"anyOf": [{"type": "null"}]}}}),
        );
        check(
            json!({"allOf": [
                {"properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"properties": {"b": {"type": "string"}}, "required": ["a", "b"]},
            ]}),
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "required": ["a", "b"]}),
        );
    }

    #[test]
    fn references_are_kept_where_they_end() {
        check(
            json!({"type": "object", "properties": {"a": {"$ref": "#/definitions/A", "description": "x"}},
                "definitions": {"A": {"type": "object", "properties": {"b": {"$ref": "#/definitions/B"}}},
                    "B": {"type": "string"}}}),
            json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}},
                "$defs": {"A": {"type": "object", "properties": {"b": {"$ref": "#/$defs/B"}}},
                    "B": {"type": "string"}}}),
        );
    }

    #[test]
    fn circles_are_cut() {
        check(
            json!({"type": "object", "properties": {"tree": {"$ref": "#/$defs/Tree"}, "self": {"$ref": "#"}},
                "$defs": {"Tree": {"type": "object", "properties": {
                    "left": {"$ref": "#/$defs/Tree", "description": "d"}, "leaf": {"$ref": "#/$defs/Leaf"}}},
                    "Leaf": {"properties": {"back": {"$ref": "#/$defs/Tree"}}}}}),
            json!({"type": "object", "properties": {"tree": {"$ref": "#/$defs/Tree"}, "self": {}},
                "$defs": {"Tree": {"type": "object", "properties": {"left": {"description": "d"}, "leaf": {}}},
                    "Leaf": {"properties": {"back": {}}}}}),
        );
    }
}
