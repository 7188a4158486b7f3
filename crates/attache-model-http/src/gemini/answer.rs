//! Puts an answer together from its chunks, and says whether it is one.

use std::collections::HashSet;

use attache_domain::{CallId, Exchange, Opaque, Said, ToolCall, Usage, Utterance};
use attache_model::{Piece, Prompt, Stop};
use serde_json::{Map, Value, json};

use super::Shared;
use super::arguments::Arguments;
use super::contents::MADE_UP;
use super::response::{Candidate, Chunk};

/// An answer as far as it has come.
#[derive(Debug)]
pub(super) struct Assembly {
    route: &'static str,
    model: String,
    said: Vec<Said>,
    /// Ids that are taken, in the prompt or by this answer.
    ids: HashSet<CallId>,
    /// A call whose input is still arriving.
    call: Option<StreamedCall>,
    /// A call came that nobody can make sense of.
    malformed: bool,
    finish: Option<Finish>,
    blocked: Option<String>,
    continuation: Option<String>,
    /// What the requests before cost, where the answer is continued.
    spent: Usage,
    usage: Usage,
}

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

/// What has become of an answer once its stream is over.
#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    Whole(Stop),
    /// There is more, by the next request.
    Continues(String),
    /// Worth another try; `silent` when it just held no words.
    Invalid {
        why: String,
        silent: bool,
    },
}

/// How the stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamEnd {
    Closed,
    Broken,
}

impl Assembly {
    pub(super) fn new(shared: &Shared, prompt: &Prompt) -> Self {
        let answers = prompt.exchanges.iter().filter_map(|exchange| match &**exchange {
            Exchange::Model(said) => Some(said),
            Exchange::User(_) | Exchange::Results(_) => None,
        });
        let ids = answers.flatten().filter_map(|said| match &said.what {
            Utterance::Call(call) => Some(call.id.clone()),
            Utterance::Text(_) | Utterance::Thought(_) | Utterance::Hidden => None,
        });
        Self {
            route: shared.endpoint.route,
            model: shared.model.id.clone(),
            said: Vec::new(),
            ids: ids.collect(),
            call: None,
            malformed: false,
            finish: None,
            blocked: None,
            continuation: None,
            spent: Usage::default(),
            usage: Usage::default(),
        }
    }

    /// Takes a chunk in and tells what is new.
    pub(super) fn take(&mut self, chunk: Chunk, tell: &mut impl FnMut(Piece)) {
        if let Some(usage) = chunk.usage_metadata {
            self.usage = usage.usage();
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
            self.part(part, tell);
        }
        if let Some(reason) = finish_reason.filter(|reason| !reason.is_empty()) {
            self.finish = Some(Finish { reason, message: finish_message });
        }
        self.continuation = continuation_token.or_else(|| self.continuation.take());
    }

    pub(super) fn has_finished(&self) -> bool {
        self.finish.is_some() || self.blocked.is_some()
    }

    /// How much there is, to see whether a continuation gets anywhere.
    pub(super) fn extent(&self) -> usize {
        let length = |said: &Said| match &said.what {
            Utterance::Text(text) | Utterance::Thought(text) => text.len() + 1,
            Utterance::Call(_) | Utterance::Hidden => 1,
        };
        self.said.iter().map(length).sum()
    }

    pub(super) fn verdict(&self, end: StreamEnd, after_results: bool) -> Verdict {
        let called = self.said.iter().any(|said| matches!(said.what, Utterance::Call(_)));
        let spoken = self.said.iter().any(is_spoken);
        if let Some(why) = &self.blocked
            && self.said.is_empty()
        {
            return Verdict::Whole(Stop::Refused { why: why.clone() });
        }
        let invalid = |why: String| Verdict::Invalid { why, silent: false };
        let Some(Finish { reason, message }) = &self.finish else {
            // Some servers leave the reason out where there are calls.
            return match called && end == StreamEnd::Closed && self.call.is_none() {
                true => Verdict::Whole(Stop::Done),
                false => invalid("the answer broke off before its end".into()),
            };
        };
        let told = message.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
        match reason.as_str() {
            "CONTINUATION" => match &self.continuation {
                Some(token) => Verdict::Continues(token.clone()),
                None => invalid("the answer is to be continued, but not said from where".into()),
            },
            "MAX_TOKENS" => Verdict::Whole(Stop::Length),
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
            | "JAILBREAK" => {
                Verdict::Whole(Stop::Refused { why: format!("the answer was stopped ({reason}){told}") })
            }
            _ if self.call.is_some() || self.malformed => {
                invalid(format!("a call came without its whole input ({reason})"))
            }
            _ if called => Verdict::Whole(Stop::Done),
            "MALFORMED_FUNCTION_CALL"
            | "UNEXPECTED_TOOL_CALL"
            | "TOO_MANY_TOOL_CALLS"
            | "MALFORMED_RESPONSE"
            | "MISSING_THOUGHT_SIGNATURE" => {
                invalid(format!("the model made a call that cannot be read ({reason}){told}"))
            }
            // After its calls a model may have nothing to add.
            "STOP" if after_results && self.said.iter().all(|said| said.what == Utterance::Hidden) => {
                Verdict::Whole(Stop::Done)
            }
            _ if spoken => Verdict::Whole(Stop::Done),
            "STOP" if self.said.is_empty() => {
                Verdict::Invalid { why: "the answer is empty".into(), silent: true }
            }
            "STOP" => Verdict::Invalid { why: "the model thought and said nothing".into(), silent: true },
            _ => invalid(format!("the model stopped without a word ({reason}){told}")),
        }
    }

