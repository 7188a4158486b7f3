//! Builds an answer from its chunks, and validates it.

use attache_domain::{CallId, ModelPart, ModelPartContent, ProviderData, ToolCall, Usage};
use attache_model::{AnswerPiece, Prompt, StopReason};
use attache_net::sse::SseEvent;
use serde_json::{Map, Value, json};

use super::Gemini;
use super::arguments::Arguments;
use super::response::{Candidate, Chunk, PlainPart, ResponsePart, usage_in};
use crate::answer_builder::{self, TakenIds};
use crate::answer_request::{AnswerAssembler, AnswerVerdict, StreamEnd};

/// An answer that is being received.
#[derive(Debug)]
pub(crate) struct GeminiAssembler {
    route: &'static str,
    model: String,
    parts: Vec<ModelPart>,
    ids: TakenIds,
    /// A call whose input is being streamed.
    call: Option<StreamedCall>,
    /// Whether a call could not be decoded.
    malformed: bool,
    finish: Option<Finish>,
    blocked: Option<String>,
    continuation: Option<String>,
    /// The usage of earlier requests for the same answer.
    spent: Usage,
    /// The usage of this request, as last reported.
    usage_metadata: String,
    /// The response id, once it is known.
    response_id: Option<String>,
}

/// Longer ids are dropped, because the id is stored with every answer.
const MAX_RESPONSE_ID_LENGTH: usize = 256;

#[derive(Debug)]
struct StreamedCall {
    name: String,
    id: Option<String>,
    signature: Option<Value>,
    arguments: Arguments,
}

#[derive(Debug)]
struct Finish {
    reason: String,
    message: Option<String>,
}

impl GeminiAssembler {
    pub(super) fn new(shared: &Gemini, prompt: &Prompt) -> Self {
        Self {
            route: shared.endpoint.route,
            model: shared.model.id.clone(),
            parts: Vec::new(),
            ids: TakenIds::of(prompt),
            call: None,
            malformed: false,
            finish: None,
            blocked: None,
            continuation: None,
            spent: Usage::default(),
            usage_metadata: String::new(),
            response_id: None,
        }
    }

    /// Adds a chunk and returns the new pieces.
    fn take_chunk(&mut self, chunk: Chunk<'_>, emit: &mut dyn FnMut(AnswerPiece)) {
        if self.response_id.is_none()
            && let Some(id) = chunk.response_id
            && (1..=MAX_RESPONSE_ID_LENGTH).contains(&id.len())
        {
            self.response_id = Some(id.clone());
            emit(AnswerPiece::Begun { id });
        }
        if let Some(usage) = chunk.usage_metadata {
            self.usage_metadata.clear();
            self.usage_metadata.push_str(usage.get());
        }
        if let Some(feedback) = chunk.prompt_feedback
            && let Some(reason) = feedback.block_reason
        {
            let message = feedback.block_reason_message.map(|text| format!(": {text}")).unwrap_or_default();
            self.blocked = Some(format!("the prompt was blocked ({reason}){message}"));
        }
        let Some(candidate) = chunk.candidates.into_iter().next() else { return };
        let Candidate { content, finish_reason, finish_message, continuation_token } = candidate;
        for part in content.unwrap_or_default().parts {
            self.part(part, emit);
        }
        if let Some(reason) = finish_reason.filter(|reason| !reason.is_empty()) {
            self.finish = Some(Finish { reason, message: finish_message });
        }
        self.continuation = continuation_token.or_else(|| self.continuation.take());
    }

    fn part(&mut self, part: ResponsePart<'_>, emit: &mut dyn FnMut(AnswerPiece)) {
        match part {
            ResponsePart::Plain(PlainPart { text, .. }) if text.is_empty() => {}
            ResponsePart::Plain(PlainPart { text, thought }) => self.words(&text, thought, None, emit),
            ResponsePart::Other(part) => self.other_part(part, emit),
        }
    }

