//! Finds the URLs in a prompt.

use attache_net::Url;
use attache_tool::{ToolError, ToolErrorKind};

/// URLs that one call may name.
pub(super) const MAX_URLS: usize = 20;
/// Longer URLs are refused.
pub(super) const MAX_URL: usize = 2_000;

/// The URLs in `prompt`, each once, as they will be fetched.
pub(super) fn urls_in(prompt: &str) -> Result<Vec<Url>, ToolError> {
    let mut urls: Vec<Url> = Vec::new();
    for token in prompt.split_whitespace().filter(|token| token.contains("://")) {
        let url = raw_of(parse(trimmed(token))?);
        if !urls.iter().any(|known| key(known) == key(&url)) {
            urls.push(url);
        }
        if urls.len() > MAX_URLS {
            let message = format!("more than {MAX_URLS} URLs; fetch the rest with another call");
            return Err(ToolError::bad_input(message));
        }
    }
    if urls.is_empty() {
        let message = "there is no URL in `prompt`; write at least one that begins with http:// or https://";
        return Err(ToolError::new(ToolErrorKind::WebFetchNoUrlInPrompt, message));
    }
    Ok(urls)
}

fn parse(text: &str) -> Result<Url, ToolError> {
    // The wrong part may be long or a password.
    let shown: String = text.chars().take(80).collect();
    let wrong = |what: &str| Err(ToolError::bad_input(format!("{shown:?} cannot be fetched: {what}")));
    if text.len() > MAX_URL {
        return wrong("it is too long for a URL");
    }
    let Ok(mut url) = Url::parse(text) else {
        return wrong("it is not a URL such as https://example.com/page");
    };
    if !matches!(url.scheme(), "http" | "https") {
        return wrong("only http:// and https:// can be fetched");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ToolError::bad_input("a URL holds a user name or password; leave it out"));
    }
    // The fragment is not sent.
    url.set_fragment(None);
    Ok(url)
}

/// Removes brackets, quotes, punctuation and Markdown around a URL.
fn trimmed(token: &str) -> &str {
    let lower = token.to_ascii_lowercase();
    let start = ["https://", "http://"].iter().filter_map(|scheme| lower.find(scheme)).min();
    let before = start.and_then(|start| token[..start].chars().next_back());
    let start = start.filter(|_| before.is_none_or(|before| !before.is_alphanumeric())).unwrap_or(0);
    let mut url = &token[start..];
    while let Some(last) = url.chars().next_back() {
        let opening = match last {
            ')' => Some('('),
            ']' => Some('['),
            '}' => Some('{'),
            '.' | ',' | ';' | ':' | '!' | '?' | '"' | '\'' | '`' | '>' | '*' | '<' | '«' | '»' | '”'
            | '’' | '。' => None,
            _ => break,
        };
        let count = |wanted: char| url.chars().filter(|character| *character == wanted).count();
        if opening.is_some_and(|opening| count(opening) >= count(last)) {
            break;
        }
        url = &url[..url.len() - last.len_utf8()];
    }
    url
}

/// URLs that differ only in a slash at the end are the same.
fn key(url: &Url) -> &str {
    url.as_str().trim_end_matches('/')
}

/// Replaces a GitHub page that shows a file by the file.
fn raw_of(url: Url) -> Url {
    if url.host_str() != Some("github.com") {
        return url;
    }
    let segments: Vec<&str> = url.path().split('/').skip(1).collect();
    let [owner, repository, "blob", rest @ ..] = segments.as_slice() else { return url };
    if rest.len() < 2 {
        return url;
    }
    let raw = format!("https://raw.githubusercontent.com/{owner}/{repository}/{}", rest.join("/"));
    Url::parse(&raw).unwrap_or(url)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(prompt: &str, expected: &[&str]) {
        let found = urls_in(prompt).unwrap();
        assert_eq!(found.iter().map(Url::as_str).collect::<Vec<_>>(), expected, "{prompt}");
    }

    #[track_caller]
    fn refused(prompt: &str, kind: ToolErrorKind, part: &str) {
        let error = urls_in(prompt).unwrap_err();
        assert!(error.kind == kind && error.message.contains(part), "{error:?}");
    }

    #[test]
    fn urls_are_found_in_running_text() {
        check("What does https://Example.COM:443/A/ say?", &["https://example.com/A/"]);
        check("(see http://a.test/x, and <https://b.test>).", &["http://a.test/x", "https://b.test/"]);
        check(
            "[docs](https://a.test/wiki/X_(y)) and `https://b.test/?q=1`",
            &["https://a.test/wiki/X_(y)", "https://b.test/?q=1"],
        );
        check("\"HTTPS://a.test/#part\"", &["https://a.test/"]);
    }

    #[test]
    fn each_is_there_once() {
        check(
            "https://a.test https://A.test/ https://a.test:443/#x http://a.test",
            &["https://a.test/", "http://a.test/"],
        );
        check("https://a.test/x/ https://a.test/x", &["https://a.test/x/"]);
    }

    #[test]
    fn files_on_github_are_fetched_raw() {
        check(
            "https://github.com/o/r/blob/main/src/a.rs#L3",
            &["https://raw.githubusercontent.com/o/r/main/src/a.rs"],
        );
        check(
            "https://github.com/o/r/tree/main https://github.com/o/r/blob/main",
            &["https://github.com/o/r/tree/main", "https://github.com/o/r/blob/main"],
        );
        check("https://github.com.test/o/r/blob/main/a", &["https://github.com.test/o/r/blob/main/a"]);
    }

    #[test]
    fn what_cannot_be_fetched_is_refused() {
        refused("no address here", ToolErrorKind::WebFetchNoUrlInPrompt, "at least one");
        refused("file:///etc/passwd", ToolErrorKind::InvalidToolParams, "only http");
        refused("https://a.test ftp://b.test", ToolErrorKind::InvalidToolParams, "only http");
        refused("https://[oops", ToolErrorKind::InvalidToolParams, "not a URL");
        refused("https://u:s3cret@a.test", ToolErrorKind::InvalidToolParams, "a URL holds a user name");
        refused(
            &format!("https://a.test/{}", "x".repeat(3_000)),
            ToolErrorKind::InvalidToolParams,
            "too long",
        );
        let many: Vec<String> = (0..21).map(|number| format!("https://a.test/{number}")).collect();
        refused(&many.join(" "), ToolErrorKind::InvalidToolParams, "more than 20");
    }
    proptest! {
        #[test]
        fn what_is_found_can_be_fetched(prompt in "[ahtps:/.@#?é()<>\\[\\] \n]{0,60}", word in ".{0,20}") {
            for url in urls_in(&format!("{word}https://{prompt}")).unwrap_or_default() {
                prop_assert!(matches!(url.scheme(), "http" | "https") && url.username().is_empty());
                prop_assert!(!url.as_str().contains(['<', '>', ' ', '\n', '#']), "{}", url);
            }
        }
    }
}
