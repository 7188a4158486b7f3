//! Special requirements of OpenAI-compatible vendors.

/// Servers that refuse a history with calls if the reasoning of the answers is missing.
const WANT_THOUGHTS_BACK: &[&str] = &["deepseek.com", "kimi.com", "moonshot.ai", "moonshot.cn"];

/// Whether the server at `route` requires the model's reasoning back.
pub(super) fn wants_thoughts_back(route: &str) -> bool {
    let place = route.split_once("://").map_or("", |(_, place)| place);
    let host = place.split(':').next().unwrap_or_default();
    WANT_THOUGHTS_BACK.iter().any(|domain| {
        host.strip_suffix(domain).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(route: &str, expected: bool) {
        assert_eq!(wants_thoughts_back(route), expected, "{route}");
    }

    #[test]
    fn vendors_are_known_by_their_address() {
        check("openai", false);
        check("openai@https://api.deepseek.com", true);
        check("openai@https://api.deepseek.com:8443", true);
        check("openai@https://moonshot.cn", true);
        check("openai@https://notdeepseek.com", false);
        check("openai@https://deepseek.com.example", false);
        check("openai@http://127.0.0.1:11434", false);
    }
}