    fn other_part(&mut self, part: Map<String, Value>, emit: &mut dyn FnMut(AnswerPiece)) {
        let signature = part.get("thoughtSignature").filter(|value| value.is_string()).cloned();
        if let Some(call) = part.get("functionCall") {
            return self.function_call(call, signature, emit);
        }
        let Some(text) = part.get("text").and_then(Value::as_str) else {
            if !part.is_empty() {
                self.push(ModelPartContent::Hidden, Some(json!({"part": part})));
            }
            return;
        };
        let thought = part.get("thought").and_then(Value::as_bool).unwrap_or(false);
        if text.is_empty() {
            if signature.is_some() {
                self.push(ModelPartContent::Hidden, Some(json!({"part": part})));
            }
            return;
        }
        self.words(text, thought, signature, emit);
    }

    fn words(
        &mut self,
        text: &str,
        thought: bool,
        signature: Option<Value>,
        emit: &mut dyn FnMut(AnswerPiece),
    ) {
        emit(if thought {
            AnswerPiece::Thought(text.to_owned())
        } else {
            AnswerPiece::Text(text.to_owned())
        });
        let known = self.parts.last_mut().filter(|part| part.opaque.is_none() && signature.is_none());
        match (known.map(|part| &mut part.what), thought) {
            (Some(ModelPartContent::Text(known)), false) | (Some(ModelPartContent::Thought(known)), true) => {
                known.push_str(text)
            }
            (_, thought) => {
                let what = if thought {
                    ModelPartContent::Thought(text.to_owned())
                } else {
                    ModelPartContent::Text(text.to_owned())
                };
                self.push(what, signature.map(signed));
            }
        }
    }

    fn function_call(&mut self, call: &Value, signature: Option<Value>, emit: &mut dyn FnMut(AnswerPiece)) {
        let text = |key: &str| {
            call.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let pieces = call.get("partialArgs").and_then(Value::as_array);
        let continues = call.get("willContinue").and_then(Value::as_bool).unwrap_or(false);
        let mut streamed = match (self.call.take(), text("name")) {
            (Some(streamed), None) => streamed,
            (unfinished, Some(name)) => {
                // The previous call was never completed.
                self.malformed |= unfinished.is_some();
                if continues || pieces.is_some() {
                    emit(AnswerPiece::CallBegun { name: name.clone() });
                }
                StreamedCall { name, id: None, signature: None, arguments: Arguments::default() }
            }
            (None, None) => {
                self.malformed = true;
                return;
            }
        };
        streamed.id = streamed.id.or_else(|| text("id"));
        streamed.signature = streamed.signature.or(signature);
        match call.get("args") {
            Some(Value::Object(whole)) => streamed.arguments.merge(whole.clone()),
            None | Some(Value::Null) => {}
            Some(_) => self.malformed = true,
        }
        for piece in pieces.into_iter().flatten() {
            self.malformed |= streamed.arguments.take(piece).is_err();
        }
        if continues {
            self.call = Some(streamed);
        } else {
            self.finish_call(streamed, emit);
        }
    }

    fn finish_call(&mut self, streamed: StreamedCall, emit: &mut dyn FnMut(AnswerPiece)) {
        let StreamedCall { name, id, signature, arguments } = streamed;
        let id = self.ids.take(id.map(CallId));
        let call = ToolCall { id, name, input: arguments.finish() };
        emit(AnswerPiece::Call(call.clone()));
        self.push(ModelPartContent::Call(call), signature.map(signed));
    }

    fn push(&mut self, what: ModelPartContent, data: Option<Value>) {
        let opaque =
            data.map(|data| ProviderData { provider: self.route.into(), model: self.model.clone(), data });
        self.parts.push(ModelPart { what, opaque });
    }
}

impl AnswerAssembler for GeminiAssembler {
    fn take(&mut self, event: &SseEvent, emit: &mut dyn FnMut(AnswerPiece)) -> Result<(), Value> {
        let data = event.data.as_deref().unwrap_or_default();
        let Some(chunks) = Chunk::all(data) else {
            // Skips a broken event and keeps the others. A missing end is detected separately.
            tracing::debug!(bytes = data.len(), "an event of the model cannot be read");
            return Ok(());
        };
        for mut chunk in chunks {
            match chunk.error.take() {
                Some(error) => return Err(error),
                None => self.take_chunk(chunk, emit),
            }
        }
        Ok(())
    }

