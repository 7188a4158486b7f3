//! Encodes the conversation as Gemini's contents.
//!
//! Gemini refuses a history whose calls and results do not match. The prompt builder pairs them. Remaining mismatches,
//! for example after a crash, are repaired here, because every later request would be refused as well.

mod media;
mod part;
mod prefix_cache;

use std::borrow::Cow;
use std::sync::Arc;

use attache_domain::{CallId, Exchange, ModelPart, ModelPartContent, ToolCall, ToolResult};
use attache_model::PromptKey;
use serde_json::json;

use super::models::{Generation, Model, family};
use crate::answer_builder::GENERATED_ID_PREFIX;
use crate::history::{GO_ON, NO_RESULT};
use part::{EncodedContent, FunctionCall, FunctionResponse, Part, PartContent, Response};
pub(super) use prefix_cache::{PrefixCache, RequestText};

/// Replaces a signature that Gemini requires and that is unknown.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// The model that the request is for.
#[derive(Debug, Clone, Copy)]
pub(super) struct TargetModel<'a> {
    pub(super) model: &'a Model,
    pub(super) route: &'a str,
}

/// Writes the contents, separated by commas: the user first, and every call answered. `before` comes first. Writes
/// nothing if there are no contents.
pub(super) fn write_contents(
    before: &str,
    exchanges: &[Arc<Exchange>],
    key: Option<PromptKey>,
    reader: TargetModel<'_>,
    prefixes: &PrefixCache,
) -> serde_json::Result<RequestText> {
    let turn = exchanges.iter().rposition(|exchange| matches!(**exchange, Exchange::User(_))).unwrap_or(0);
    let text = prefixes.start(key, exchanges.len(), turn);
    let known = text.exchanges();
    let mut writer = Writer { reader, before, text, last: None, pending: Vec::new() };
    for (index, exchange) in exchanges.iter().enumerate().skip(known) {
        match &**exchange {
            Exchange::User(content) => {
                writer.settle(&[])?;
                let parts = content.iter().filter_map(media::part).map(Part::from).collect();
                writer.push(USER, parts)?;
            }
            Exchange::Model(parts) => {
                writer.settle(&[])?;
                writer.model(parts, index > turn)?;
            }
            Exchange::Results(results) => {
                writer.settle(results)?;
                writer.end_prefix(index + 1)?;
            }
        }
    }
    writer.settle(&[])?;
    writer.write_last()?;
    Ok(writer.text)
}

const USER: &str = "user";
const MODEL: &str = "model";

struct Writer<'a> {
    reader: TargetModel<'a>,
    before: &'a str,
    text: RequestText,
    /// The content that is not written yet: the next exchange may extend it.
    last: Option<EncodedContent<'a>>,
    /// The calls of the latest answer.
    pending: Vec<&'a ToolCall>,
}

impl<'a> Writer<'a> {
    fn push(&mut self, role: &'static str, mut parts: Vec<Part<'a>>) -> serde_json::Result<()> {
        if parts.is_empty() {
            return Ok(());
        }
        if let Some(last) = &mut self.last
            && last.role == role
            && !last.holds_results()
        {
            last.parts.append(&mut parts);
            return Ok(());
        }
        if self.last.is_none() && self.text.is_empty() && role == MODEL {
            let parts = vec![PartContent::Text(GO_ON.into()).into()];
            self.last = Some(EncodedContent { role: USER, parts });
        }
        self.write_last()?;
        self.last = Some(EncodedContent { role, parts });
        Ok(())
    }

    fn write_last(&mut self) -> serde_json::Result<()> {
        let Some(last) = self.last.take() else { return Ok(()) };
        self.text.write(if self.text.is_empty() { self.before } else { "," });
        self.text.encode(&last)
    }

    /// Results are a separate content, so nothing before this point changes.
    fn end_prefix(&mut self, exchanges: usize) -> serde_json::Result<()> {
        if self.last.as_ref().is_some_and(EncodedContent::holds_results) {
            self.write_last()?;
            self.text.end_prefix(exchanges);
        }
        Ok(())
    }

