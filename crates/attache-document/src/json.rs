//! Reads JSON with comments and trailing commas.

use jsonc_parser::ast::{ObjectPropName, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::{ParseError as JsonError, ParseErrorKind};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::node::{Lines, MAX_DEPTH, Node, NodeKind, ParseError};

/// JSON with comments and trailing commas, and nothing else of what people call JSON5.
pub(crate) const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub(crate) fn parse(text: &str) -> Result<Node, ParseError> {
    let parsed =
        parse_to_ast(text, &CollectOptions::default(), &OPTIONS).map_err(|error| unreadable(&error))?;
    let Some(value) = parsed.value else { return Ok(Node::empty()) };
    Reader { lines: Lines::of(text) }.node(value, 0)
}

struct Reader {
    lines: Lines,
}

impl Reader {
    fn node(&self, value: Value<'_>, depth: usize) -> Result<Node, ParseError> {
        let line = self.lines.at(value.start());
        if depth > MAX_DEPTH {
            return Err(too_deep(line));
        }
        let kind = match value {
            Value::NullKeyword(_) => NodeKind::Null,
            Value::BooleanLit(literal) => NodeKind::Bool(literal.value),
            Value::NumberLit(literal) => {
                let number = serde_json::from_str(literal.value);
                NodeKind::Number(number.map_err(|_| ParseError { line, message: "not a number".into() })?)
            }
            Value::StringLit(literal) => NodeKind::Text(literal.value.into_owned()),
            Value::Array(array) => {
                let nodes = array.elements.into_iter().map(|element| self.node(element, depth + 1));
                NodeKind::List(nodes.collect::<Result<_, _>>()?)
            }
            Value::Object(object) => {
                let mut entries: Vec<(String, Node)> = Vec::new();
                for property in object.properties {
                    let line = self.lines.at(property.range.start);
                    let name = match property.name {
                        ObjectPropName::String(name) => name.value.into_owned(),
                        ObjectPropName::Word(name) => name.value.to_owned(),
                    };
                    let node = Node { line, ..self.node(property.value, depth + 1)? };
                    // Of two members with the same name, the later one counts.
                    entries.retain(|(known, _)| *known != name);
                    entries.push((name, node));
                }
                NodeKind::Table(entries)
            }
        };
        Ok(Node { line, kind })
    }
}

pub(crate) fn unreadable(error: &JsonError) -> ParseError {
    let line = u32::try_from(error.line_display()).unwrap_or(u32::MAX);
    match error.kind() {
        ParseErrorKind::NestingDepthExceeded => too_deep(line),
        kind => ParseError { line, message: lower_first(&kind.to_string()) },
    }
}

fn too_deep(line: u32) -> ParseError {
    ParseError { line, message: format!("nested deeper than {MAX_DEPTH} levels") }
}

/// The parser's messages begin with a capital letter; ours continue a sentence.
fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_accepted() {
        for (text, expected) in [
            ("", json!({})),
            (" // nothing\n/* more\n */ ", json!({})),
            (
                r#"{"a": 1, /* x */ "b": [true, null, "c // d",], // e
               }"#,
                json!({"a": 1, "b": [true, null, "c // d"]}),
            ),
            (r#"{"a": "q\"\u00e4\\"}"#, json!({"a": "q\"ä\\"})),
            (r#"{"a": 1, "a": 2}"#, json!({"a": 2})),
            ("[1.5, -2e3, []]", json!([1.5, -2000.0, []])),
        ] {
            assert_eq!(parse(text).map(|node| node.to_json()), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_value_has_the_line_of_its_name() {
        let NodeKind::Table(entries) = parse("{\n\"a\":\n\n1,\n/*\n*/\"b\": {\n\"c\": 2}}").unwrap().kind
        else {
            panic!()
        };
        let lines: Vec<_> = entries.iter().map(|(name, node)| (name.as_str(), node.line)).collect();
        assert_eq!(lines, [("a", 2), ("b", 6)]);
    }

    #[test]
    fn a_mistake_is_reported_with_its_line() {
        for (text, line, message) in [
            ("{\n\"a\" 1}", 2, "expected colon after the string or word in object property"),
            ("{\"a\": 1", 1, "unterminated object"),
            ("{\n\na: 1}", 3, "expected string for object property"),
            ("{} x", 1, "text cannot contain more than one JSON value"),
            ("{\"a\": yes}", 1, "unexpected token"),
            ("{\"a\": 1 \"b\": 2}", 1, "expected comma"),
            ("{'a': 1}", 1, "single-quoted strings are not allowed"),
            ("/* x", 1, "unterminated comment block"),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!((error.line, error.message.as_str()), (line, message), "{text}");
        }
        for text in ["{\"a\": \"b", "{\"a\": 1-2}", "[01]", "[1e]", "[NaN]", "[0x1]"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse(&"[".repeat(10_000)).unwrap_err().message.contains("nested deeper"));
        let deep = format!("{}{}", "[".repeat(MAX_DEPTH + 2), "]".repeat(MAX_DEPTH + 2));
        assert!(parse(&deep).unwrap_err().message.contains("nested deeper"));
    }

    proptest! {
        #[test]
        fn any_text_is_safe_to_read(text in "\\PC*") {
            let _ = parse(&text);
        }

        #[test]
        fn text_that_is_nearly_json_is_safe_to_read(text in "[\\[\\]{}\",:/*\n a1.e\\\\tn-]{0,200}") {
            let _ = parse(&text);
        }

        #[test]
        fn plain_json_keeps_its_meaning(a in any::<i64>(), b in "\\PC*", c in proptest::option::of(any::<bool>())) {
            let value = json!({"a": a, "b": {&b: [b, c]}});
            prop_assert_eq!(parse(&value.to_string()).unwrap().to_json(), value.clone());
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(parse(&pretty).unwrap().to_json(), value as Value);
        }
    }
}
