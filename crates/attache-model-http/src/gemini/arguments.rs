//! Decodes the input of a call that arrives value by value, each with its path.

use serde_json::{Map, Number, Value, json};

/// The maximum depth.
const MAX_DEPTH: usize = 64;

/// An input that is being received.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    root: Map<String, Value>,
    /// The string that the next piece with the same path continues.
    open: Option<String>,
}

/// A piece without a path or a value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ArgumentError;

impl Arguments {
    pub(super) fn merge(&mut self, whole: Map<String, Value>) {
        self.root.extend(whole);
    }

    pub(super) fn take(&mut self, piece: &Value) -> Result<(), ArgumentError> {
        let path = piece.get("jsonPath").and_then(Value::as_str).ok_or(ArgumentError)?;
        let value = value(piece).ok_or(ArgumentError)?;
        let continues = self.open.as_deref() == Some(path);
        let place = self.place(path)?;
        match (&mut *place, value) {
            (Value::String(known), Value::String(more)) if continues => known.push_str(&more),
            (place, value) => *place = value,
        }
        let more_to_come = piece.get("willContinue").and_then(Value::as_bool).unwrap_or(false);
        self.open = more_to_come.then(|| path.to_owned());
        Ok(())
    }

    pub(super) fn finish(self) -> Map<String, Value> {
        self.root
    }

    fn place(&mut self, path: &str) -> Result<&mut Value, ArgumentError> {
        let steps = steps(path).ok_or(ArgumentError)?;
        let Some((PathSegment::Key(first), rest)) = steps.split_first() else { return Err(ArgumentError) };
        let mut place = self.root.entry(first.clone()).or_insert(Value::Null);
        for step in rest {
            if place.is_null() {
                *place = if matches!(step, PathSegment::Key(_)) { json!({}) } else { json!([]) };
            }
            place = match (step, place) {
                (PathSegment::Key(key), Value::Object(map)) => map.entry(key.clone()).or_insert(Value::Null),
                (PathSegment::Index(index), Value::Array(list)) => {
                    // A list has no gaps, and a large index must not allocate memory, so an index is at most the
                    // length.
                    if *index == list.len() {
                        list.push(Value::Null);
                    }
                    list.get_mut(*index).ok_or(ArgumentError)?
                }
                _ => return Err(ArgumentError),
            };
        }
        Ok(place)
    }
}

fn value(piece: &Value) -> Option<Value> {
    if let Some(text) = piece.get("stringValue") {
        return text.is_string().then(|| text.clone());
    }
    if let Some(number) = piece.get("numberValue") {
        return number.as_f64().map(|number| shortest(number, piece));
    }
    if let Some(truth) = piece.get("boolValue") {
        return truth.is_boolean().then(|| truth.clone());
    }
    piece.get("nullValue").map(|_| Value::Null)
}

/// The format has only floating-point numbers; a tool that expects 3 refuses 3.0.
fn shortest(number: f64, piece: &Value) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let whole = number.fract() == 0.0 && number.abs() <= EXACT;
    match format!("{number:.0}").parse::<i64>() {
        Ok(integer) if whole => Value::Number(Number::from(integer)),
        _ => piece["numberValue"].clone(),
    }
}

#[derive(Debug, PartialEq)]
enum PathSegment {
    Key(String),
    Index(usize),
}

/// `$.a.b[0]['c d']`
fn steps(path: &str) -> Option<Vec<PathSegment>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            steps.push(PathSegment::Key(after.get(..end).filter(|key| !key.is_empty())?.into()));
            rest = &after[end..];
        } else {
            let inside = rest.strip_prefix('[')?;
            let quote = inside.chars().next().filter(|first| matches!(first, '\'' | '"'));
            let (step, after) = match quote {
                Some(quote) => {
                    let (key, after) = inside[1..].split_once(quote)?;
                    (PathSegment::Key(key.into()), after.strip_prefix(']')?)
                }
                None => {
                    let (index, after) = inside.split_once(']')?;
                    (PathSegment::Index(index.parse().ok()?), after)
                }
            };
            steps.push(step);
            rest = after;
        }
        if steps.len() > MAX_DEPTH {
            return None;
        }
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: Value, expected: Result<Value, ArgumentError>) {
        let mut arguments = Arguments::default();
        let pieces = pieces.as_array().unwrap();
        let found = pieces.iter().try_for_each(|piece| arguments.take(piece));
        assert_eq!(found.map(|()| Value::Object(arguments.finish())), expected);
    }

    #[test]
    fn values_go_where_they_belong() {
        check(json!([]), Ok(json!({})));
        check(
            json!([
                {"jsonPath": "$.a", "stringValue": "x", "willContinue": true},
                {"jsonPath": "$.a", "stringValue": "y", "willContinue": true},
                {"jsonPath": "$.a", "stringValue": "z"},
                {"jsonPath": "$.b.c[0]", "numberValue": 3.0},
                {"jsonPath": "$.b.c[1].d", "boolValue": true},
                {"jsonPath": "$['e f']", "nullValue": "NULL_VALUE"},
                {"jsonPath": "$.g", "numberValue": 0.5},
            ]),
            Ok(json!({"a": "xyz", "b": {"c": [3, {"d": true}]}, "e f": null, "g": 0.5})),
        );
        // A string that was not to be continued is said anew.
        check(
            json!([{"jsonPath": "$.a", "stringValue": "x"}, {"jsonPath": "$.a", "stringValue": "y"}]),
            Ok(json!({"a": "y"})),
        );
    }

    #[test]
    fn what_has_no_place_is_refused() {
        for path in ["$", "a", "$.", "$.a[9]", "$[0]", "$.a[x]", "$.a['b", "$.a[0", "$.a\u{e9}["] {
            check(json!([{"jsonPath": path, "stringValue": "x"}]), Err(ArgumentError));
        }
        check(json!([{"jsonPath": "$.a"}]), Err(ArgumentError));
        check(json!([{"jsonPath": "$.a", "boolValue": 1}]), Err(ArgumentError));
        let deep = format!("$.a{}", ".b".repeat(100));
        check(json!([{"jsonPath": deep, "stringValue": "x"}]), Err(ArgumentError));
    }
}
