//! Notices a model that asks for the same again and again.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Said, Utterance};

/// The longest round trip that is recognised, in calls.
const LONGEST: usize = 5;
/// How often the same round trip is a circle.
const REPEATS: usize = 5;

/// The latest calls of a turn, by what they ask for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Circles {
    /// Oldest first; no more than it takes to tell.
    recent: Vec<u64>,
    /// How often the model has been told.
    told: u32,
}

impl Circles {
    /// The same calls, in the same order, as often as it takes.
    pub fn is_going_round(&self) -> bool {
        (1..=LONGEST).any(|length| self.repeats(length))
    }

    /// How often the model has been told in this turn that it repeats itself.
    pub fn times_told(&self) -> u32 {
        self.told
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.recent.is_empty() && self.told == 0
    }

    pub(crate) fn note(&mut self, said: &[Said]) {
        for said in said {
            if let Utterance::Call(call) = &said.what {
                self.recent.push(fingerprint(&call.name, &call.input));
            }
        }
        let surplus = self.recent.len().saturating_sub(LONGEST * REPEATS);
        self.recent.drain(..surplus);
    }

    /// It gets a fresh chance.
    pub(crate) fn told(&mut self) {
        self.told += 1;
        self.recent.clear();
    }

    fn repeats(&self, length: usize) -> bool {
        let Some(start) = self.recent.len().checked_sub(length * REPEATS) else { return false };
        let (first, rest) = self.recent[start..].split_at(length);
        rest.chunks(length).all(|next| next == first)
    }
}

/// The same in every process: it is stored. (FNV-1a; nobody gains anything from a collision.)
fn fingerprint(name: &str, input: &Map<String, Value>) -> u64 {
    let input = Value::Object(input.clone()).to_string();
    let bytes = name.bytes().chain([0]).chain(input.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CallId, ToolCall};

    fn asked(names: &str) -> Circles {
        let mut circles = Circles::default();
        for name in names.chars() {
            let call = ToolCall { id: CallId(String::new()), name: name.into(), input: Map::new() };
            circles.note(&[Said { what: Utterance::Call(call), opaque: None }]);
        }
        circles
    }

    #[track_caller]
    fn check(names: &str, expected: bool) {
        assert_eq!(asked(names).is_going_round(), expected, "{names}");
    }

    #[test]
    fn the_same_five_times_in_a_row_is_a_circle() {
        check("", false);
        check("aaaa", false);
        check("aaaaa", true);
        check("baaaaa", true);
        check("aaaab", false);
        check("ababababa", false);
        check("ababababab", true);
        check(&"abcde".repeat(5), true);
        check(&"abcdef".repeat(9), false);
        check(&format!("x{}", "abcde".repeat(5)), true);
        check("aaabaaab", false);
    }

    #[test]
    fn being_told_gives_a_fresh_chance() {
        let mut circles = asked("aaaaa");
        circles.told();
        assert!(!circles.is_going_round());
        assert_eq!(circles.times_told(), 1);
    }

    #[test]
    fn what_is_remembered_stays_small() {
        assert_eq!(asked(&"xy".repeat(1000)).recent.len(), LONGEST * REPEATS);
    }
}
