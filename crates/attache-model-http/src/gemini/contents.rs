//! What was said so far, in Gemini's words.
//!
//! Gemini refuses a history whose calls and results do not pair up. Whoever builds a prompt sees to that; what
//! still does not fit, say after a crash, is repaired here, because a refused history would be refused for ever.

mod media;

use std::sync::Arc;

use attache_domain::{CallId, Exchange, Said, ToolCall, ToolResult, Utterance};
use serde_json::{Value, json};

use super::models::{Generation, Model, family};
use crate::history::{GO_ON, NO_RESULT};
use crate::saying::MADE_UP;

/// Stands where a signature is wanted and none is known that fits.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Who reads it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) model: &'a Model,
    pub(super) route: &'a str,
}

/// One after the other, beginning with the user, with every call answered.
pub(super) fn contents(exchanges: &[Arc<Exchange>], reader: Reader<'_>) -> Vec<Value> {
    let turn = exchanges.iter().rposition(|exchange| matches!(**exchange, Exchange::User(_))).unwrap_or(0);
    let mut writer = Writer { reader, contents: Vec::new(), pending: Vec::new() };
    for (index, exchange) in exchanges.iter().enumerate() {
        match &**exchange {
            Exchange::User(content) => {
                writer.settle(&[]);
                let parts = content.iter().filter_map(media::part).collect();
                writer.push("user", parts);
            }
            Exchange::Model(said) => {
                writer.settle(&[]);
                writer.model(said, index > turn);
            }
            Exchange::Results(results) => writer.settle(results),
        }
    }
    writer.settle(&[]);
    writer.contents
}

struct Writer<'a> {
    reader: Reader<'a>,
    contents: Vec<Value>,
    /// The calls of the last answer.
    pending: Vec<&'a ToolCall>,
}

impl<'a> Writer<'a> {
    fn push(&mut self, role: &str, mut parts: Vec<Value>) {
        if parts.is_empty() {
            return;
        }
        let same = |last: &&mut Value| last["role"] == role && !holds_results(last);
        if let Some(Value::Array(known)) =
            self.contents.last_mut().filter(same).map(|last| &mut last["parts"])
        {
            known.append(&mut parts);
            return;
        }
        if self.contents.is_empty() && role == "model" {
            self.contents.push(json!({"role": "user", "parts": [{"text": GO_ON}]}));
        }
        self.contents.push(json!({"role": role, "parts": parts}));
    }

    fn model(&mut self, said: &'a [Said], current: bool) {
        let mut parts = Vec::new();
        for said in said {
            let first_call = matches!(said.what, Utterance::Call(_)) && self.pending.is_empty();
            if let Utterance::Call(call) = &said.what {
                self.pending.push(call);
            }
            parts.extend(self.said(said, current && first_call));
        }
        self.push("model", parts);
    }

    /// `signed` says that Gemini insists on a signature here.
    fn said(&self, said: &Said, signed: bool) -> Option<Value> {
        let own = said.opaque.as_ref().filter(|opaque| {
            opaque.provider == self.reader.route && family(&opaque.model) == self.reader.model.family()
        });
        let signature = own.and_then(|opaque| opaque.data.get("thoughtSignature")).cloned();
        let mut part = match &said.what {
            Utterance::Text(text) if text.is_empty() && signature.is_none() => return None,
            Utterance::Text(text) => json!({"text": text}),
            // A thought is only worth sending for its signature.
            Utterance::Thought(_) if signature.is_none() => return None,
            Utterance::Thought(text) => json!({"text": text, "thought": true}),
            Utterance::Hidden => return own.and_then(|opaque| opaque.data.get("part")).cloned(),
            Utterance::Call(call) => json!({"functionCall": identified(&call.id, json!({
                "name": call.name,
                "args": call.input,
            }))}),
        };
        let checked = matches!(self.reader.model.generation, Generation::Level);
        let signature = signature.or_else(|| (signed && checked).then(|| json!(NO_SIGNATURE)));
        if let Some(signature) = signature {
            part["thoughtSignature"] = signature;
        }
        Some(part)
    }

    /// Answers every pending call, by what is in `results` or by saying that there is nothing.
    fn settle(&mut self, results: &[ToolResult]) {
        let mut parts = Vec::new();
        let mut beside = Vec::new();
        for call in std::mem::take(&mut self.pending) {
            match results.iter().find(|result| result.call == call.id) {
                Some(result) => parts.push(self.result(call, result, &mut beside)),
                None => parts.push(response(call, json!({"error": NO_RESULT}))),
            }
        }
        parts.append(&mut beside);
        self.push("user", parts);
    }

    fn result(&self, call: &ToolCall, result: &ToolResult, beside: &mut Vec<Value>) -> Value {
        let (mut text, mut media) = (Vec::new(), Vec::new());
        for content in &result.output {
            match media::part(content) {
                Some(part) if part.get("text").is_some() => {
                    text.extend(part["text"].as_str().map(str::to_owned))
                }
                part => media.extend(part),
            }
        }
        let key = if result.failed { "error" } else { "output" };
        let mut part = response(call, json!({key: text.join("\n")}));
        match self.reader.model.generation {
            Generation::Level if !media.is_empty() => part["functionResponse"]["parts"] = json!(media),
            _ => beside.append(&mut media),
        }
        part
    }
}

fn response(call: &ToolCall, response: Value) -> Value {
    json!({"functionResponse": identified(&call.id, json!({"name": call.name, "response": response}))})
}

fn identified(id: &CallId, mut value: Value) -> Value {
    if !id.0.starts_with(MADE_UP) {
        value["id"] = json!(id.0);
    }
    value
}

/// Nothing but results may be in the content that answers calls.
fn holds_results(content: &Value) -> bool {
    let parts = content["parts"].as_array();
    parts.is_some_and(|parts| parts.iter().any(|part| part.get("functionResponse").is_some()))
}

#[cfg(test)]
#[path = "contents_tests.rs"]
mod tests;