    /// Goes on with the answer to the next request.
    pub(super) fn carry_on(&mut self) {
        (self.finish, self.continuation) = (None, None);
        self.spent = add(self.spent, self.usage);
        self.usage = Usage::default();
    }

    pub(super) fn usage(&self) -> Usage {
        add(self.spent, self.usage)
    }

    pub(super) fn into_said(mut self, stop: &Stop) -> Vec<Said> {
        if matches!(stop, Stop::Refused { .. }) {
            // Nobody will answer them.
            self.said.retain(|said| !matches!(said.what, Utterance::Call(_)));
        }
        self.said
    }

    fn part(&mut self, part: Map<String, Value>, tell: &mut impl FnMut(Piece)) {
        let signature = part.get("thoughtSignature").filter(|value| value.is_string()).cloned();
        if let Some(call) = part.get("functionCall") {
            return self.function_call(call, signature, tell);
        }
        let Some(text) = part.get("text").and_then(Value::as_str) else {
            if !part.is_empty() {
                self.push(Utterance::Hidden, Some(json!({"part": part})));
            }
            return;
        };
        let thought = part.get("thought").and_then(Value::as_bool).unwrap_or(false);
        if text.is_empty() {
            if signature.is_some() {
                self.push(Utterance::Hidden, Some(json!({"part": part})));
            }
            return;
        }
        tell(if thought { Piece::Thought(text.to_owned()) } else { Piece::Text(text.to_owned()) });
        let known = self.said.last_mut().filter(|said| said.opaque.is_none() && signature.is_none());
        match (known.map(|said| &mut said.what), thought) {
            (Some(Utterance::Text(known)), false) | (Some(Utterance::Thought(known)), true) => {
                known.push_str(text)
            }
            (_, thought) => {
                let what = if thought {
                    Utterance::Thought(text.to_owned())
                } else {
                    Utterance::Text(text.to_owned())
                };
                self.push(what, signature.map(signed));
            }
        }
    }

    fn function_call(&mut self, call: &Value, signature: Option<Value>, tell: &mut impl FnMut(Piece)) {
        let text = |key: &str| {
            call.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let pieces = call.get("partialArgs").and_then(Value::as_array);
        let continues = call.get("willContinue").and_then(Value::as_bool).unwrap_or(false);
        let mut streamed = match (self.call.take(), text("name")) {
            (Some(streamed), None) => streamed,
            (unfinished, Some(name)) => {
                // The one before was never completed.
                self.malformed |= unfinished.is_some();
                if continues || pieces.is_some() {
                    tell(Piece::CallBegun { name: name.clone() });
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
            self.finish_call(streamed, tell);
        }
    }

    fn finish_call(&mut self, streamed: StreamedCall, tell: &mut impl FnMut(Piece)) {
        let StreamedCall { name, id, signature, arguments } = streamed;
        let given = id.map(CallId).filter(|id| !self.ids.contains(id));
        let id = given.unwrap_or_else(|| CallId(format!("{MADE_UP}{}", uuid::Uuid::new_v4().simple())));
        self.ids.insert(id.clone());
        let call = ToolCall { id, name, input: arguments.finish() };
        tell(Piece::Call(call.clone()));
        self.push(Utterance::Call(call), signature.map(signed));
    }

    fn push(&mut self, what: Utterance, data: Option<Value>) {
        let opaque = data.map(|data| Opaque { provider: self.route.into(), model: self.model.clone(), data });
        self.said.push(Said { what, opaque });
    }
}

fn signed(signature: Value) -> Value {
    json!({"thoughtSignature": signature})
}

fn is_spoken(said: &Said) -> bool {
    match &said.what {
        Utterance::Text(text) => !text.trim().is_empty(),
        // A picture, or the outcome of a search: something for the reader.
        Utterance::Hidden => {
            said.opaque.as_ref().is_some_and(|opaque| opaque.data["part"].get("inlineData").is_some())
        }
        Utterance::Thought(_) | Utterance::Call(_) => false,
    }
}

fn add(one: Usage, other: Usage) -> Usage {
    Usage {
        input: one.input.saturating_add(other.input),
        cached: one.cached.saturating_add(other.cached),
        output: one.output.saturating_add(other.output),
        thoughts: one.thoughts.saturating_add(other.thoughts),
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
