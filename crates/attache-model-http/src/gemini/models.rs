//! The known models and their differences.

use attache_model::Thinking;
use serde_json::{Value, json};

/// What requests need to know about a model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Model {
    /// The name in requests, with aliases resolved.
    pub(super) id: String,
    pub(super) window: u64,
    pub(super) generation: Generation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Generation {
    /// No thinking: everything up to 2.0, and Gemma.
    Early,
    /// 2.5: thinking has a budget.
    Budget,
    /// 3 and later: thinking has a level, and signatures are checked.
    Level,
    /// An unknown name, such as a gateway's own.
    Unknown,
}

const ALIASES: &[(&str, &str)] = &[
    ("auto", "gemini-3.1-pro-preview"),
    ("auto-gemini-3", "gemini-3.1-pro-preview"),
    ("auto-gemini-2.5", "gemini-2.5-pro"),
    ("pro", "gemini-3.1-pro-preview"),
    ("flash", "gemini-3.6-flash"),
    ("flash-lite", "gemini-3.5-flash-lite"),
];

/// By prefix of the id; the first match counts.
const KNOWN: &[(&str, u64, Generation)] = &[
    ("gemini-1.5-pro", 2_097_152, Generation::Early),
    ("gemini-1.", 1_048_576, Generation::Early),
    ("gemini-2.0", 1_048_576, Generation::Early),
    ("gemini-2.5", 1_048_576, Generation::Budget),
    ("gemini-", 1_048_576, Generation::Level),
    ("gemma-", 131_072, Generation::Early),
    ("", 1_048_576, Generation::Unknown),
];

/// Suffixes that do not make it another model.
const VARIANTS: &[&str] = &["-preview", "-latest", "-exp", "-customtools"];

/// The first model to try for `name`, which may be an alias.
pub fn model_id(name: &str) -> &str {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    alias.map_or(name, |(_, id)| id)
}

impl Model {
    pub(super) fn named(name: &str) -> Self {
        let id = model_id(name);
        let last = last_segment(id);
        let (window, generation) = KNOWN
            .iter()
            .find(|(start, ..)| last.starts_with(start))
            .map_or((1_048_576, Generation::Unknown), |(_, window, generation)| (*window, *generation));
        Self { id: id.into(), window, generation }
    }

    /// Models of one family accept each other's signatures.
    pub(super) fn family(&self) -> &str {
        family(&self.id)
    }

    /// `None`: the provider's default.
    pub(super) fn thinking(&self, requested: Option<Thinking>) -> Option<Value> {
        let shown = requested != Some(Thinking::Off);
        match self.generation {
            Generation::Early => None,
            Generation::Unknown if requested.is_none() => None,
            Generation::Budget => {
                Some(json!({"includeThoughts": shown, "thinkingBudget": self.budget(requested)}))
            }
            Generation::Level | Generation::Unknown => {
                Some(json!({"includeThoughts": shown, "thinkingLevel": self.level(requested)}))
            }
        }
    }

    fn budget(&self, requested: Option<Thinking>) -> u32 {
        match requested {
            // The large model cannot switch thinking off.
            Some(Thinking::Off) if self.family().contains("pro") => 128,
            Some(Thinking::Off) => 0,
            Some(Thinking::Low) => 1024,
            None | Some(Thinking::Medium) => 8192,
            Some(Thinking::High) => 24_576,
        }
    }

    fn level(&self, requested: Option<Thinking>) -> &'static str {
        let pro = self.family().contains("pro");
        match requested {
            Some(Thinking::Off) if pro => "LOW",
            Some(Thinking::Off) => "MINIMAL",
            Some(Thinking::Low) => "LOW",
            // The first model of this kind has only two levels.
            Some(Thinking::Medium) if self.family() == "gemini-3-pro" => "HIGH",
            Some(Thinking::Medium) => "MEDIUM",
            None | Some(Thinking::High) => "HIGH",
        }
    }
}

/// The family of any model's id.
pub(super) fn family(id: &str) -> &str {
    let last = last_segment(id);
    let end = VARIANTS.iter().filter_map(|variant| last.find(variant)).min().unwrap_or(last.len());
    let name = &last[..end];
    // A release such as `-001`.
    match name.rsplit_once('-') {
        Some((before, number)) if number.len() == 3 && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            before
        }
        _ => name,
    }
}

fn last_segment(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, id: &str, family: &str, generation: Generation) {
        let model = Model::named(name);
        assert_eq!((model.id.as_str(), model.family(), model.generation), (id, family, generation));
        assert!(model.window >= 131_072);
    }

    #[test]
    fn names_become_models() {
        check("auto", "gemini-3.1-pro-preview", "gemini-3.1-pro", Generation::Level);
        check("auto-gemini-2.5", "gemini-2.5-pro", "gemini-2.5-pro", Generation::Budget);
        check("flash", "gemini-3.6-flash", "gemini-3.6-flash", Generation::Level);
        check("flash-lite", "gemini-3.5-flash-lite", "gemini-3.5-flash-lite", Generation::Level);
        check(
            "gemini-2.5-flash-preview-09-2025",
            "gemini-2.5-flash-preview-09-2025",
            "gemini-2.5-flash",
            Generation::Budget,
        );
        check(
            "models/gemini-2.0-flash-001",
            "models/gemini-2.0-flash-001",
            "gemini-2.0-flash",
            Generation::Early,
        );
        check("house-model", "house-model", "house-model", Generation::Unknown);
    }

    #[track_caller]
    fn check_thinking(name: &str, requested: Option<Thinking>, expected: Option<Value>) {
        assert_eq!(Model::named(name).thinking(requested), expected, "{name} {requested:?}");
    }

    #[test]
    fn each_generation_thinks_in_its_own_words() {
        let level = |level: &str| Some(json!({"includeThoughts": true, "thinkingLevel": level}));
        check_thinking("gemini-2.0-flash", Some(Thinking::High), None);
        check_thinking("house-model", None, None);
        check_thinking("house-model", Some(Thinking::Low), level("LOW"));
        check_thinking(
            "gemini-2.5-flash",
            None,
            Some(json!({"includeThoughts": true, "thinkingBudget": 8192})),
        );
        check_thinking(
            "gemini-2.5-flash",
            Some(Thinking::Off),
            Some(json!({"includeThoughts": false, "thinkingBudget": 0})),
        );
        check_thinking(
            "gemini-2.5-pro",
            Some(Thinking::Off),
            Some(json!({"includeThoughts": false, "thinkingBudget": 128})),
        );
        check_thinking("pro", None, level("HIGH"));
        check_thinking("gemini-3-pro-preview", Some(Thinking::Medium), level("HIGH"));
        check_thinking("pro", Some(Thinking::Medium), level("MEDIUM"));
        check_thinking("flash", Some(Thinking::Medium), level("MEDIUM"));
        check_thinking(
            "flash",
            Some(Thinking::Off),
            Some(json!({"includeThoughts": false, "thinkingLevel": "MINIMAL"})),
        );
    }
}
