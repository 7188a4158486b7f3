//! Reads the part of YAML that JSON can express.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use serde_saphyr::Spanned;

use crate::node::{Node, NodeKind, ParseError};

pub(crate) fn parse(text: &str, max_depth: usize) -> Result<Node, ParseError> {
    let options = serde_saphyr::options! {
        strict_booleans: true,
        reject_unsupported_tags: true,
        with_snippet: false,
        budget: serde_saphyr::budget! { max_depth: max_depth, max_nodes: 100_000 },
    };
    let tree: Spanned<NodeKind> = serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let message = error.without_snippet().to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        // What follows is for programmers.
        let message = message.split(", set DuplicateKeyPolicy").next().unwrap_or_default().to_owned();
        ParseError { line: error.location().map_or(1, |location| line(location.line())), message }
    })?;
    Ok(located(tree))
}

fn line(line: u64) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

fn located(spanned: Spanned<NodeKind>) -> Node {
    Node { line: line(spanned.referenced.line()), kind: spanned.value }
}

impl<'de> Deserialize<'de> for NodeKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KindVisitor)
    }
}

struct KindVisitor;

impl<'de> Visitor<'de> for KindVisitor {
    type Value = NodeKind;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<NodeKind, E> {
        Ok(NodeKind::Null)
    }

    fn visit_none<E>(self) -> Result<NodeKind, E> {
        Ok(NodeKind::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<NodeKind, E> {
        Ok(NodeKind::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<NodeKind, E> {
        Ok(NodeKind::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<NodeKind, E> {
        Ok(NodeKind::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<NodeKind, E> {
        Number::from_f64(value).map(NodeKind::Number).ok_or_else(|| E::custom("a number must be finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<NodeKind, E> {
        Ok(NodeKind::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<NodeKind, A::Error> {
        let mut nodes = Vec::new();
        while let Some(spanned) = sequence.next_element::<Spanned<NodeKind>>()? {
            nodes.push(located(spanned));
        }
        Ok(NodeKind::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<NodeKind, A::Error> {
        let mut entries: Vec<(String, Node)> = Vec::new();
        while let Some((key, value)) = map.next_entry::<Spanned<String>, Spanned<NodeKind>>()? {
            if entries.iter().any(|(known, _)| *known == key.value) {
                return Err(A::Error::custom(format!("the key {:?} is there twice", key.value)));
            }
            entries.push((key.value, Node { line: line(key.referenced.line()), kind: value.value }));
        }
        Ok(NodeKind::Table(entries))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_same_tree_as_json_would_make() {
        let node =
            Node::from_yaml("# x\nmodel:\n  name: pro\ntools:\n  exclude: [a, b]\nuseWriteTodos: false\n")
                .unwrap();
        let expected =
            json!({"model": {"name": "pro"}, "tools": {"exclude": ["a", "b"]}, "useWriteTodos": false});
        assert_eq!(node.to_json(), expected);
        let NodeKind::Table(entries) = &node.kind else { panic!() };
        assert_eq!(entries.iter().map(|(_, node)| node.line).collect::<Vec<_>>(), [2, 4, 6]);
        assert_eq!(Node::from_yaml("# only this\n").unwrap().to_json(), json!({}));
        assert_eq!(Node::from_yaml("\n").unwrap(), Node::empty());
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        assert!(Node::from_yaml("a: 1\nb: [\n").unwrap_err().line > 1);
        let error = Node::from_yaml("a: 1\nb: 2\na: 2\n").unwrap_err();
        assert_eq!((error.line, error.message.as_str()), (3, "duplicate mapping key: a"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_fall_over(text in "\\PC*") {
            let _ = Node::from_yaml(&text);
        }

        #[test]
        fn nor_does_text_that_is_nearly_yaml(text in "[a:\\-\n \\[\\]{}&*!|>'\"#,1]{0,120}") {
            let _ = Node::from_yaml(&text);
        }
    }
}
