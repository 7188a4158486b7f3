//! YAML as a tree whose every node knows its line, for errors that can be found.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::Spanned;

use super::error::{Problem, ScriptError};
use super::limits::MAX_DEPTH;

#[derive(Debug)]
pub(super) struct Node {
    /// Of the key, for a value in a map.
    pub(super) line: u64,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

impl Node {
    pub(super) fn read(text: &str) -> Result<Self, ScriptError> {
        let options = serde_saphyr::options! {
            // Only `true` and `false`, as in YAML 1.2: `say: yes` is a text.
            strict_booleans: true,
            reject_unsupported_tags: true,
            with_snippet: false,
            budget: serde_saphyr::budget! { max_depth: MAX_DEPTH, max_nodes: 100_000 },
        };
        let tree: Spanned<Kind> =
            serde_saphyr::from_str_with_options(text, options).map_err(|error| unreadable(text, &error))?;
        Ok(located(tree))
    }

    pub(super) fn into_text(self) -> Result<String, Problem> {
        match self.kind {
            Kind::Text(text) => Ok(text),
            Kind::Bool(_) | Kind::Number(_) => {
                let what = format!("expected a text, found {}: put it in quotes", self.describe());
                Err(Problem::new(self.line, what))
            }
            Kind::Null | Kind::List(_) | Kind::Map(_) => Err(self.unexpected("a text")),
        }
    }

    pub(super) fn into_list(self, expected: &str) -> Result<Vec<Node>, Problem> {
        match self.kind {
            Kind::List(nodes) => Ok(nodes),
            _ => Err(self.unexpected(expected)),
        }
    }

    pub(super) fn into_bool(self) -> Result<bool, Problem> {
        match self.kind {
            Kind::Bool(value) => Ok(value),
            _ => Err(self.unexpected("`true` or `false`")),
        }
    }

    pub(super) fn into_json(self) -> Value {
        match self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(value),
            Kind::Number(number) => Value::Number(number),
            Kind::Text(text) => Value::String(text),
            Kind::List(nodes) => Value::Array(nodes.into_iter().map(Node::into_json).collect()),
            Kind::Map(entries) => Value::Object(
                entries.into_iter().map(|(key, node)| (key, node.into_json())).collect::<Map<_, _>>(),
            ),
        }
    }

    pub(super) fn unexpected(&self, expected: &str) -> Problem {
        Problem::new(self.line, format!("expected {expected}, found {}", self.describe()))
    }

    fn describe(&self) -> String {
        match &self.kind {
            Kind::Null => "nothing".into(),
            Kind::Bool(value) => format!("`{value}`"),
            Kind::Number(number) => format!("the number {number}"),
            Kind::Text(text) if text.chars().count() > 40 => "a text".into(),
            Kind::Text(text) => format!("the text {text:?}"),
            Kind::List(_) => "a list".into(),
            Kind::Map(_) => "a map".into(),
        }
    }
}

fn located(spanned: Spanned<Kind>) -> Node {
    Node { line: spanned.referenced.line(), kind: spanned.value }
}

/// A placeholder at the start of a value is the mistake everybody makes once: YAML takes it for a map.
fn unreadable(text: &str, error: &serde_saphyr::Error) -> ScriptError {
    let line = error.location().map_or(1, |location| location.line());
    let mut what = error.without_snippet().to_string();
    if let Some((message, _)) = what.split_once(" at line ") {
        what.truncate(message.len());
    }
    let source = text.lines().nth(usize::try_from(line).unwrap_or(usize::MAX).saturating_sub(1));
    if source.is_some_and(|source| source.contains(": {{") || source.contains("- {{")) {
        what.push_str("; a value that begins with `{{` needs quotes around it");
    }
    ScriptError::Yaml { line, what }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KindVisitor)
    }
}

struct KindVisitor;

impl<'de> Visitor<'de> for KindVisitor {
    type Value = Kind;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Kind, E> {
        Ok(Kind::Null)
    }

    fn visit_none<E>(self) -> Result<Kind, E> {
        Ok(Kind::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Kind, E> {
        Ok(Kind::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Kind, E> {
        Ok(Kind::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Kind, E> {
        Ok(Kind::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Kind, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("a number must be finite"))?;
        Ok(Kind::Number(number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Kind, E> {
        Ok(Kind::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Kind, E> {
        Ok(Kind::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Kind, A::Error> {
        let mut nodes = Vec::new();
        while let Some(spanned) = sequence.next_element::<Spanned<Kind>>()? {
            nodes.push(located(spanned));
        }
        Ok(Kind::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Kind, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, value)) = map.next_entry::<Spanned<String>, Spanned<Kind>>()? {
            if key.value.is_empty() {
                return Err(A::Error::custom("a key must not be empty"));
            }
            entries.push((key.value, Node { line: key.referenced.line(), kind: value.value }));
        }
        Ok(Kind::Map(entries))
    }
}