    fn has_finished(&self) -> bool {
        self.finish.is_some() || self.blocked.is_some()
    }

    fn extent(&self) -> usize {
        answer_builder::extent(&self.parts)
    }

    fn verdict(&self, end: StreamEnd, after_results: bool) -> AnswerVerdict {
        let called = self.parts.iter().any(|part| matches!(part.what, ModelPartContent::Call(_)));
        let has_text = self.parts.iter().any(is_text);
        if let Some(why) = &self.blocked
            && self.parts.is_empty()
        {
            return AnswerVerdict::Whole(StopReason::Refused { why: why.clone() });
        }
        let invalid = |why: String| AnswerVerdict::Invalid { why, silent: false };
        let Some(Finish { reason, message }) = &self.finish else {
            // Some servers omit the finish reason of an answer with calls.
            return match called && end == StreamEnd::Closed && self.call.is_none() {
                true => AnswerVerdict::Whole(StopReason::Done),
                false => invalid("the answer broke off before its end".into()),
            };
        };
        let detail = message.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
        match reason.as_str() {
            "CONTINUATION" => match &self.continuation {
                Some(token) => AnswerVerdict::Continues(json!(token)),
                None => invalid("the answer is to be continued, but not said from where".into()),
            },
            "MAX_TOKENS" => AnswerVerdict::Whole(StopReason::Length),
            "SAFETY"
            | "RECITATION"
            | "LANGUAGE"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION"
            | "MODEL_ARMOR"
            | "JAILBREAK" => AnswerVerdict::Whole(StopReason::Refused {
                why: format!("the answer was stopped ({reason}){detail}"),
            }),
            _ if self.call.is_some() || self.malformed => {
                invalid(format!("a call came without its whole input ({reason})"))
            }
            _ if called => AnswerVerdict::Whole(StopReason::Done),
            "MALFORMED_FUNCTION_CALL"
            | "UNEXPECTED_TOOL_CALL"
            | "TOO_MANY_TOOL_CALLS"
            | "MALFORMED_RESPONSE"
            | "MISSING_THOUGHT_SIGNATURE" => {
                invalid(format!("the model made a call that cannot be read ({reason}){detail}"))
            }
            // An answer after calls may be empty.
            "STOP"
                if after_results && self.parts.iter().all(|part| part.what == ModelPartContent::Hidden) =>
            {
                AnswerVerdict::Whole(StopReason::Done)
            }
            _ if has_text => AnswerVerdict::Whole(StopReason::Done),
            "STOP" if self.parts.is_empty() => {
                AnswerVerdict::Invalid { why: "the answer is empty".into(), silent: true }
            }
            "STOP" => {
                AnswerVerdict::Invalid { why: "the model thought and said nothing".into(), silent: true }
            }
            _ => invalid(format!("the model stopped without a word ({reason}){detail}")),
        }
    }

    fn continue_answer(&mut self) {
        (self.finish, self.continuation) = (None, None);
        self.spent = self.usage();
        self.usage_metadata.clear();
    }

    fn usage(&self) -> Usage {
        answer_builder::sum(self.spent, usage_in(&self.usage_metadata))
    }

    fn into_parts(self, stop: &StopReason) -> Vec<ModelPart> {
        answer_builder::history_parts(self.parts, stop)
    }
}

fn signed(signature: Value) -> Value {
    json!({"thoughtSignature": signature})
}

fn is_text(part: &ModelPart) -> bool {
    match &part.what {
        ModelPartContent::Text(text) => !text.trim().is_empty(),
        // A picture, or the result of a search.
        ModelPartContent::Hidden => {
            part.opaque.as_ref().is_some_and(|opaque| opaque.data["part"].get("inlineData").is_some())
        }
        ModelPartContent::Thought(_) | ModelPartContent::Call(_) => false,
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
