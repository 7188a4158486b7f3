//! How what two servers said differs, step by step and event by event.
//!
//! Events, and the messages of a history, are matched by what they are about, not by their place: one that only one server
//! sends is one difference, and those behind it are still compared with their like. How an answer is cut into pieces is
//! no difference, nor is which id a message has.

mod matching;
mod pieces;

pub(super) use pieces::joined;

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};

/// One thing that is not the same.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Difference {
    pub(super) scenario: String,
    /// Counted from one; 0 is the scenario as a whole.
    pub(super) step: usize,
    /// What the event is about; empty when it is not about an event.
    pub(super) event: String,
    pub(super) what: What,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum What {
    /// An event that only the peer sends.
    Missing,
    /// An event that only we send.
    Added,
    /// A field by its path, as the peer says it and as we do; `null` where there is none.
    Field { path: String, peer: Value, ours: Value },
}

/// Every difference between two normalised transcripts of one scenario.
pub(super) fn differences(scenario: &str, peer: &Value, ours: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut note = |step: usize, event: &str, what: What| {
        found.push(Difference { scenario: scenario.to_owned(), step, event: event.to_owned(), what });
    };
    let (mut peer, mut ours) = (peer.clone(), ours.clone());
    let [peer_steps, our_steps] = [&mut peer, &mut ours].map(|heard| taken(heard, "", "steps"));
    fields(&peer, &ours).into_iter().for_each(|what| note(0, "", what));
    let (peer, ours) = (peer_steps, our_steps);
    for number in 0..peer.len().max(ours.len()) {
        let step = |steps: &[Value]| steps.get(number).map_or(Value::Null, |step| unframed(&step["heard"]));
        let (mut peer, mut ours) = (step(&peer), step(&ours));
        let events = [&mut peer, &mut ours].map(|heard| taken(heard, "", "events"));
        let history = [&mut peer, &mut ours].map(|heard| taken(heard, "/body", "history"));
        fields(&peer, &ours).into_iter().for_each(|what| note(number + 1, "", what));
        for [peer, ours] in [events, history] {
            matching::of(&peer, &ours).into_iter().for_each(|(event, what)| note(number + 1, &event, what));
        }
    }
    found
}

/// An error that is the only event of its stream as if it came without one, so that what it says can be compared.
fn unframed(heard: &Value) -> Value {
    match heard["events"].as_array().map(Vec::as_slice) {
        Some([only]) if only["event"] == "error" => {
            json!({"status": heard["status"], "body": only["data"], "framing": "event stream"})
        }
        _ => heard.clone(),
    }
}

/// The fields that are not the same.
fn fields(peer: &Value, ours: &Value) -> Vec<What> {
    let (mut left, mut right) = (BTreeMap::new(), BTreeMap::new());
    leaves(peer, String::new(), &mut left);
    leaves(ours, String::new(), &mut right);
    let paths: std::collections::BTreeSet<_> = left.keys().chain(right.keys()).cloned().collect();
    let at = |leaves: &BTreeMap<String, Value>, path: &String| leaves.get(path).cloned().unwrap_or_default();
    let is_id =
        |path: &String| path.ends_with("messageId") && left.contains_key(path) && right.contains_key(path);
    let different = paths.into_iter().filter(|path| left.get(path) != right.get(path) && !is_id(path));
    different.map(|path| What::Field { peer: at(&left, &path), ours: at(&right, &path), path }).collect()
}

/// Everything that has no fields of its own, by its path.
fn leaves(value: &Value, path: String, into: &mut BTreeMap<String, Value>) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            fields.iter().for_each(|(name, value)| leaves(value, below(name), into));
        }
        Value::Array(items) if !items.is_empty() => {
            let numbered = items.iter().enumerate();
            numbered.for_each(|(number, value)| leaves(value, below(&number.to_string()), into));
        }
        _ => {
            into.insert(path, value.clone());
        }
    }
}

