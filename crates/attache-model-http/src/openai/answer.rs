//! Builds an answer from its chunks, and validates it.

use attache_domain::{ModelPart, ModelPartContent, Usage};
use attache_model::{AnswerPiece, Prompt, StopReason};
use attache_net::sse::SseEvent;
use serde_json::{Value, json};

use super::OpenAi;
use super::calls::Calls;
use crate::answer_builder::{self, AnswerBuilder};
use crate::answer_request::{AnswerAssembler, AnswerVerdict, StreamEnd};
use crate::tool_names::ToolNames;

/// An answer that is being received.
#[derive(Debug)]
pub(crate) struct OpenAiAssembler {
    builder: AnswerBuilder,
    names: ToolNames,
    calls: Calls,
    /// The parts of the reasoning that some gateways require back.
    details: Vec<Value>,
    /// Whether a call could not be decoded.
    malformed: bool,
    refusal: String,
    finish: Option<String>,
    over: bool,
    usage: Usage,
}

impl OpenAiAssembler {
    pub(super) fn new(shared: &OpenAi, prompt: &Prompt) -> Self {
        Self {
            builder: AnswerBuilder::new(&shared.endpoint.route, &shared.model.id, prompt),
            names: ToolNames::of(prompt),
            calls: Calls::default(),
            details: Vec::new(),
            malformed: false,
            refusal: String::new(),
            finish: None,
            over: false,
            usage: Usage::default(),
        }
    }

    fn chunk(&mut self, chunk: &Value, emit: &mut dyn FnMut(AnswerPiece)) {
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            self.usage = usage_of(usage);
        }
        let Some(choice) = chunk.pointer("/choices/0") else { return };
        // A server that does not stream names the member `message`.
        let delta = ["delta", "message"].iter().find_map(|key| choice.get(key)).unwrap_or(&Value::Null);
        for field in ["reasoning_content", "reasoning"] {
            if let Some(text) = delta.get(field).and_then(Value::as_str) {
                self.builder.thought(text, json!({"field": field}), emit);
                // Some servers send the same thought under both names.
                break;
            }
        }
        let details = delta.get("reasoning_details").and_then(Value::as_array);
        self.details.extend(details.into_iter().flatten().cloned());
        self.content(delta.get("content").unwrap_or(&Value::Null), emit);
        self.refusal.push_str(delta.get("refusal").and_then(Value::as_str).unwrap_or_default());
        for piece in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            if let Some(name) = self.calls.take(piece) {
                emit(AnswerPiece::CallBegun { name: self.names.tool_name(name) });
            }
        }
        let reason = choice.get("finish_reason").and_then(Value::as_str);
        if let Some(reason) = reason.filter(|reason| !reason.is_empty()) {
            self.finish = Some(reason.to_owned());
            self.finish_parts(emit);
        }
    }

    /// Text, or a list of parts.
    fn content(&mut self, content: &Value, emit: &mut dyn FnMut(AnswerPiece)) {
        match content {
            Value::String(text) => self.builder.text(text, emit),
            Value::Array(parts) => {
                for part in parts {
                    let text = part.get("text").and_then(Value::as_str).unwrap_or_default();
                    self.builder.text(text, emit);
                }
            }
            _ => {}
        }
    }

    fn finish_parts(&mut self, emit: &mut dyn FnMut(AnswerPiece)) {
        let details = std::mem::take(&mut self.details);
        if !details.is_empty() {
            self.builder.push(ModelPartContent::Hidden, Some(json!({"reasoning_details": details})));
        }
        for call in std::mem::take(&mut self.calls).finish() {
            let Some(call) = call else {
                self.malformed = true;
                continue;
            };
            let data = call.extra.map(|extra| json!({"extra_content": extra}));
            self.builder.call(Some(&call.id), self.names.tool_name(call.name), call.input, data, emit);
        }
    }
}

impl AnswerAssembler for OpenAiAssembler {
    fn take(&mut self, event: &SseEvent, emit: &mut dyn FnMut(AnswerPiece)) -> Result<(), Value> {
        let data = event.data.as_deref().unwrap_or_default().trim();
        if data == "[DONE]" {
            self.over = true;
            self.finish_parts(emit);
            return Ok(());
        }
        let Ok(value) = serde_json::from_str::<Value>(data) else {
            // Skips a broken event and keeps the others. A missing end is detected separately.
            tracing::debug!(bytes = data.len(), "an event of the model cannot be read");
            return Ok(());
        };
        let error = value.get("error").filter(|error| !error.is_null());
        let is_error = event.name.as_deref() == Some("error") || value["object"] == "error";
        match error.or(is_error.then_some(&value)) {
            Some(error) => Err(error.clone()),
            None => {
                self.chunk(&value, emit);
                Ok(())
            }
        }
    }

    fn has_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn verdict(&self, _: StreamEnd, after_results: bool) -> AnswerVerdict {
        let invalid = |why: String| AnswerVerdict::Invalid { why, silent: false };
        if !self.refusal.trim().is_empty() {
            return AnswerVerdict::Whole(StopReason::Refused { why: self.refusal.trim().to_owned() });
        }
        match self.finish.as_deref() {
            None if !self.over => invalid("the answer broke off before its end".into()),
            Some("length") => AnswerVerdict::Whole(StopReason::Length),
            Some("content_filter") => {
                let why = "the answer was stopped (content_filter)".into();
                AnswerVerdict::Whole(StopReason::Refused { why })
            }
            Some("error") => invalid("the provider stopped the answer because of an error".into()),
            _ if self.malformed || !self.calls.is_empty() => {
                invalid("the model made a call that cannot be read".into())
            }
            _ => self.builder.verdict(after_results),
        }
    }

    /// Answers are never continued.
    fn continue_answer(&mut self) {}

    fn extent(&self) -> usize {
        answer_builder::extent(&self.builder.parts)
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn into_parts(self, stop: &StopReason) -> Vec<ModelPart> {
        answer_builder::history_parts(self.builder.parts, stop)
    }
}

fn usage_of(usage: &Value) -> Usage {
    let number = |path: &str| usage.pointer(path).and_then(Value::as_u64).unwrap_or(0);
    Usage {
        input: number("/prompt_tokens"),
        cached: number("/prompt_tokens_details/cached_tokens"),
        output: number("/completion_tokens"),
        thoughts: number("/completion_tokens_details/reasoning_tokens"),
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
