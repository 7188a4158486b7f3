//! Builds an answer from its events, and validates it.

use std::collections::BTreeMap;

use attache_domain::{ModelPart, ModelPartContent, Usage};
use attache_model::{AnswerPiece, Prompt, StopReason};
use attache_net::sse::SseEvent;
use serde_json::{Value, json};

use super::Anthropic;
use super::block::{Block, input};
use super::messages::{TargetModel, answer_block};
use super::models::family;
use crate::answer_builder::{self, AnswerBuilder};
use crate::answer_request::{AnswerAssembler, AnswerVerdict, StreamEnd};
use crate::tool_names::ToolNames;

/// An answer that is being received.
#[derive(Debug)]
pub(crate) struct AnthropicAssembler {
    route: String,
    model: String,
    builder: AnswerBuilder,
    names: ToolNames,
    /// Open blocks by number.
    open: BTreeMap<u64, Block>,
    /// Whether a call could not be decoded.
    malformed: bool,
    stop: Option<Value>,
    over: bool,
    counts: Counts,
    /// The usage of earlier requests for the same answer.
    spent: Usage,
}

/// The usage of this request so far.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    input: u64,
    cache_creation: u64,
    cache_read: u64,
    output: u64,
    thoughts: u64,
}

impl AnthropicAssembler {
    pub(super) fn new(shared: &Anthropic, prompt: &Prompt) -> Self {
        Self {
            route: shared.endpoint.route.clone(),
            model: shared.model.id.clone(),
            builder: AnswerBuilder::new(&shared.endpoint.route, &shared.model.id, prompt),
            names: ToolNames::of(prompt),
            open: BTreeMap::new(),
            malformed: false,
            stop: None,
            over: false,
            counts: Counts::default(),
            spent: Usage::default(),
        }
    }

    fn event(&mut self, event: &Value, emit: &mut dyn FnMut(AnswerPiece)) {
        let index = event["index"].as_u64().unwrap_or(0);
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => self.counts.take(&event["message"]["usage"]),
            "content_block_start" => {
                self.end_block(index, emit);
                self.start_block(index, &event["content_block"], emit);
            }
            "content_block_delta" => self.delta(index, &event["delta"], emit),
            "content_block_stop" => self.end_block(index, emit),
            "message_delta" => {
                self.counts.take(&event["usage"]);
                if event["delta"]["stop_reason"].is_string() {
                    self.stop = Some(event["delta"].clone());
                }
            }
            // The server does not stream.
            "message" => self.whole(event, emit),
            "message_stop" => {
                while let Some(index) = self.open.keys().next().copied() {
                    self.end_block(index, emit);
                }
                self.over = true;
            }
            // Pings and unknown events.
            _ => {}
        }
    }

    fn whole(&mut self, message: &Value, emit: &mut dyn FnMut(AnswerPiece)) {
        self.counts.take(&message["usage"]);
        for block in message["content"].as_array().into_iter().flatten() {
            self.start_block(0, block, emit);
            self.end_block(0, emit);
        }
        if message["stop_reason"].is_string() {
            self.stop = Some(message.clone());
            self.over = true;
        }
    }

    fn start_block(&mut self, index: u64, block: &Value, emit: &mut dyn FnMut(AnswerPiece)) {
        let started = Block::start(block);
        match &started {
            Block::Text => self.builder.text(block["text"].as_str().unwrap_or_default(), emit),
            Block::Thinking { text, .. } if !text.is_empty() => emit(AnswerPiece::Thought(text.clone())),
            Block::Call { name, .. } => {
                emit(AnswerPiece::CallBegun { name: self.names.tool_name(name.clone()) })
            }
            Block::Thinking { .. } | Block::Redacted(_) | Block::Other => {}
        }
        self.open.insert(index, started);
    }

    fn delta(&mut self, index: u64, delta: &Value, emit: &mut dyn FnMut(AnswerPiece)) {
        let part = |key: &str| delta.get(key).and_then(Value::as_str).unwrap_or_default();
        match (self.open.get_mut(&index), delta["type"].as_str()) {
            (Some(Block::Text), Some("text_delta")) => self.builder.text(part("text"), emit),
            (Some(Block::Thinking { text, .. }), Some("thinking_delta")) => {
                let more = part("thinking");
                if !more.is_empty() {
                    text.push_str(more);
                    emit(AnswerPiece::Thought(more.to_owned()));
                }
            }
            (Some(Block::Thinking { signature, .. }), Some("signature_delta")) => {
                *signature = part("signature").to_owned();
            }
            (Some(Block::Call { json, .. }), Some("input_json_delta")) => json.push_str(part("partial_json")),
            _ => {}
        }
    }

    fn end_block(&mut self, index: u64, emit: &mut dyn FnMut(AnswerPiece)) {
        match self.open.remove(&index) {
            None | Some(Block::Text | Block::Other) => {}
            Some(Block::Thinking { text, signature }) if text.is_empty() => {
                // The text of the thought is withheld; the signature replaces it.
                if !signature.is_empty() {
                    let block = json!({"type": "thinking", "thinking": "", "signature": signature});
                    self.builder.push(ModelPartContent::Hidden, Some(json!({"block": block})));
                }
            }
            Some(Block::Thinking { text, signature }) => {
                let data = (!signature.is_empty()).then(|| json!({"signature": signature}));
                self.builder.push(ModelPartContent::Thought(text), data);
            }
            Some(Block::Redacted(block)) => {
                self.builder.push(ModelPartContent::Hidden, Some(json!({"block": block})));
            }
            Some(Block::Call { id, name, json, whole }) => match input(&json, whole) {
                Some(input) if !name.is_empty() => {
                    self.builder.call(Some(&id), self.names.tool_name(name), input, None, emit);
                }
                _ => self.malformed = true,
            },
        }
    }

    /// The answer so far, as the beginning of the next one. Anthropic refuses a beginning that ends with a space.
    fn so_far(&self) -> Value {
        let reader = TargetModel { route: &self.route, family: family(&self.model), names: &self.names };
        let block = |said: &ModelPart| {
            let id = match &said.what {
                ModelPartContent::Call(call) => call.id.0.as_str(),
                ModelPartContent::Text(_) | ModelPartContent::Thought(_) | ModelPartContent::Hidden => "",
            };
            answer_block(said, id, reader)
        };
        let mut blocks: Vec<Value> = self.builder.parts.iter().filter_map(block).collect();
        if let Some(Value::String(text)) = blocks.last_mut().and_then(|last| last.get_mut("text")) {
            text.truncate(text.trim_end().len());
        }
        Value::Array(blocks)
    }
}

