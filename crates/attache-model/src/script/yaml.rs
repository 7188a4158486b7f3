//! YAML as a tree that knows the line of every node, for error messages.

use attache_document::{NodeKind, ParseError};
use serde_json::{Map, Number, Value};

use super::error::{Problem, ScriptError};
use super::limits::MAX_DEPTH;

#[derive(Debug)]
pub(super) struct Node {
    /// The line of the key, for a value in a map.
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
        let tree = attache_document::Node::from_yaml_within(text, MAX_DEPTH);
        Self::of(tree.map_err(|error| unreadable(text, error))?)
    }

    fn of(node: attache_document::Node) -> Result<Self, ScriptError> {
        let line = u64::from(node.line);
        let kind = match node.kind {
            NodeKind::Null => Kind::Null,
            NodeKind::Bool(value) => Kind::Bool(value),
            NodeKind::Number(number) => Kind::Number(number),
            NodeKind::Text(text) => Kind::Text(text),
            NodeKind::List(nodes) => Kind::List(nodes.into_iter().map(Self::of).collect::<Result<_, _>>()?),
            NodeKind::Table(entries) => {
                let entry = |(key, node): (String, attache_document::Node)| match key.as_str() {
                    "" => {
                        let what = "a key must not be empty".to_owned();
                        Err(ScriptError::Yaml { line: u64::from(node.line), what })
                    }
                    _ => Ok((key, Self::of(node)?)),
                };
                Kind::Map(entries.into_iter().map(entry).collect::<Result<_, _>>()?)
            }
        };
        Ok(Self { line, kind })
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

/// A placeholder at the start of a value is a common mistake: YAML reads it as a map.
fn unreadable(text: &str, error: ParseError) -> ScriptError {
    let (line, mut what) = (u64::from(error.line), error.message);
    let source = text.lines().nth(usize::try_from(line).unwrap_or(usize::MAX).saturating_sub(1));
    if source.is_some_and(|source| source.contains(": {{") || source.contains("- {{")) {
        what.push_str("; a value that begins with `{{` needs quotes around it");
    }
    ScriptError::Yaml { line, what }
}
