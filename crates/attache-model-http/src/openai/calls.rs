//! Assembles calls that arrive in pieces.
//!
//! OpenAI numbers the calls. Other servers omit the number, repeat one number, repeat or omit the id, or send the
//! whole call at once. All of these are assembled.

use serde_json::{Map, Value};

#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Slot>);

/// Further calls of one answer are ignored.
const MAX_CALLS: usize = 512;

#[derive(Debug, Default)]
struct Slot {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// The input, if it arrived as an object instead of text.
    whole: Option<Map<String, Value>>,
    extra: Option<Value>,
}

#[derive(Debug, PartialEq)]
pub(super) struct AssembledCall {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) input: Map<String, Value>,
    /// Data to return with the call.
    pub(super) extra: Option<Value>,
}

impl Calls {
    /// Adds a piece, and returns the name of a call that it begins.
    pub(super) fn take(&mut self, piece: &Value) -> Option<String> {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let (id, name) = (text(piece.get("id")), text(piece.pointer("/function/name")));
        let index = piece.get("index").and_then(Value::as_u64);
        let slot = self.slot(index, &id, &name);
        if slot.id.is_empty() {
            slot.id = id;
        }
        if let Some(extra) = piece.get("extra_content").filter(|extra| !extra.is_null()) {
            slot.extra = Some(extra.clone());
        }
        match piece.pointer("/function/arguments") {
            Some(Value::String(text)) => slot.arguments.push_str(text),
            Some(Value::Object(whole)) => slot.whole = Some(whole.clone()),
            _ => {}
        }
        let begins = slot.name.is_empty() && !name.is_empty();
        if begins {
            slot.name.clone_from(&name);
        }
        begins.then_some(name)
    }

    /// Each call, or `None` for one that cannot be decoded.
    pub(super) fn finish(self) -> Vec<Option<AssembledCall>> {
        self.0.into_iter().map(Slot::finish).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn slot(&mut self, index: Option<u64>, id: &str, name: &str) -> &mut Slot {
        let known = match index {
            Some(_) => self.0.iter().rposition(|slot| slot.index == index),
            None if !id.is_empty() => self.0.iter().rposition(|slot| slot.id == id),
            // A name begins a call, unless the latest call has no name yet.
            None if !name.is_empty() => {
                self.0.len().checked_sub(1).filter(|last| self.0[*last].name.is_empty())
            }
            None => self.0.len().checked_sub(1),
        };
        let other = |slot: &Slot| !id.is_empty() && !slot.id.is_empty() && slot.id != id;
        let full = self.0.len() >= MAX_CALLS;
        let place = known.filter(|place| full || !other(&self.0[*place]));
        let place = place.or(full.then_some(MAX_CALLS - 1)).unwrap_or_else(|| {
            self.0.push(Slot { index, ..Slot::default() });
            self.0.len() - 1
        });
        &mut self.0[place]
    }
}

impl Slot {
    fn finish(self) -> Option<AssembledCall> {
        let Self { id, name, arguments, whole, extra, .. } = self;
        let input = match (whole, arguments.trim()) {
            (Some(whole), _) => whole,
            (None, "") => Map::new(),
            (None, text) => match serde_json::from_str(text).ok()? {
                Value::Object(input) => input,
                Value::Null => Map::new(),
                _ => return None,
            },
        };
        (!name.is_empty()).then_some(AssembledCall { id, name, input, extra })
    }
}

#[cfg(test)]
#[path = "calls_tests.rs"]
mod tests;
