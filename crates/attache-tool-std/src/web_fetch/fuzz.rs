//! Arbitrary bytes as prompts and responses.

use attache_domain::Content;
use attache_net::Url;

use super::body::{PageBody, understand};
use super::urls::{MAX_URL, MAX_URLS, urls_in};

const LIMIT: usize = 1000;

/// Only fetchable URLs are found in a prompt. A response becomes text of bounded length, or is passed on as media.
pub(crate) fn fetched(answer: &[u8]) {
    let prompt = String::from_utf8_lossy(answer);
    let urls = urls_in(&prompt).unwrap_or_default();
    assert!(urls.len() <= MAX_URLS);
    for url in &urls {
        assert!(matches!(url.scheme(), "http" | "https") && url.host_str().is_some(), "{url}");
        assert!(url.username().is_empty() && url.password().is_none() && url.fragment().is_none(), "{url}");
        // Every byte may be escaped.
        assert!(url.as_str().len() <= 3 * MAX_URL, "{url}");
    }
    let end = answer.iter().position(|byte| *byte == b'\n').unwrap_or_default();
    let (kind, body) = answer.split_at(end);
    let kind = String::from_utf8_lossy(kind);
    let url = Url::parse("https://example.com/a/b.html").expect("a URL");
    match understand(&url, Some(&kind), body, LIMIT) {
        // A character of some encodings has one byte there and three in UTF-8.
        Ok(PageBody::Text { text, .. }) => {
            assert!(text.len() <= 3 * body.len() + 4 * LIMIT + 4096, "{}", text.len())
        }
        Ok(PageBody::Media { content, size }) => {
            assert!(size == body.len() && matches!(content, Content::Bytes { .. }));
        }
        Err(why) => assert!(why.len() <= 2 * kind.len() + 200, "{why}"),
    }
}
