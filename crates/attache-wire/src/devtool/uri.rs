//! The extension's URI, and the versions that are supported.

/// The extension as the agent card lists it.
pub const URI: &str =
    "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md";

const URI_PREFIX: &str = "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v";
const URI_SUFFIX: &str = "/spec.md";

/// Whether `uri` is the extension in a supported version. By semantic versioning: the major number must be ours, and
/// while that is zero, so must a minor number. Versions are `0`, `0.0` or `0.0.1`.
pub fn is_devtool_uri(uri: &str) -> bool {
    let Some(version) = uri.trim().strip_prefix(URI_PREFIX).and_then(|rest| rest.strip_suffix(URI_SUFFIX))
    else {
        return false;
    };
    // A build or a preview name may follow the numbers.
    let numbers = version.split(['-', '+']).next().unwrap_or_default();
    let is_number =
        |text: &str| !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<_> = numbers.split('.').collect();
    if parts.is_empty() || parts.len() > 3 || !parts.iter().all(|part| is_number(part)) {
        return false;
    }
    let is_zero = |part: Option<&&str>| part.is_none_or(|part| part.bytes().all(|byte| byte == b'0'));
    is_zero(parts.first()) && is_zero(parts.get(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(version: &str, expected: bool) {
        assert_eq!(is_devtool_uri(&format!("{URI_PREFIX}{version}{URI_SUFFIX}")), expected, "{version}");
    }

    #[test]
    fn versions_are_matched_semantically() {
        assert!(is_devtool_uri(URI));
        for fits in ["0", "0.0", "0.0.7", "00", "0.0.1-beta", "0+build"] {
            check(fits, true);
        }
        for other in ["1", "1.2", "0.1", "0.1.0", "10", "", "x", "0.", "0.0.0.0", "-1", "0x0", "1234567890"] {
            check(other, false);
        }
        assert!(!is_devtool_uri("https://example.com/v0/spec.md"));
        assert!(!is_devtool_uri(""));
    }
}
