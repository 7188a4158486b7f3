//! What a model has said so far, as every provider keeps it.

use std::collections::HashSet;
use std::sync::Arc;

use attache_domain::{CallId, Exchange, Opaque, Said, ToolCall, Usage, Utterance};
use attache_model::{Piece, Prompt, Stop};
use serde_json::{Map, Value};

use crate::asking::Verdict;

/// Ids made up here begin so, where the provider gave none.
pub(crate) const MADE_UP: &str = "unnamed-";

/// A longer one is not worth keeping, and another is made up.
const LONGEST_ID: usize = 256;

/// An answer under way. Everything added is told at once.
#[derive(Debug)]
pub(crate) struct Saying {
    /// Whose the opaque data of this answer is.
    route: String,
    model: String,
    pub(crate) said: Vec<Said>,
    ids: TakenIds,
}

impl Saying {
    pub(crate) fn new(route: &str, model: &str, prompt: &Prompt) -> Self {
        Self { route: route.into(), model: model.into(), said: Vec::new(), ids: TakenIds::of(prompt) }
    }

    pub(crate) fn text(&mut self, text: &str, tell: &mut dyn FnMut(Piece)) {
        if text.is_empty() {
            return;
        }
        tell(Piece::Text(text.to_owned()));
        match self.said.last_mut() {
            Some(Said { what: Utterance::Text(known), opaque: None }) => known.push_str(text),
            _ => self.push(Utterance::Text(text.to_owned()), None),
        }
    }

    /// A stretch of a thought; `data` is the same for all of one thought.
    pub(crate) fn thought(&mut self, text: &str, data: Value, tell: &mut dyn FnMut(Piece)) {
        if text.is_empty() {
            return;
        }
        tell(Piece::Thought(text.to_owned()));
        match self.said.last_mut() {
            Some(Said { what: Utterance::Thought(known), opaque: Some(opaque) }) if opaque.data == data => {
                known.push_str(text);
            }
            _ => self.push(Utterance::Thought(text.to_owned()), Some(data)),
        }
    }

    pub(crate) fn call(
        &mut self,
        id: Option<&str>,
        name: String,
        input: Map<String, Value>,
        data: Option<Value>,
        tell: &mut dyn FnMut(Piece),
    ) {
        let given = id.filter(|id| !id.is_empty() && id.len() <= LONGEST_ID).map(|id| CallId(id.to_owned()));
        let id = self.ids.take(given);
        let call = ToolCall { id, name, input };
        tell(Piece::Call(call.clone()));
        self.push(Utterance::Call(call), data);
    }

    /// `data` is what the provider wants to see again.
    pub(crate) fn push(&mut self, what: Utterance, data: Option<Value>) {
        let opaque =
            data.map(|data| Opaque { provider: self.route.clone(), model: self.model.clone(), data });
        self.said.push(Said { what, opaque });
    }

    /// What to make of an answer that ended as it should, if there is something in it.
    pub(crate) fn verdict(&self, after_results: bool) -> Verdict {
        let speaks = |said: &Said| match &said.what {
            Utterance::Text(text) => !text.trim().is_empty(),
            Utterance::Call(_) => true,
            Utterance::Thought(_) | Utterance::Hidden => false,
        };
        let thought = self.said.iter().any(|said| matches!(said.what, Utterance::Thought(_)));
        if self.said.iter().any(speaks) || after_results && !thought {
            return Verdict::Whole(Stop::Done);
        }
        let why = if thought { "the model thought and said nothing" } else { "the answer is empty" };
        Verdict::Invalid { why: why.into(), silent: true }
    }
}

/// Ids of calls that are taken, in the prompt or by this answer.
#[derive(Debug)]
pub(crate) struct TakenIds {
    /// Looked through when a provider gives an id, and not before: it may be long.
    exchanges: Arc<Vec<Arc<Exchange>>>,
    own: HashSet<CallId>,
}

impl TakenIds {
    pub(crate) fn of(prompt: &Prompt) -> Self {
        Self { exchanges: Arc::clone(&prompt.exchanges), own: HashSet::new() }
    }

    /// The id of a new call: as it was given if it is free, or else made up.
    pub(crate) fn take(&mut self, given: Option<CallId>) -> CallId {
        let free = given.filter(|id| !self.own.contains(id) && !self.is_told(id));
        let id = free.unwrap_or_else(|| CallId(format!("{MADE_UP}{}", uuid::Uuid::new_v4().simple())));
        self.own.insert(id.clone());
        id
    }

    fn is_told(&self, id: &CallId) -> bool {
        let is_it = |said: &Said| matches!(&said.what, Utterance::Call(call) if call.id == *id);
        self.exchanges.iter().any(|exchange| match &**exchange {
            Exchange::Model(said) => said.iter().any(is_it),
            Exchange::User(_) | Exchange::Results(_) => false,
        })
    }
}

/// How much was said.
pub(crate) fn extent(said: &[Said]) -> usize {
    let length = |said: &Said| match &said.what {
        Utterance::Text(text) | Utterance::Thought(text) => text.len() + 1,
        Utterance::Call(_) | Utterance::Hidden => 1,
    };
    said.iter().map(length).sum()
}

/// An answer as it enters the history.
pub(crate) fn settled(mut said: Vec<Said>, stop: &Stop) -> Vec<Said> {
    if matches!(stop, Stop::Refused { .. }) {
        // Nobody will answer them.
        said.retain(|said| !matches!(said.what, Utterance::Call(_)));
    }
    said
}

pub(crate) fn sum(one: Usage, other: Usage) -> Usage {
    Usage {
        input: one.input.saturating_add(other.input),
        cached: one.cached.saturating_add(other.cached),
        output: one.output.saturating_add(other.output),
        thoughts: one.thoughts.saturating_add(other.thoughts),
    }
}
