//! Checks the type of a key's value.

use attache_document::{Node, NodeKind};

use super::age;
use super::keys::ValueType;

/// The expected value, if the value is wrong.
pub(crate) fn check(takes: ValueType, node: &Node) -> Result<(), String> {
    let right = match (takes, &node.kind) {
        // Checked separately, each with its own keys.
        (ValueType::Servers | ValueType::Agents, kind) => matches!(kind, NodeKind::Table(_)),
        (ValueType::Bool, kind) => matches!(kind, NodeKind::Bool(_)),
        (ValueType::Whole { least, most }, NodeKind::Number(number)) => {
            number.as_i64().is_some_and(|number| (least..=most).contains(&number))
        }
        (ValueType::Share, NodeKind::Number(number)) => {
            number.as_f64().is_some_and(|number| (0.0..=1.0).contains(&number))
        }
        (ValueType::Text, NodeKind::Text(text)) => !text.trim().is_empty(),
        (ValueType::TextOrTexts, NodeKind::Text(text)) => !text.trim().is_empty(),
        (ValueType::Age, NodeKind::Text(text)) => age::parse(text).is_some(),
        (ValueType::OneOf(known), NodeKind::Text(text)) => known.contains(&text.as_str()),
        (ValueType::Texts | ValueType::TextOrTexts, NodeKind::List(nodes)) => {
            nodes.iter().all(|node| matches!(&node.kind, NodeKind::Text(text) if !text.trim().is_empty()))
        }
        _ => false,
    };
    if right { Ok(()) } else { Err(format!("must be {}, not {}", expected(takes), found(takes, node))) }
}

pub(crate) fn expected(takes: ValueType) -> String {
    match takes {
        ValueType::Bool => "true or false".into(),
        ValueType::Whole { least, most } => format!("a whole number from {least} to {most}"),
        ValueType::Share => "a number from 0 to 1".into(),
        ValueType::Text => "a text".into(),
        ValueType::OneOf(known) => format!("one of {}", known.join(", ")),
        ValueType::Texts => "a list of texts".into(),
        ValueType::TextOrTexts => "a text or a list of texts".into(),
        ValueType::Age => age::EXPECTED.into(),
        ValueType::Servers => "a table of servers".into(),
        ValueType::Agents => "a table of agents".into(),
    }
}

/// For an enumeration the wrong value is shown, because it is hardly a secret.
fn found(takes: ValueType, node: &Node) -> String {
    match (takes, &node.kind) {
        (ValueType::OneOf(_) | ValueType::Age, NodeKind::Text(text)) if text.len() <= 40 => {
            format!("{text:?}")
        }
        (ValueType::Text | ValueType::TextOrTexts, NodeKind::Text(_)) => "an empty one".into(),
        (ValueType::Texts | ValueType::TextOrTexts, NodeKind::List(_)) => {
            "a list with something else in it".into()
        }
        _ => node.describe(),
    }
}