/// Takes a list out of what is at `pointer`; empty when there is none.
fn taken(value: &mut Value, pointer: &str, field: &str) -> Vec<Value> {
    let fields = value.pointer_mut(pointer).and_then(Value::as_object_mut);
    match fields.and_then(|fields| fields.remove(field)) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} step {} [{}] ", self.scenario, self.step, self.event)?;
        match &self.what {
            What::Missing => write!(formatter, "only the peer sends it"),
            What::Added => write!(formatter, "only we send it"),
            What::Field { path, peer, ours } => write!(formatter, "{path}: peer {peer}, ours {ours}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transcript(events: &[(&str, &str)]) -> Value {
        let event = |(kind, text): &(&str, &str)| {
            let message = json!({"parts": [{"kind": "text", "text": text}]});
            json!({"kind": "status-update", "status": {"state": "working", "message": message}, "final": false,
                "metadata": {"coderAgent": {"kind": kind}}})
        };
        let events: Vec<_> = events.iter().map(event).collect();
        json!({"modelCalls": 1, "steps": [{"asks": "message/stream", "heard": {"status": 200, "events": events}}]})
    }

    #[track_caller]
    fn check(peer: &[(&str, &str)], ours: &[(&str, &str)], expected: &[&str]) {
        let found = differences("s", &transcript(peer), &transcript(ours));
        let found: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_same_has_no_difference() {
        check(&[("thought", "a"), ("text-content", "b")], &[("thought", "a"), ("text-content", "b")], &[]);
    }

    #[test]
    fn an_event_of_one_server_alone_does_not_shift_the_others() {
        let peer = [("state-change", ""), ("thought", "a"), ("text-content", "b")];
        let ours = [("state-change", ""), ("text-content", "c")];
        check(
            &peer,
            &ours,
            &[
                "s step 1 [status-update thought] only the peer sends it",
                "s step 1 [status-update text-content] status.message.parts.0.text: peer \"b\", ours \"c\"",
            ],
        );
        check(&ours[..1], &peer[..2], &["s step 1 [status-update thought] only we send it"]);
    }

    #[test]
    fn how_an_answer_is_cut_is_no_difference() {
        let whole = [("thought", "x"), ("text-content", "ab"), ("state-change", "")];
        let pieces = [("thought", "x"), ("text-content", "a"), ("text-content", "b"), ("state-change", "")];
        check(&whole, &pieces, &[]);
        let more =
            ["s step 1 [status-update text-content] status.message.parts.0.text: peer \"ab\", ours \"a\""];
        check(&whole, &[pieces[0], pieces[1], pieces[3]], &more);
    }

    #[test]
    fn a_history_is_compared_message_by_message() {
        let transcript = |texts: &[(&str, &str)]| {
            let message = |(role, text): &(&str, &str)| json!({"role": role, "parts": [{"kind": "text", "text": text}]});
            let history: Vec<_> = texts.iter().map(message).collect();
            json!({"steps": [{"heard": {"body": {"kind": "task", "history": history}}}]})
        };
        let peer = transcript(&[("user", "a"), ("agent", "b"), ("agent", "c")]);
        let ours = transcript(&[("user", "a"), ("agent", "bd")]);
        let found = differences("s", &peer, &ours);
        let found: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, ["s step 1 [agent text] parts.0.text: peer \"bc\", ours \"bd\""]);
    }

    #[test]
    fn an_error_is_compared_however_it_is_framed() {
        let transcript = |heard: Value| json!({"steps": [{"heard": heard}]});
        let error = |code: i64| json!({"error": {"code": code}});
        let event = json!({"event": "error", "data": error(1)});
        let peer = transcript(json!({"status": 200, "end": "end", "events": [event]}));
        let ours = transcript(json!({"status": 200, "body": error(2)}));
        let found = differences("s", &peer, &ours);
        let found: Vec<_> = found.iter().map(ToString::to_string).collect();
        let expected = [
            "s step 1 [] body.error.code: peer 1, ours 2",
            "s step 1 [] framing: peer \"event stream\", ours null",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_said_about_the_whole_is_compared_too() {
        let mut ours = transcript(&[]);
        ours["modelCalls"] = json!(2);
        let found = differences("s", &transcript(&[]), &ours);
        assert_eq!(found[0].to_string(), "s step 0 [] modelCalls: peer 1, ours 2");
    }
}
