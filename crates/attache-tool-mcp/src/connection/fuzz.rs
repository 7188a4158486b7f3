//! Arbitrary bytes from servers.

use attache_net::Url;
use attache_net::sse::SseParser;

use super::legacy_sse::endpoint;
pub(crate) use super::open::fuzz::over;
pub(crate) use super::stdio::fuzz::lines;

/// Small enough that some generated streams exceed it.
const LIMIT: usize = 1000;

/// No event of a stream leads to another server.
pub(crate) fn events(stream: &[u8]) {
    let mut parser = SseParser::new(LIMIT);
    let _ = parser.push(stream);
    let url = Url::parse("https://mcp.test:8443/a/sse?b").expect("a URL");
    for event in std::iter::from_fn(|| parser.next_event()) {
        let data = event.data.unwrap_or_default();
        if let Ok(endpoint) = endpoint(&url, &data) {
            assert_eq!(endpoint.origin(), url.origin());
            assert!(endpoint.username().is_empty() && endpoint.password().is_none());
        }
    }
}
