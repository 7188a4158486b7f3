//! Builds an answer from its pieces, for every provider.

use std::collections::HashSet;
use std::sync::Arc;

use attache_domain::{CallId, Exchange, ModelPart, ModelPartContent, ProviderData, ToolCall, Usage};
use attache_model::{AnswerPiece, Prompt, StopReason};
use serde_json::{Map, Value};

use crate::answer_request::AnswerVerdict;

/// The prefix of generated ids, for calls without an id of the provider.
pub(crate) const GENERATED_ID_PREFIX: &str = "unnamed-";

/// A longer id is replaced by a generated one.
const MAX_ID_LENGTH: usize = 256;

/// An answer in progress. Every added piece is reported immediately.
#[derive(Debug)]
pub(crate) struct AnswerBuilder {
    /// The provider that understands the opaque data of this answer.
    route: String,
    model: String,
    pub(crate) parts: Vec<ModelPart>,
    ids: TakenIds,
}

impl AnswerBuilder {
    pub(crate) fn new(route: &str, model: &str, prompt: &Prompt) -> Self {
        Self { route: route.into(), model: model.into(), parts: Vec::new(), ids: TakenIds::of(prompt) }
    }

    pub(crate) fn text(&mut self, text: &str, emit: &mut dyn FnMut(AnswerPiece)) {
        if text.is_empty() {
            return;
        }
        emit(AnswerPiece::Text(text.to_owned()));
        match self.parts.last_mut() {
            Some(ModelPart { what: ModelPartContent::Text(known), opaque: None }) => known.push_str(text),
            _ => self.push(ModelPartContent::Text(text.to_owned()), None),
        }
    }

    /// A piece of a thought; `data` is the same for all pieces of one thought.
    pub(crate) fn thought(&mut self, text: &str, data: Value, emit: &mut dyn FnMut(AnswerPiece)) {
        if text.is_empty() {
            return;
        }
        emit(AnswerPiece::Thought(text.to_owned()));
        match self.parts.last_mut() {
            Some(ModelPart { what: ModelPartContent::Thought(known), opaque: Some(opaque) })
                if opaque.data == data =>
            {
                known.push_str(text);
            }
            _ => self.push(ModelPartContent::Thought(text.to_owned()), Some(data)),
        }
    }

    pub(crate) fn call(
        &mut self,
        id: Option<&str>,
        name: String,
        input: Map<String, Value>,
        data: Option<Value>,
        emit: &mut dyn FnMut(AnswerPiece),
    ) {
        let given =
            id.filter(|id| !id.is_empty() && id.len() <= MAX_ID_LENGTH).map(|id| CallId(id.to_owned()));
        let id = self.ids.take(given);
        let call = ToolCall { id, name, input };
        emit(AnswerPiece::Call(call.clone()));
        self.push(ModelPartContent::Call(call), data);
    }

    /// `data` is returned to the provider with later requests.
    pub(crate) fn push(&mut self, what: ModelPartContent, data: Option<Value>) {
        let opaque =
            data.map(|data| ProviderData { provider: self.route.clone(), model: self.model.clone(), data });
        self.parts.push(ModelPart { what, opaque });
    }

    /// The finish of an answer that ended regularly, if it is not empty.
    pub(crate) fn verdict(&self, after_results: bool) -> AnswerVerdict {
        let speaks = |part: &ModelPart| match &part.what {
            ModelPartContent::Text(text) => !text.trim().is_empty(),
            ModelPartContent::Call(_) => true,
            ModelPartContent::Thought(_) | ModelPartContent::Hidden => false,
        };
        let thought = self.parts.iter().any(|part| matches!(part.what, ModelPartContent::Thought(_)));
        if self.parts.iter().any(speaks) || after_results && !thought {
            return AnswerVerdict::Whole(StopReason::Done);
        }
        let why = if thought { "the model thought and said nothing" } else { "the answer is empty" };
        AnswerVerdict::Invalid { why: why.into(), silent: true }
    }
}

/// The ids of calls in the prompt and in this answer.
#[derive(Debug)]
pub(crate) struct TakenIds {
    /// Searched only when the provider sends an id, because the history may be long.
    exchanges: Arc<Vec<Arc<Exchange>>>,
    own: HashSet<CallId>,
}

impl TakenIds {
    pub(crate) fn of(prompt: &Prompt) -> Self {
        Self { exchanges: Arc::clone(&prompt.exchanges), own: HashSet::new() }
    }

    /// The id of a new call: the given one if it is free, otherwise a generated one.
    pub(crate) fn take(&mut self, given: Option<CallId>) -> CallId {
        let free = given.filter(|id| !self.own.contains(id) && !self.is_in_prompt(id));
        let id =
            free.unwrap_or_else(|| CallId(format!("{GENERATED_ID_PREFIX}{}", uuid::Uuid::new_v4().simple())));
        self.own.insert(id.clone());
        id
    }

    fn is_in_prompt(&self, id: &CallId) -> bool {
        let is_it = |part: &ModelPart| matches!(&part.what, ModelPartContent::Call(call) if call.id == *id);
        self.exchanges.iter().any(|exchange| match &**exchange {
            Exchange::Model(parts) => parts.iter().any(is_it),
            Exchange::User(_) | Exchange::Results(_) => false,
        })
    }
}

/// The length of an answer.
pub(crate) fn extent(parts: &[ModelPart]) -> usize {
    let length = |part: &ModelPart| match &part.what {
        ModelPartContent::Text(text) | ModelPartContent::Thought(text) => text.len() + 1,
        ModelPartContent::Call(_) | ModelPartContent::Hidden => 1,
    };
    parts.iter().map(length).sum()
}

/// The answer as it is stored in the history.
pub(crate) fn history_parts(mut parts: Vec<ModelPart>, stop: &StopReason) -> Vec<ModelPart> {
    if matches!(stop, StopReason::Refused { .. }) {
        // These calls get no results.
        parts.retain(|part| !matches!(part.what, ModelPartContent::Call(_)));
    }
    parts
}

pub(crate) fn sum(one: Usage, other: Usage) -> Usage {
    Usage {
        input: one.input.saturating_add(other.input),
        cached: one.cached.saturating_add(other.cached),
        output: one.output.saturating_add(other.output),
        thoughts: one.thoughts.saturating_add(other.thoughts),
    }
}
