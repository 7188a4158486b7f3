//! The known models and their differences.

/// The context window of every model.
pub(super) const WINDOW: u64 = 200_000;

/// What requests need to know about a model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Model {
    /// The maximum length of an answer, which every request must name.
    pub(super) max_output: u64,
    /// Whether the model decides how much it thinks: those after 4.5. They accept no temperature.
    pub(super) is_adaptive: bool,
}

impl Model {
    pub(super) fn named(id: &str) -> Self {
        let version = version(id);
        // A name without a number is newer than those with one.
        let is_adaptive = version.map_or(id.contains("claude-"), |version| version > (4, 5));
        let max_output = match version {
            None if is_adaptive => 64_000,
            None | Some((3, 5)) => 8_192,
            Some((..3, _) | (3, ..5)) => 4_096,
            Some((4, ..=1)) if id.contains("opus") => 32_000,
            Some(_) => 64_000,
        };
        Self { max_output, is_adaptive }
    }
}

/// The family of a model, by its id without the release date. Models of one family accept each other's signatures.
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
    fn check(id: &str, expected_family: &str, is_adaptive: bool, max_output: u64) {
        assert_eq!(Model::named(id), Model { max_output, is_adaptive }, "{id}");
        assert_eq!(family(id), expected_family);
    }

    #[test]
    fn names_become_models() {
        check("claude-3-haiku-20240307", "claude-3-haiku", false, 4_096);
        check("claude-3-5-sonnet-latest", "claude-3-5-sonnet", false, 8_192);
        check("claude-3-7-sonnet-20250219", "claude-3-7-sonnet", false, 64_000);
        check("claude-opus-4-20250514", "claude-opus-4", false, 32_000);
        check("claude-opus-4-1", "claude-opus-4-1", false, 32_000);
        check("claude-sonnet-4-5@20250929", "claude-sonnet-4-5", false, 64_000);
        check("claude-opus-4-6", "claude-opus-4-6", true, 64_000);
        check("anthropic/claude-sonnet-5", "anthropic/claude-sonnet-5", true, 64_000);
        check("claude-haiku-5-5", "claude-haiku-5-5", true, 64_000);
        check("claude-mythos-preview", "claude-mythos-preview", true, 64_000);
        check("house-model", "house-model", false, 8_192);
    }
}