impl AnswerAssembler for AnthropicAssembler {
    fn take(&mut self, event: &SseEvent, emit: &mut dyn FnMut(AnswerPiece)) -> Result<(), Value> {
        let data = event.data.as_deref().unwrap_or_default();
        let Ok(value) = serde_json::from_str::<Value>(data) else {
            // Skips a broken event and keeps the others. A missing end is detected separately.
            tracing::debug!(bytes = data.len(), "an event of the model cannot be read");
            return Ok(());
        };
        if value["type"] == "error" || event.name.as_deref() == Some("error") {
            return Err(value.get("error").cloned().unwrap_or(value));
        }
        self.event(&value, emit);
        Ok(())
    }

    fn has_finished(&self) -> bool {
        self.over
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn verdict(&self, _: StreamEnd, after_results: bool) -> AnswerVerdict {
        let invalid = |why: &str| AnswerVerdict::Invalid { why: why.into(), silent: false };
        let Some(stop) = self.stop.as_ref().filter(|_| self.over) else {
            return invalid("the answer broke off before its end");
        };
        match stop["stop_reason"].as_str().unwrap_or_default() {
            "max_tokens" | "model_context_window_exceeded" => AnswerVerdict::Whole(StopReason::Length),
            "refusal" => AnswerVerdict::Whole(StopReason::Refused { why: refusal(&stop["stop_details"]) }),
            _ if self.malformed => invalid("the model made a call that cannot be read"),
            "pause_turn" if !self.builder.parts.is_empty() => AnswerVerdict::Continues(self.so_far()),
            _ => self.builder.verdict(after_results),
        }
    }

    fn continue_answer(&mut self) {
        self.spent = self.usage();
        self.counts = Counts::default();
        (self.stop, self.over) = (None, false);
    }

    fn extent(&self) -> usize {
        answer_builder::extent(&self.builder.parts)
    }

    fn usage(&self) -> Usage {
        answer_builder::sum(self.spent, self.counts.usage())
    }

    fn into_parts(self, stop: &StopReason) -> Vec<ModelPart> {
        answer_builder::history_parts(self.builder.parts, stop)
    }
}

impl Counts {
    /// Replaces known values with the values present. Usage is never added up.
    fn take(&mut self, usage: &Value) {
        let set = |known: &mut u64, path: &str| {
            *known = usage.pointer(path).and_then(Value::as_u64).unwrap_or(*known);
        };
        set(&mut self.input, "/input_tokens");
        set(&mut self.cache_creation, "/cache_creation_input_tokens");
        set(&mut self.cache_read, "/cache_read_input_tokens");
        set(&mut self.output, "/output_tokens");
        set(&mut self.thoughts, "/output_tokens_details/thinking_tokens");
    }

    fn usage(self) -> Usage {
        Usage {
            input: self.input.saturating_add(self.cache_creation).saturating_add(self.cache_read),
            cached: self.cache_read,
            output: self.output,
            thoughts: self.thoughts,
        }
    }
}

fn refusal(details: &Value) -> String {
    let detail = ["explanation", "category"].iter().find_map(|key| details.get(key)?.as_str());
    match detail {
        Some(detail) => format!("the model refuses to answer: {detail}"),
        None => "the model refuses to answer".into(),
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
