//! The known models and their differences.

use attache_model::Thinking;

/// What requests need to know about a model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Model {
    pub(super) id: String,
    pub(super) window: u64,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// OpenAI, without reasoning: no effort, any temperature.
    Plain,
    /// OpenAI, always reasoning: no temperature.
    Series,
    /// The same, with `minimal` as the lowest effort.
    Minimal,
    /// The same, with optional reasoning.
    Optional,
    /// Another vendor's; every value is accepted.
    Unknown,
}

/// By prefix of the name; the first match counts.
const KNOWN: &[(&str, u64, Kind)] = &[
    ("gpt-3.5", 16_385, Kind::Plain),
    ("gpt-4.1", 1_047_576, Kind::Plain),
    ("gpt-4o", 128_000, Kind::Plain),
    ("gpt-4-turbo", 128_000, Kind::Plain),
    ("gpt-4.5", 128_000, Kind::Plain),
    ("gpt-4", 8_192, Kind::Plain),
    ("chatgpt-", 128_000, Kind::Plain),
    ("gpt-5.", 400_000, Kind::Optional),
    ("gpt-5", 400_000, Kind::Minimal),
    ("gpt-oss", 131_072, Kind::Unknown),
    ("gpt-", 400_000, Kind::Optional),
    ("o1", 200_000, Kind::Series),
    ("o3", 200_000, Kind::Series),
    ("o4", 200_000, Kind::Series),
    ("", 128_000, Kind::Unknown),
];

impl Model {
    pub(super) fn named(id: &str) -> Self {
        let last = id.rsplit('/').next().unwrap_or(id);
        if last.starts_with("gpt-") && last.contains("-chat") {
            return Self { id: id.into(), window: 128_000, kind: Kind::Plain };
        }
        let known = KNOWN.iter().find(|(start, ..)| last.starts_with(start));
        let (window, kind) = known.map_or((128_000, Kind::Unknown), |(_, window, kind)| (*window, *kind));
        Self { id: id.into(), window, kind }
    }

    /// Whether the model accepts a temperature.
    pub(super) fn is_tunable(&self) -> bool {
        matches!(self.kind, Kind::Plain | Kind::Unknown)
    }

    /// `None`: the server's default.
    pub(super) fn effort(&self, requested: Option<Thinking>) -> Option<&'static str> {
        match (requested?, self.kind) {
            (_, Kind::Plain) => None,
            (Thinking::Off, Kind::Series) => Some("low"),
            (Thinking::Off, Kind::Minimal) => Some("minimal"),
            (Thinking::Off, _) => Some("none"),
            (Thinking::Low, _) => Some("low"),
            (Thinking::Medium, _) => Some("medium"),
            (Thinking::High, _) => Some("high"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(id: &str, window: u64, tunable: bool, off: Option<&str>) {
        let model = Model::named(id);
        assert_eq!((model.window, model.is_tunable()), (window, tunable), "{id}");
        assert_eq!(model.effort(Some(Thinking::Off)), off, "{id}");
        assert_eq!(model.effort(None), None, "{id}");
    }

    #[test]
    fn names_become_models() {
        check("gpt-4o-mini", 128_000, true, None);
        check("gpt-4.1", 1_047_576, true, None);
        check("gpt-5-mini", 400_000, false, Some("minimal"));
        check("gpt-5.1", 400_000, false, Some("none"));
        check("gpt-5.2-chat-latest", 128_000, true, None);
        check("gpt-6-sol", 400_000, false, Some("none"));
        check("gpt-oss:20b", 131_072, true, Some("none"));
        check("openai/o3", 200_000, false, Some("low"));
        check("qwen3:32b", 128_000, true, Some("none"));
        assert_eq!(Model::named("gpt-4o").effort(Some(Thinking::High)), None);
        assert_eq!(Model::named("o3").effort(Some(Thinking::High)), Some("high"));
    }
}
