//! Arbitrary bytes as what servers send.

use attache_net::Url;

use super::event_reader::{Event, EventParser};
use super::legacy_sse::endpoint;
pub(crate) use super::open::fuzz::over;
pub(crate) use super::stdio::fuzz::lines;

/// Small enough that a generated stream passes it now and then.
const LIMIT: usize = 1000;

/// Wherever the bytes of a stream are cut, the same events come out of it, and none is too large. Whatever they say, they
/// lead to no other server.
pub(crate) fn events(stream: &[u8]) {
    let (whole, read) = parsed(stream.chunks(stream.len().max(1)));
    for size in [1, 3, 64] {
        assert_eq!(parsed(stream.chunks(size)), (whole.clone(), read), "in pieces of {size}");
    }
    let url = Url::parse("https://mcp.test:8443/a/sse?b").expect("a URL");
    for event in whole {
        let data = event.data.unwrap_or_default();
        // Bytes that are no text become a sign of three bytes each.
        assert!(data.len() <= 3 * LIMIT);
        if let Ok(endpoint) = endpoint(&url, &data) {
            assert_eq!(endpoint.origin(), url.origin());
            assert!(endpoint.username().is_empty() && endpoint.password().is_none());
        }
    }
}

fn parsed<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<Event>, bool) {
    let mut parser = EventParser::new(LIMIT);
    let mut read = true;
    for piece in pieces {
        read = parser.push(piece).is_ok();
        if !read {
            break;
        }
    }
    (parser.ready.into(), read)
}
