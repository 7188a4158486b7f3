//! What was said so far, in Gemini's words.
//!
//! Gemini refuses a history whose calls and results do not pair up. Whoever builds a prompt sees to that; what
//! still does not fit, say after a crash, is repaired here, because a refused history would be refused for ever.

mod kept;
mod media;
mod part;

use std::borrow::Cow;
use std::sync::{Arc, MutexGuard};

use attache_domain::{CallId, Exchange, Said, ToolCall, ToolResult, Utterance};
use serde::Serialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::models::{Generation, Model, family};
use crate::history::{GO_ON, NO_RESULT};
use crate::saying::MADE_UP;
pub(super) use kept::Kept;
use kept::Pairs;
use part::{FunctionCall, FunctionResponse, Part, Response, Spelled, What};

/// Stands where a signature is wanted and none is known that fits.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Who reads it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) model: &'a Model,
    pub(super) route: &'a str,
}

/// One after the other, beginning with the user, with every call answered.
pub(super) fn contents<'a>(exchanges: &'a [Arc<Exchange>], reader: Reader<'a>, kept: &Kept) -> Vec<Told<'a>> {
    let turn = exchanges.iter().rposition(|exchange| matches!(**exchange, Exchange::User(_))).unwrap_or(0);
    let contents = Vec::with_capacity(exchanges.len());
    let mut writer = Writer { reader, contents, pending: Vec::new(), pairs: kept.pairs() };
    let mut exchanges = exchanges.iter().enumerate().peekable();
    while let Some((index, exchange)) = exchanges.next() {
        match &**exchange {
            Exchange::User(content) => {
                writer.settle(&[]);
                let parts = content.iter().filter_map(media::part).map(Part::from).collect();
                writer.push(USER, parts);
            }
            Exchange::Model(said) => {
                writer.settle(&[]);
                let results = exchanges.next_if(|(_, next)| matches!(***next, Exchange::Results(_)));
                match results {
                    Some((_, results)) => writer.pair([exchange, results], index > turn),
                    None => writer.model(said, index > turn),
                }
            }
            Exchange::Results(results) => writer.settle(results),
        }
    }
    writer.settle(&[]);
    writer.contents
}

/// A content, made now or kept from before.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Told<'a> {
    Made(Spelled<'a>),
    Kept(Arc<RawValue>),
}

const USER: &str = "user";
const MODEL: &str = "model";

struct Writer<'a, 'k> {
    reader: Reader<'a>,
    contents: Vec<Told<'a>>,
    /// The calls of the last answer.
    pending: Vec<&'a ToolCall>,
    pairs: MutexGuard<'k, Pairs>,
}

