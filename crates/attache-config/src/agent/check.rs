//! Whether a value is what its key takes.

use super::keys::Takes;
use crate::tree::{Kind, Node};

/// What would be right, when it is not.
pub(crate) fn check(takes: Takes, node: &Node) -> Result<(), String> {
    let right = match (takes, &node.kind) {
        // Checked one by one, each with its own keys.
        (Takes::Servers, kind) => matches!(kind, Kind::Table(_)),
        (Takes::Bool, kind) => matches!(kind, Kind::Bool(_)),
        (Takes::Whole { least, most }, Kind::Number(number)) => {
            number.as_i64().is_some_and(|number| (least..=most).contains(&number))
        }
        (Takes::Share, Kind::Number(number)) => {
            number.as_f64().is_some_and(|number| (0.0..=1.0).contains(&number))
        }
        (Takes::Text, Kind::Text(text)) => !text.trim().is_empty(),
        (Takes::TextOrTexts, Kind::Text(text)) => !text.trim().is_empty(),
        (Takes::OneOf(known), Kind::Text(text)) => known.contains(&text.as_str()),
        (Takes::Texts | Takes::TextOrTexts, Kind::List(nodes)) => {
            nodes.iter().all(|node| matches!(&node.kind, Kind::Text(text) if !text.trim().is_empty()))
        }
        _ => false,
    };
    if right { Ok(()) } else { Err(format!("must be {}, not {}", expected(takes), found(takes, node))) }
}

pub(crate) fn expected(takes: Takes) -> String {
    match takes {
        Takes::Bool => "true or false".into(),
        Takes::Whole { least, most } => format!("a whole number from {least} to {most}"),
        Takes::Share => "a number from 0 to 1".into(),
        Takes::Text => "a text".into(),
        Takes::OneOf(known) => format!("one of {}", known.join(", ")),
        Takes::Texts => "a list of texts".into(),
        Takes::TextOrTexts => "a text or a list of texts".into(),
        Takes::Servers => "a table of servers".into(),
    }
}

/// Where a text has to be one of a few, which one it is helps, and it can hardly be a secret.
fn found(takes: Takes, node: &Node) -> String {
    match (takes, &node.kind) {
        (Takes::OneOf(_), Kind::Text(text)) if text.len() <= 40 => format!("{text:?}"),
        (Takes::Text | Takes::TextOrTexts, Kind::Text(_)) => "an empty one".into(),
        (Takes::Texts | Takes::TextOrTexts, Kind::List(_)) => "a list with something else in it".into(),
        _ => node.describe(),
    }
}
