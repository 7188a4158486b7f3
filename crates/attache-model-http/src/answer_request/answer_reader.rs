//! Reads the body of an answer, event by event.

use std::time::Duration;

use attache_net::HttpResponse;
use attache_net::sse::{BYTE_ORDER_MARK, SseEvent, SseParser};
use tokio::time::timeout;

/// The maximum size of an event, which may hold a picture.
const MAX_EVENT_BYTES: usize = 32 * 1024 * 1024;
const MAX_ANSWER_BYTES: usize = 128 * 1024 * 1024;

/// After the end of the answer, the server has this long to report the usage and to close the connection.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) struct AnswerReader {
    answer: HttpResponse,
    parser: SseParser,
    bytes: usize,
    /// The body until the first event: it may be plain JSON.
    bare: Option<Vec<u8>>,
    over: bool,
}

pub(super) enum ReadStep {
    /// The new pieces; may be empty.
    Events(Vec<SseEvent>),
    Closed,
    Broken {
        why: String,
    },
    TooLarge {
        what: String,
    },
    /// The body is not from a provider.
    Foreign {
        what: String,
    },
}

impl AnswerReader {
    pub(super) fn new(answer: HttpResponse) -> Self {
        let parser = SseParser::new(MAX_EVENT_BYTES);
        Self { answer, parser, bytes: 0, bare: Some(Vec::new()), over: false }
    }

    pub(super) async fn step(&mut self, finished: bool) -> ReadStep {
        if self.over {
            return ReadStep::Closed;
        }
        let received = match finished {
            false => self.answer.chunk().await,
            true => match timeout(CLOSE_TIMEOUT, self.answer.chunk()).await {
                Ok(received) => received,
                Err(_) => return ReadStep::Closed,
            },
        };
        match received {
            Ok(Some(bytes)) => self.take(&bytes),
            Ok(None) => self.end(),
            Err(error) => ReadStep::Broken { why: error.to_string() },
        }
    }

    fn take(&mut self, bytes: &[u8]) -> ReadStep {
        self.bytes = self.bytes.saturating_add(bytes.len());
        if self.bytes > MAX_ANSWER_BYTES {
            return ReadStep::TooLarge {
                what: format!("the answer is larger than {MAX_ANSWER_BYTES} bytes"),
            };
        }
        if let Some(bare) = &mut self.bare {
            bare.extend_from_slice(bytes);
            // Checked early: a web page may be long.
            if is_foreign(bare) && bare.len() >= MIN_FOREIGN_BYTES {
                return foreign(bare);
            }
        }
        match self.parser.push(bytes) {
            Ok(()) => ReadStep::Events(self.events()),
            Err(error) => ReadStep::TooLarge { what: error.to_string() },
        }
    }

    fn end(&mut self) -> ReadStep {
        self.over = true;
        if let Err(error) = self.parser.finish() {
            return ReadStep::TooLarge { what: error.to_string() };
        }
        let mut events = self.events();
        // A server that does not stream sends the answer as one JSON body; some servers send errors this way.
        if let Some(bare) = self.bare.take() {
            if is_foreign(&bare) {
                return foreign(&bare);
            }
            let data = Some(String::from_utf8_lossy(&bare).into_owned());
            events.push(SseEvent { data, ..SseEvent::default() });
        }
        ReadStep::Events(events)
    }

    fn events(&mut self) -> Vec<SseEvent> {
        let events = std::iter::from_fn(|| self.parser.next_event());
        let events: Vec<_> = events.filter(|event| event.data.is_some()).collect();
        if !events.is_empty() {
            self.bare = None;
        }
        events
    }
}

/// Events and JSON can be recognised within this many bytes.
const MIN_FOREIGN_BYTES: usize = 16;

/// The body is neither an event stream nor JSON, for example the page of a web server.
fn is_foreign(body: &[u8]) -> bool {
    const FIELDS: [&[u8]; 4] = [b"data:", b"event:", b"id:", b"retry:"];
    let body = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body).trim_ascii();
    let is_field = |field: &&[u8]| body.starts_with(field) || field.starts_with(body);
    match body.first() {
        None | Some(b'{' | b'[' | b':') => false,
        Some(_) => !FIELDS.iter().any(is_field) && !BYTE_ORDER_MARK.starts_with(body),
    }
}

/// The message contains no part of the body, which may repeat secrets.
fn foreign(body: &[u8]) -> ReadStep {
    let sent = if body.trim_ascii_start().starts_with(b"<") { "a web page" } else { "an unknown format" };
    let what = format!("the server sent {sent} instead of a response of the API: is the base URL right?");
    ReadStep::Foreign { what }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, expected: bool) {
        assert_eq!(is_foreign(body.as_bytes()), expected, "{body:?}");
    }

    #[test]
    fn events_and_json_are_told_from_anything_else() {
        for body in [
            "",
            "\n",
            ": hi",
            "da",
            "data: {}",
            "data:{}",
            "event: x\ndata: {}",
            " {\"a\":1}",
            "[",
            "\u{feff}data: x",
        ] {
            check(body, false);
        }
        for body in ["<html>", "\n <!doctype html>", "Ollama is running", "dating", "404"] {
            check(body, true);
        }
    }
}
