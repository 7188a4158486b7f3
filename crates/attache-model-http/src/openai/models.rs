//! The known models and their differences.

/// What requests need to know about a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Model {
    pub(super) window: u64,
    /// Whether the model accepts a temperature. Models that always reason do not.
    pub(super) is_tunable: bool,
}

const fn tunable(window: u64) -> Model {
    Model { window, is_tunable: true }
}

const fn reasoning(window: u64) -> Model {
    Model { window, is_tunable: false }
}

/// By prefix of the name; the first match counts.
const KNOWN: &[(&str, Model)] = &[
    ("gpt-3.5", tunable(16_385)),
    ("gpt-4.1", tunable(1_047_576)),
    ("gpt-4o", tunable(128_000)),
    ("gpt-4-turbo", tunable(128_000)),
    ("gpt-4.5", tunable(128_000)),
    ("gpt-4", tunable(8_192)),
    ("gpt-5", reasoning(400_000)),
    ("gpt-oss", tunable(131_072)),
    ("gpt-", reasoning(400_000)),
    ("o1", reasoning(200_000)),
    ("o3", reasoning(200_000)),
    ("o4", reasoning(200_000)),
];

/// Also for other vendors' models.
const USUAL: Model = tunable(128_000);

impl Model {
    pub(super) fn named(id: &str) -> Self {
        let last = id.rsplit('/').next().unwrap_or(id);
        if last.starts_with("gpt-") && last.contains("-chat") {
            return USUAL;
        }
        KNOWN.iter().find(|(start, _)| last.starts_with(start)).map_or(USUAL, |(_, model)| *model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(id: &str, window: u64, is_tunable: bool) {
        assert_eq!(Model::named(id), Model { window, is_tunable }, "{id}");
    }

    #[test]
    fn names_become_models() {
        check("gpt-4o-mini", 128_000, true);
        check("gpt-4.1", 1_047_576, true);
        check("gpt-5-mini", 400_000, false);
        check("gpt-5.1", 400_000, false);
        check("gpt-5.2-chat-latest", 128_000, true);
        check("gpt-6-sol", 400_000, false);
        check("gpt-oss:20b", 131_072, true);
        check("chatgpt-4o-latest", 128_000, true);
        check("openai/o3", 200_000, false);
        check("qwen3:32b", 128_000, true);
    }
}
