//! The known models and their differences.

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

    /// Shows the model's thoughts where its kind is known.
    pub(super) fn thinking(&self) -> Option<Value> {
        match self.generation {
            Generation::Early | Generation::Unknown => None,
            Generation::Budget => Some(json!({"includeThoughts": true, "thinkingBudget": 8192})),
            Generation::Level => Some(json!({"includeThoughts": true, "thinkingLevel": "HIGH"})),
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

    #[test]
    fn each_generation_thinks_in_its_own_words() {
        let check = |name: &str, expected: Option<Value>| {
            assert_eq!(Model::named(name).thinking(), expected, "{name}");
        };
        check("gemini-2.0-flash", None);
        check("house-model", None);
        check("gemini-2.5-flash", Some(json!({"includeThoughts": true, "thinkingBudget": 8192})));
        check("pro", Some(json!({"includeThoughts": true, "thinkingLevel": "HIGH"})));
    }
}
