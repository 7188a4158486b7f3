//! The extension's URI, and the versions that are supported.

/// The extension as the agent card lists it.
pub const URI: &str =
    "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md";

const URI_PREFIX: &str = "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v";
const URI_SUFFIX: &str = "/spec.md";

/// The version of the extension that `uri` names, such as `0.1`; `None` for other URIs.
pub fn devtool_version(uri: &str) -> Option<&str> {
    let version = uri.trim().strip_prefix(URI_PREFIX)?.strip_suffix(URI_SUFFIX)?;
    numbers(version).map(|_| version)
}

/// Whether a client of this version understands an agent with the version in `uri`: newer minor versions only add.
pub fn is_understood_uri(uri: &str) -> bool {
    let major = devtool_version(uri).and_then(numbers).and_then(|numbers| numbers.first().copied());
    major.is_some_and(|major| major.bytes().all(|byte| byte == b'0'))
}

/// One to three numbers; a build or a preview name may follow them.
fn numbers(version: &str) -> Option<Vec<&str>> {
    let is_number =
        |text: &&str| !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<_> = version.split(['-', '+']).next().unwrap_or_default().split('.').collect();
    (parts.len() <= 3 && parts.iter().all(is_number)).then_some(parts)
}

/// Whether `uri` is the extension in a supported version. By semantic versioning: the major number must be ours, and
/// while that is zero, so must a minor number. Versions are `0`, `0.0` or `0.0.1`.
pub fn is_devtool_uri(uri: &str) -> bool {
    let Some(parts) = devtool_version(uri).and_then(numbers) else { return false };
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
        for (version, understood) in
            [("0", true), ("0.1", true), ("0.99.3-rc", true), ("1", false), ("10", false)]
        {
            let uri = format!("{URI_PREFIX}{version}{URI_SUFFIX}");
            assert_eq!((devtool_version(&uri), is_understood_uri(&uri)), (Some(version), understood));
        }
        assert_eq!(devtool_version(&format!("{URI_PREFIX}x{URI_SUFFIX}")), None);
        assert!(!is_devtool_uri("https://example.com/v0/spec.md"));
        assert!(!is_devtool_uri(""));
    }
}
