//! One block of an answer, from its start to its stop.

use serde_json::{Map, Value};

#[derive(Debug)]
pub(super) enum Block {
    Text,
    Thinking {
        text: String,
        signature: String,
    },
    /// Complete at the start, and encrypted.
    Redacted(Value),
    Call {
        id: String,
        name: String,
        /// The input as streamed.
        json: String,
        /// The input that some servers send at the start.
        whole: Map<String, Value>,
    },
    /// An unknown block.
    Other,
}

impl Block {
    pub(super) fn start(block: &Value) -> Self {
        let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        match block["type"].as_str() {
            Some("text") => Self::Text,
            Some("thinking") => Self::Thinking { text: text("thinking"), signature: text("signature") },
            Some("redacted_thinking") => Self::Redacted(block.clone()),
            Some("tool_use") => Self::Call {
                id: text("id"),
                name: text("name"),
                json: String::new(),
                whole: block["input"].as_object().cloned().unwrap_or_default(),
            },
            _ => Self::Other,
        }
    }
}

/// The input of a call; `None` if it cannot be decoded.
pub(super) fn input(json: &str, whole: Map<String, Value>) -> Option<Map<String, Value>> {
    match json.trim() {
        "" => Some(whole),
        json => match serde_json::from_str(json).ok()? {
            Value::Object(input) => Some(input),
            _ => None,
        },
    }
}
