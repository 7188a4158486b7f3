//! Detects a model that repeats the same calls.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{ModelPart, ModelPartContent};

/// The longest cycle that is detected, in calls.
const MAX_CYCLE: usize = 5;
/// Repetitions of a cycle that count as a loop.
const MIN_REPEATS: usize = 5;

/// The latest calls of a turn, as hashes of tool and input.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RepeatDetector {
    /// Oldest first, no more than the detection needs.
    recent: Vec<u64>,
    /// How often the model was warned.
    #[serde(rename = "told")]
    warnings: u32,
}

impl RepeatDetector {
    /// The latest calls are the same cycle, repeated `MIN_REPEATS` times.
    pub fn is_repeating(&self) -> bool {
        (1..=MAX_CYCLE).any(|length| self.repeats(length))
    }

    /// How often the model was warned in this turn.
    pub fn warnings(&self) -> u32 {
        self.warnings
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.recent.is_empty() && self.warnings == 0
    }

    pub(crate) fn record_calls(&mut self, said: &[ModelPart]) {
        for said in said {
            if let ModelPartContent::Call(call) = &said.what {
                self.recent.push(fingerprint(&call.name, &call.input));
            }
        }
        let surplus = self.recent.len().saturating_sub(MAX_CYCLE * MIN_REPEATS);
        self.recent.drain(..surplus);
    }

    /// The detection starts again after a warning.
    pub(crate) fn record_warning(&mut self) {
        self.warnings += 1;
        self.recent.clear();
    }

    fn repeats(&self, length: usize) -> bool {
        let Some(start) = self.recent.len().checked_sub(length * MIN_REPEATS) else { return false };
        let (first, rest) = self.recent[start..].split_at(length);
        rest.chunks(length).all(|next| next == first)
    }
}

/// FNV-1a. Stored, so it must be the same in every process; a collision does no harm.
fn fingerprint(name: &str, input: &Map<String, Value>) -> u64 {
    let input = Value::Object(input.clone()).to_string();
    let bytes = name.bytes().chain([0]).chain(input.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CallId, ToolCall};

    fn asked(names: &str) -> RepeatDetector {
        let mut repeats = RepeatDetector::default();
        for name in names.chars() {
            let call = ToolCall { id: CallId(String::new()), name: name.into(), input: Map::new() };
            repeats.record_calls(&[ModelPart { what: ModelPartContent::Call(call), opaque: None }]);
        }
        repeats
    }

    #[track_caller]
    fn check(names: &str, expected: bool) {
        assert_eq!(asked(names).is_repeating(), expected, "{names}");
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
        let mut repeats = asked("aaaaa");
        repeats.record_warning();
        assert!(!repeats.is_repeating());
        assert_eq!(repeats.warnings(), 1);
    }

    #[test]
    fn what_is_remembered_stays_small() {
        assert_eq!(asked(&"xy".repeat(1000)).recent.len(), MAX_CYCLE * MIN_REPEATS);
    }
}
