//! Formats values for the reason of a failure.

use serde_json::Value;

/// Longer values are cut.
const MAX_CHARS: usize = 300;

pub(crate) fn shown(value: &Value) -> String {
    shortened(&value.to_string())
}

/// A whole reason, which may contain several values.
pub(crate) fn reason(text: &str) -> String {
    cut(text, 3 * MAX_CHARS)
}

pub(crate) fn shortened(text: &str) -> String {
    cut(text, MAX_CHARS)
}

fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
