//! An answer in one piece, however it was cut.

use serde_json::{Value, json};

/// Makes one of the events or messages that carry on each other's text, without changing anything else.
pub(in crate::gemini_peer) fn joined(items: &[Value]) -> Vec<Value> {
    let mut whole: Vec<Value> = Vec::new();
    for item in items {
        match whole.last_mut().map(|last| (answer(last).map(str::to_owned), last)) {
            Some((Some(before), last)) if answer(item).is_some() && place(last) == place(item) => {
                let text = format!("{before}{}", answer(item).unwrap_or_default());
                let place = place(last);
                if let Some(slot) = last.pointer_mut(place) {
                    *slot = json!(text);
                }
            }
            _ => whole.push(item.clone()),
        }
    }
    whole
}

/// The text of an item that is a piece of an answer.
fn answer(item: &Value) -> Option<&str> {
    let is_piece = item["metadata"]["coderAgent"]["kind"] == "text-content" || item["role"] == "agent";
    is_piece.then(|| item.pointer(place(item))?.as_str())?
}

/// Where the text stands: in an event, or in a message.
fn place(item: &Value) -> &'static str {
    if item.get("status").is_some() { "/status/message/parts/0/text" } else { "/parts/0/text" }
}