    fn model(&mut self, answer: &'a [ModelPart], current: bool) -> serde_json::Result<()> {
        let mut parts = Vec::new();
        for part in answer {
            let first_call = matches!(part.what, ModelPartContent::Call(_)) && self.pending.is_empty();
            if let ModelPartContent::Call(call) = &part.what {
                self.pending.push(call);
            }
            parts.extend(self.encode_part(part, first_call, current));
        }
        self.push(MODEL, parts)
    }

    /// Gemini requires a signature in the `first_call` of an answer in the `current` turn.
    fn encode_part(&mut self, part: &'a ModelPart, first_call: bool, current: bool) -> Option<Part<'a>> {
        let own = part.opaque.as_ref().filter(|opaque| {
            opaque.provider == self.reader.route && family(&opaque.model) == self.reader.model.family()
        });
        let signature = own.and_then(|opaque| opaque.data.get("thoughtSignature"));
        let (what, thought) = match &part.what {
            ModelPartContent::Text(text) if text.is_empty() && signature.is_none() => return None,
            ModelPartContent::Text(text) => (PartContent::Text(text.into()), false),
            // A thought is sent only for its signature.
            ModelPartContent::Thought(_) if signature.is_none() => return None,
            ModelPartContent::Thought(text) => (PartContent::Text(text.into()), true),
            ModelPartContent::Hidden => {
                return own
                    .and_then(|opaque| opaque.data.get("part"))
                    .map(|part| PartContent::Own(part).into());
            }
            ModelPartContent::Call(call) => {
                let (name, args, id) = (call.name.as_str(), &call.input, sent_id(&call.id));
                (PartContent::FunctionCall(FunctionCall { name, args, id }), false)
            }
        };
        let checked = matches!(self.reader.model.generation, Generation::Level);
        let missing = first_call && checked && signature.is_none();
        if missing {
            self.text.set_turn_matters();
        }
        let made_up = (missing && current).then(|| Cow::Owned(json!(NO_SIGNATURE)));
        let thought_signature = signature.map(Cow::Borrowed).or(made_up);
        Some(Part { what, thought, thought_signature })
    }

    /// Answers every pending call with its entry in `results`, or with a note that there is no result.
    fn settle(&mut self, results: &'a [ToolResult]) -> serde_json::Result<()> {
        let mut parts = Vec::new();
        let mut beside = Vec::new();
        for call in std::mem::take(&mut self.pending) {
            match results.iter().find(|result| result.call == call.id) {
                Some(result) => parts.push(self.result(call, result, &mut beside)),
                None => parts.push(response(call, Response::Error(NO_RESULT.into()), Vec::new())),
            }
        }
        parts.append(&mut beside);
        self.push(USER, parts)
    }

    fn result(&self, call: &'a ToolCall, result: &'a ToolResult, beside: &mut Vec<Part<'a>>) -> Part<'a> {
        let (mut texts, mut media) = (Vec::new(), Vec::new());
        for content in &result.output {
            match media::part(content) {
                Some(PartContent::Text(text)) => texts.push(text),
                part => media.extend(part.map(Part::from)),
            }
        }
        let text = match texts.len() {
            1 => texts.remove(0),
            _ => Cow::Owned(texts.join("\n")),
        };
        let output = if result.failed { Response::Error(text) } else { Response::Output(text) };
        match self.reader.model.generation {
            Generation::Level => response(call, output, media),
            _ => {
                beside.append(&mut media);
                response(call, output, Vec::new())
            }
        }
    }
}

fn response<'a>(call: &'a ToolCall, response: Response<'a>, parts: Vec<Part<'a>>) -> Part<'a> {
    let (name, id) = (call.name.as_str(), sent_id(&call.id));
    PartContent::FunctionResponse(FunctionResponse { name, response, parts, id }).into()
}

/// Generated ids are not sent.
fn sent_id(id: &CallId) -> Option<&str> {
    Some(id.0.as_str()).filter(|id| !id.starts_with(GENERATED_ID_PREFIX))
}

#[cfg(test)]
#[path = "contents_tests.rs"]
mod tests;
