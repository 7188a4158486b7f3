//! The tree of every document. Each value knows its line.

use serde_json::{Map, Number, Value};

/// The maximum depth.
pub(crate) const MAX_DEPTH: usize = 32;

#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The line of the name, for a value in a table. Counted from one.
    pub line: u32,
    pub kind: NodeKind,
}

#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Table(Vec<(String, Node)>),
}

/// Why a text cannot be read, and in which line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    pub line: u32,
    pub message: String,
}

impl Node {
    /// JSON with comments and trailing commas. A text without a value is an empty table.
    pub fn from_json(text: &str) -> Result<Self, ParseError> {
        crate::json::parse(text)
    }

    /// YAML. A text without a value is an empty table.
    pub fn from_yaml(text: &str) -> Result<Self, ParseError> {
        if text.trim().is_empty() {
            return Ok(Self::empty());
        }
        let node = Self::from_yaml_within(text, MAX_DEPTH)?;
        Ok(if node.kind == NodeKind::Null { Self::empty() } else { node })
    }

    /// YAML, nested at most `max_depth` levels deep. Only `true` and `false` are booleans, as in YAML 1.2.
    pub fn from_yaml_within(text: &str, max_depth: usize) -> Result<Self, ParseError> {
        crate::yaml::parse(text, max_depth)
    }

    /// TOML that is known to be valid. Anything else is an empty table.
    pub fn from_toml(text: &str) -> Self {
        crate::toml::parse(text)
    }

    /// The value at a path of names with dots between them.
    pub fn at(&self, path: &str) -> Option<&Self> {
        path.split('.').try_fold(self, |node, name| match &node.kind {
            NodeKind::Table(entries) => entries.iter().find(|(known, _)| known == name).map(|(_, node)| node),
            _ => None,
        })
    }

    /// The value of this name in a table. The name may hold dots.
    pub fn entry(&self, name: &str) -> Option<&Self> {
        match &self.kind {
            NodeKind::Table(entries) => entries.iter().find(|(known, _)| known == name).map(|(_, node)| node),
            _ => None,
        }
    }

    pub fn empty() -> Self {
        Self { line: 0, kind: NodeKind::Table(Vec::new()) }
    }

    pub fn new(line: u32, kind: NodeKind) -> Self {
        Self { line, kind }
    }

    pub fn describe(&self) -> String {
        match &self.kind {
            NodeKind::Null => "nothing".into(),
            NodeKind::Bool(value) => value.to_string(),
            NodeKind::Number(number) => format!("the number {number}"),
            // The text may be a secret in the wrong place, so it is not shown.
            NodeKind::Text(_) => "a text".into(),
            NodeKind::List(_) => "a list".into(),
            NodeKind::Table(_) => "a table".into(),
        }
    }

    pub fn to_json(&self) -> Value {
        match &self.kind {
            NodeKind::Null => Value::Null,
            NodeKind::Bool(value) => Value::Bool(*value),
            NodeKind::Number(number) => Value::Number(number.clone()),
            NodeKind::Text(text) => Value::String(text.clone()),
            NodeKind::List(nodes) => Value::Array(nodes.iter().map(Self::to_json).collect()),
            NodeKind::Table(entries) => Value::Object(
                entries.iter().map(|(name, node)| (name.clone(), node.to_json())).collect::<Map<_, _>>(),
            ),
        }
    }

    /// Changes every text in the tree, but no names.
    pub fn map_texts(&mut self, change: &mut dyn FnMut(u32, &str) -> Option<String>) {
        let line = self.line;
        match &mut self.kind {
            NodeKind::Text(text) => {
                if let Some(changed) = change(line, text) {
                    *text = changed;
                }
            }
            NodeKind::List(nodes) => nodes.iter_mut().for_each(|node| node.map_texts(change)),
            NodeKind::Table(entries) => entries.iter_mut().for_each(|(_, node)| node.map_texts(change)),
            NodeKind::Null | NodeKind::Bool(_) | NodeKind::Number(_) => {}
        }
    }
}

/// Where the lines of a text end.
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    pub(crate) fn of(text: &str) -> Self {
        Self(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect())
    }

    /// The line of the byte `at`, counted from one.
    pub(crate) fn at(&self, at: usize) -> u32 {
        let before = self.0.partition_point(|newline| *newline < at);
        u32::try_from(before + 1).unwrap_or(u32::MAX)
    }
}
