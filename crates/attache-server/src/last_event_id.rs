//! Reads where a client resumes: `Last-Event-ID`, or the header of the replay extension.

use attache_domain::{Cursor, Fault};
use attache_wire::replay;
use http::HeaderMap;

/// The cursor of a client that resumes: the replay extension's header, or `Last-Event-ID`.
pub(crate) fn cursor(headers: &HeaderMap) -> Result<Option<Cursor>, Fault> {
    let value = headers.get(replay::CURSOR_HEADER).or_else(|| headers.get("last-event-id"));
    let text = value.map(|value| value.to_str().unwrap_or("unreadable").trim()).unwrap_or_default();
    if text.is_empty() { Ok(None) } else { replay::parse_cursor(text).map(Some) }
}