impl<'a> Writer<'a, '_> {
    /// An answer with what came of its calls.
    fn pair(&mut self, pair: [&'a Arc<Exchange>; 2], current: bool) {
        let [Exchange::Model(said), Exchange::Results(results)] = pair.map(AsRef::as_ref) else { return };
        // What the model says goes together with what it said just before, and never comes first.
        let alone =
            self.contents.last().is_some_and(|last| !matches!(last, Told::Made(last) if last.role == MODEL));
        if let Some(kept) = self.pairs.find(pair, current).filter(|_| alone) {
            self.contents.extend(kept.map(Told::Kept));
            return;
        }
        let before = self.contents.len();
        self.model(said, current);
        self.settle(results);
        if let (true, [answer, told]) = (alone, &mut self.contents[before..])
            && let (Ok(spelled), Ok(settled)) = (to_raw_value(answer), to_raw_value(told))
        {
            let kept: [Arc<RawValue>; 2] = [spelled.into(), settled.into()];
            [*answer, *told] = kept.clone().map(Told::Kept);
            self.pairs.keep(pair, current, kept);
        }
    }

    fn push(&mut self, role: &'static str, mut parts: Vec<Part<'a>>) {
        if parts.is_empty() {
            return;
        }
        // What is kept ends with results, and those keep to themselves.
        if let Some(Told::Made(last)) = self.contents.last_mut()
            && last.role == role
            && !last.holds_results()
        {
            last.parts.append(&mut parts);
            return;
        }
        if self.contents.is_empty() && role == MODEL {
            let parts = vec![What::Text(GO_ON.into()).into()];
            self.contents.push(Told::Made(Spelled { role: USER, parts }));
        }
        self.contents.push(Told::Made(Spelled { role, parts }));
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
        self.push(MODEL, parts);
    }

    /// `signed` says that Gemini insists on a signature here.
    fn said(&self, said: &'a Said, signed: bool) -> Option<Part<'a>> {
        let own = said.opaque.as_ref().filter(|opaque| {
            opaque.provider == self.reader.route && family(&opaque.model) == self.reader.model.family()
        });
        let signature = own.and_then(|opaque| opaque.data.get("thoughtSignature"));
        let (what, thought) = match &said.what {
            Utterance::Text(text) if text.is_empty() && signature.is_none() => return None,
            Utterance::Text(text) => (What::Text(text.into()), false),
            // A thought is only worth sending for its signature.
            Utterance::Thought(_) if signature.is_none() => return None,
            Utterance::Thought(text) => (What::Text(text.into()), true),
            Utterance::Hidden => {
                return own.and_then(|opaque| opaque.data.get("part")).map(|part| What::Own(part).into());
            }
            Utterance::Call(call) => {
                let (name, args, id) = (call.name.as_str(), &call.input, sent_id(&call.id));
                (What::FunctionCall(FunctionCall { name, args, id }), false)
            }
        };
        let checked = matches!(self.reader.model.generation, Generation::Level);
        let missing = || (signed && checked).then(|| Cow::Owned(json!(NO_SIGNATURE)));
        let thought_signature = signature.map(Cow::Borrowed).or_else(missing);
        Some(Part { what, thought, thought_signature })
    }

    /// Answers every pending call, by what is in `results` or by saying that there is nothing.
    fn settle(&mut self, results: &'a [ToolResult]) {
        let mut parts = Vec::new();
        let mut beside = Vec::new();
        for call in std::mem::take(&mut self.pending) {
            match results.iter().find(|result| result.call == call.id) {
                Some(result) => parts.push(self.result(call, result, &mut beside)),
                None => parts.push(response(call, Response::Error(NO_RESULT.into()), Vec::new())),
            }
        }
        parts.append(&mut beside);
        self.push(USER, parts);
    }

    fn result(&self, call: &'a ToolCall, result: &'a ToolResult, beside: &mut Vec<Part<'a>>) -> Part<'a> {
        let (mut texts, mut media) = (Vec::new(), Vec::new());
        for content in &result.output {
            match media::part(content) {
                Some(What::Text(text)) => texts.push(text),
                part => media.extend(part.map(Part::from)),
            }
        }
        let text = match texts.len() {
            1 => texts.remove(0),
            _ => Cow::Owned(texts.join("\n")),
        };
        let told = if result.failed { Response::Error(text) } else { Response::Output(text) };
        match self.reader.model.generation {
            Generation::Level => response(call, told, media),
            _ => {
                beside.append(&mut media);
                response(call, told, Vec::new())
            }
        }
    }
}

fn response<'a>(call: &'a ToolCall, response: Response<'a>, parts: Vec<Part<'a>>) -> Part<'a> {
    let (name, id) = (call.name.as_str(), sent_id(&call.id));
    What::FunctionResponse(FunctionResponse { name, response, parts, id }).into()
}

/// An id that we made up is none of Gemini's business.
fn sent_id(id: &CallId) -> Option<&str> {
    Some(id.0.as_str()).filter(|id| !id.starts_with(MADE_UP))
}

#[cfg(test)]
#[path = "contents_tests.rs"]
mod tests;
