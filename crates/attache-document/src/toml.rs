//! TOML, with lines.

use toml::de::{DeTable, DeValue};

use crate::node::{Lines, Node, NodeKind};

pub(crate) fn parse(text: &str) -> Node {
    match DeTable::parse(text) {
        Ok(document) => Node { line: 1, kind: table(&Lines::of(text), document.get_ref()) },
        Err(_) => Node::empty(),
    }
}

fn table(lines: &Lines, entries: &DeTable<'_>) -> NodeKind {
    let entry = |(key, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
        let key: &toml::Spanned<std::borrow::Cow<'_, str>> = key;
        (key.get_ref().to_string(), node(lines, lines.at(key.span().start), value.get_ref()))
    };
    NodeKind::Table(entries.iter().map(entry).collect())
}

fn node(lines: &Lines, line: u32, value: &DeValue<'_>) -> Node {
    let kind = match value {
        DeValue::Boolean(value) => NodeKind::Bool(*value),
        DeValue::String(value) => NodeKind::Text(value.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or(NodeKind::Null, |number| NodeKind::Number(number.into())),
        DeValue::Float(number) => {
            let number: Option<f64> = number.as_str().replace('_', "").parse().ok();
            number.and_then(serde_json::Number::from_f64).map_or(NodeKind::Null, NodeKind::Number)
        }
        DeValue::Datetime(value) => NodeKind::Text(value.to_string()),
        DeValue::Array(items) => NodeKind::List(
            items.iter().map(|item| node(lines, lines.at(item.span().start), item.get_ref())).collect(),
        ),
        DeValue::Table(entries) => table(lines, entries),
    };
    Node { line, kind }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_value_has_its_line() {
        let text = "port = 1\n[enforced]\na = true\n[enforced.b]\nc = [1, 0x10, 0.5, 'x']\n[other]\nd = 1\n";
        let document = parse(text);
        let node = document.at("enforced").unwrap();
        assert_eq!(node.to_json(), json!({"a": true, "b": {"c": [1, 16, 0.5, "x"]}}));
        let NodeKind::Table(entries) = &node.kind else { panic!() };
        assert_eq!(entries.iter().map(|(_, node)| node.line).collect::<Vec<_>>(), [3, 4]);
        assert_eq!(document.at("enforced.b.c").map(|node| node.line), Some(5));
        assert_eq!(document.at("enforced.missing"), None);
        assert_eq!(parse("not toml"), Node::empty());
    }
}
