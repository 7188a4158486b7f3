//! Encodes the conversation as Anthropic's messages.

use std::sync::Arc;

use attache_domain::{Content, Exchange, ModelPart, ModelPartContent};
use serde_json::{Value, json};

use super::models::family;
use crate::history::{AnswerPart, CallWithResult, GO_ON, HistoryMessage, NO_RESULT, history_messages};
use crate::media::{MediaPart, media_part};
use crate::tool_names::ToolNames;

/// The model that the request is for.
#[derive(Debug, Clone, Copy)]
pub(super) struct TargetModel<'a> {
    pub(super) route: &'a str,
    pub(super) family: &'a str,
    pub(super) names: &'a ToolNames,
}

pub(super) struct Messages {
    /// Alternating messages that begin and end with the user's, with every call answered.
    pub(super) list: Vec<Value>,
    /// Whether the current turn has an answer with calls that does not begin with a thought of this family.
    pub(super) thoughtless: bool,
}

/// `None` if there is no content.
pub(super) fn messages(exchanges: &[Arc<Exchange>], reader: TargetModel<'_>) -> Option<Messages> {
    let mut messages = Messages { list: Vec::new(), thoughtless: false };
    for turn in history_messages(exchanges) {
        match turn {
            HistoryMessage::User(content) => {
                messages.push("user", content.iter().filter_map(block).collect())
            }
            HistoryMessage::Model(parts) => {
                let blocks: Vec<Value> =
                    parts.iter().filter_map(|part| answer_block(part.model_part, &part.id, reader)).collect();
                let called = parts.iter().any(is_current_call);
                let thought = blocks.first().is_some_and(is_thought);
                messages.thoughtless |= called && !thought;
                messages.push("assistant", blocks);
            }
            HistoryMessage::Results(settled) => messages.push("user", results(&settled)),
        }
    }
    if messages.list.is_empty() {
        return None;
    }
    // Anthropic would continue an answer at the end of the history.
    if messages.list.last().is_some_and(|last| last["role"] == "assistant") {
        messages.push("user", vec![json!({"type": "text", "text": GO_ON})]);
    }
    Some(messages)
}

impl Messages {
    fn push(&mut self, role: &str, mut blocks: Vec<Value>) {
        if blocks.is_empty() {
            return;
        }
        let same = |last: &&mut Value| last["role"] == role;
        if let Some(Value::Array(known)) = self.list.last_mut().filter(same).map(|last| &mut last["content"])
        {
            known.append(&mut blocks);
            return;
        }
        if self.list.is_empty() && role == "assistant" {
            self.list.push(json!({"role": "user", "content": [{"type": "text", "text": GO_ON}]}));
        }
        self.list.push(json!({"role": role, "content": blocks}));
    }
}

fn is_current_call(part: &AnswerPart<'_>) -> bool {
    part.current && matches!(part.model_part.what, ModelPartContent::Call(_))
}

fn is_thought(block: &Value) -> bool {
    block["type"] == "thinking" || block["type"] == "redacted_thinking"
}

/// A piece of an answer. Thoughts are sent whole and signed, or not at all.
pub(super) fn answer_block(part: &ModelPart, id: &str, reader: TargetModel<'_>) -> Option<Value> {
    let own = part
        .opaque
        .as_ref()
        .filter(|opaque| opaque.provider == reader.route && family(&opaque.model) == reader.family);
    let data = |key: &str| own.and_then(|opaque| opaque.data.get(key));
    match &part.what {
        ModelPartContent::Text(text) if text.trim().is_empty() => None,
        ModelPartContent::Text(text) => Some(json!({"type": "text", "text": text})),
        ModelPartContent::Thought(text) => {
            let signature = data("signature")?;
            Some(json!({"type": "thinking", "thinking": text, "signature": signature}))
        }
        ModelPartContent::Hidden => data("block").cloned(),
        ModelPartContent::Call(call) => Some(json!({
            "type": "tool_use",
            "id": id,
            "name": reader.names.sent_name(&call.name),
            "input": call.input,
        })),
    }
}

/// All results, followed by content that a result cannot contain.
fn results(settled: &[CallWithResult<'_>]) -> Vec<Value> {
    let (mut blocks, mut beside) = (Vec::new(), Vec::new());
    for CallWithResult { id, result, .. } in settled {
        let failed = result.is_none_or(|result| result.failed);
        let output = result.map_or(&[][..], |result| &result.output);
        let mut inside: Vec<Value> = output.iter().filter_map(block).collect();
        if failed {
            // An error result can contain only text.
            let (texts, media): (Vec<_>, Vec<_>) =
                inside.into_iter().partition(|block| block["type"] == "text");
            inside = texts;
            beside.extend(media);
        }
        // An error result must not be empty.
        if result.is_none() {
            inside.push(json!({"type": "text", "text": NO_RESULT}));
        } else if failed && inside.is_empty() {
            inside.push(json!({"type": "text", "text": "The call failed and does not say why."}));
        }
        let mut block = json!({"type": "tool_result", "tool_use_id": id});
        if !inside.is_empty() {
            block["content"] = Value::Array(inside);
        }
        if failed {
            block["is_error"] = json!(true);
        }
        blocks.push(block);
    }
    blocks.append(&mut beside);
    blocks
}

fn block(content: &Content) -> Option<Value> {
    Some(match media_part(content)? {
        MediaPart::Text(text) => json!({"type": "text", "text": text}),
        MediaPart::Image { media_type, bytes } => {
            json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": bytes}})
        }
        MediaPart::Pdf { bytes, name } => {
            let source = json!({"type": "base64", "media_type": "application/pdf", "data": bytes});
            let mut block = json!({"type": "document", "source": source});
            if let Some(name) = name.filter(|name| !name.trim().is_empty()) {
                block["title"] = json!(name);
            }
            block
        }
    })
}

#[cfg(test)]
#[path = "messages_tests.rs"]
mod tests;
