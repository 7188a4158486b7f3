//! The known models and their differences.

use attache_model::Thinking;
use serde_json::{Value, json};

/// What requests need to know about a model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Model {
    pub(super) id: String,
    pub(super) window: u64,
    /// The maximum length of an answer without a setting.
    pub(super) most_output: u64,
    pub(super) generation: Generation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Generation {
    /// Before 3.7: no thinking.
    Early,
    /// Up to 4.5: thinking has a budget. A turn that began without thinking continues without.
    Budget,
    /// Later: the model decides how much it thinks.
    Adaptive,
    /// An unknown name, such as a gateway's own.
    Unknown,
}

/// How a request asks for thinking.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ThinkingParameters {
    pub(super) thinking: Value,
    pub(super) effort: Option<&'static str>,
    /// Whether the model thinks.
    pub(super) on: bool,
}

impl Model {
    pub(super) fn named(id: &str) -> Self {
        let version = version(id);
        let generation = match version {
            // A name without a number is newer than those with one.
            None if id.contains("claude-") => Generation::Adaptive,
            None => Generation::Unknown,
            Some(version) if version < (3, 7) => Generation::Early,
            Some(version) if version <= (4, 5) => Generation::Budget,
            Some(_) => Generation::Adaptive,
        };
        let most_output = match version {
            None if generation == Generation::Adaptive => 64_000,
            None | Some((3, 5)) => 8_192,
            Some((..3, _) | (3, ..5)) => 4_096,
            Some((4, ..=1)) if id.contains("opus") => 32_000,
            Some(_) => 64_000,
        };
        Self { id: id.into(), window: 200_000, most_output, generation }
    }

    /// Models of one family accept each other's signatures.
    pub(super) fn family(&self) -> &str {
        family(&self.id)
    }

    /// `None`: the provider's default. An answer has at most `room` tokens.
    pub(super) fn thoughts(&self, requested: Option<Thinking>, room: u64) -> Option<ThinkingParameters> {
        let off = json!({"type": "disabled"});
        match (self.generation, requested) {
            (Generation::Early, _) | (Generation::Budget | Generation::Unknown, None) => None,
            (Generation::Budget | Generation::Unknown, Some(Thinking::Off)) => {
                Some(ThinkingParameters { thinking: off, effort: None, on: false })
            }
            (Generation::Budget, Some(requested)) => {
                let tokens: u64 = match requested {
                    Thinking::Off | Thinking::Low => 2_048,
                    Thinking::Medium => 8_192,
                    Thinking::High => 24_576,
                };
                // Leaves room for the answer itself.
                let tokens = tokens.min(room / 2);
                let thinking = json!({"type": "enabled", "budget_tokens": tokens});
                (tokens >= MIN_BUDGET).then_some(ThinkingParameters { thinking, effort: None, on: true })
            }
            (Generation::Adaptive | Generation::Unknown, requested) => {
                let effort = requested.map(|requested| match requested {
                    Thinking::Off | Thinking::Low => "low",
                    Thinking::Medium => "medium",
                    Thinking::High => "high",
                });
                // Some models cannot switch thinking off, so it is reduced and hidden.
                let display = if requested == Some(Thinking::Off) { "omitted" } else { "summarized" };
                let thinking = json!({"type": "adaptive", "display": display});
                Some(ThinkingParameters { thinking, effort, on: true })
            }
        }
    }
}

/// Anthropic's minimum.
const MIN_BUDGET: u64 = 1_024;

/// The family of any model id: the id without its release date.
pub(super) fn family(id: &str) -> &str {
    let id = id.strip_suffix("-latest").unwrap_or(id);
    match id.rsplit_once(['-', '@']) {
        Some((before, date)) if date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()) => before,
        _ => id,
    }
}

/// `claude-3-5-sonnet-20241022` is 3.5, `claude-opus-4-20250514` is 4.0.
fn version(id: &str) -> Option<(u32, u32)> {
    let (_, name) = id.split_once("claude-")?;
    let words = name.split(['-', '.', '@']).filter(|word| word.len() <= 2);
    let mut numbers = words.filter_map(|word| word.parse::<u32>().ok());
    Some((numbers.next()?, numbers.next().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(id: &str, family: &str, generation: Generation, most_output: u64) {
        let model = Model::named(id);
        assert_eq!((model.family(), model.generation), (family, generation), "{id}");
        assert_eq!(model.most_output, most_output, "{id}");
    }

    #[test]
    fn names_become_models() {
        check("claude-3-haiku-20240307", "claude-3-haiku", Generation::Early, 4_096);
        check("claude-3-5-sonnet-latest", "claude-3-5-sonnet", Generation::Early, 8_192);
        check("claude-3-7-sonnet-20250219", "claude-3-7-sonnet", Generation::Budget, 64_000);
        check("claude-opus-4-20250514", "claude-opus-4", Generation::Budget, 32_000);
        check("claude-opus-4-1", "claude-opus-4-1", Generation::Budget, 32_000);
        check("claude-sonnet-4-5@20250929", "claude-sonnet-4-5", Generation::Budget, 64_000);
        check("claude-opus-4-6", "claude-opus-4-6", Generation::Adaptive, 64_000);
        check("anthropic/claude-sonnet-5", "anthropic/claude-sonnet-5", Generation::Adaptive, 64_000);
        check("claude-haiku-5-5", "claude-haiku-5-5", Generation::Adaptive, 64_000);
        check("claude-mythos-preview", "claude-mythos-preview", Generation::Adaptive, 64_000);
        check("house-model", "house-model", Generation::Unknown, 8_192);
    }

    #[track_caller]
    fn check_thoughts(
        id: &str,
        requested: Option<Thinking>,
        room: u64,
        expected: Option<(Value, Option<&str>)>,
    ) {
        let found = Model::named(id).thoughts(requested, room);
        let found = found.map(|thoughts| (thoughts.thinking, thoughts.effort));
        assert_eq!(found, expected, "{id} {requested:?}");
    }

    #[test]
    fn each_generation_thinks_in_its_own_words() {
        let budget = |tokens: u64| Some((json!({"type": "enabled", "budget_tokens": tokens}), None));
        let adaptive = |effort| Some((json!({"type": "adaptive", "display": "summarized"}), effort));
        let off = || Some((json!({"type": "disabled"}), None));
        check_thoughts("claude-3-haiku", Some(Thinking::High), 4_096, None);
        check_thoughts("claude-sonnet-4-5", None, 64_000, None);
        check_thoughts("claude-sonnet-4-5", Some(Thinking::Off), 64_000, off());
        check_thoughts("claude-sonnet-4-5", Some(Thinking::High), 64_000, budget(24_576));
        check_thoughts("claude-sonnet-4-5", Some(Thinking::High), 4_096, budget(2_048));
        check_thoughts("claude-sonnet-4-5", Some(Thinking::High), 100, None);
        check_thoughts("claude-opus-4-6", None, 64_000, adaptive(None));
        check_thoughts("claude-opus-4-6", Some(Thinking::Medium), 64_000, adaptive(Some("medium")));
        let least = json!({"type": "adaptive", "display": "omitted"});
        check_thoughts("claude-opus-4-6", Some(Thinking::Off), 64_000, Some((least, Some("low"))));
        check_thoughts("house-model", None, 64_000, None);
        check_thoughts("house-model", Some(Thinking::Low), 64_000, adaptive(Some("low")));
    }
}
