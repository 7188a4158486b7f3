//! The server-sent events of a response.

use attache_net::HttpResponse;
use attache_net::sse::{SseEvent, SseParser};

use super::MAX_MESSAGE_BYTES;
use super::http_channel::HttpError;

/// The events of a response.
pub(super) struct EventReader {
    answer: HttpResponse,
    parser: SseParser,
}

impl EventReader {
    pub(super) fn of(answer: HttpResponse) -> Self {
        Self { answer, parser: SseParser::new(MAX_MESSAGE_BYTES) }
    }

    /// The next event; none at the end. Cancel-safe.
    pub(super) async fn next(&mut self) -> Result<Option<SseEvent>, HttpError> {
        loop {
            match self.parser.next_event() {
                // A lone comment is a heartbeat.
                Some(SseEvent { name: None, id: None, retry: None, data: None, .. }) => continue,
                Some(event) => return Ok(Some(event)),
                None => {}
            }
            match self.answer.chunk().await.map_err(HttpError::Net)? {
                Some(chunk) => self.parser.push(&chunk).map_err(|_| HttpError::TooLarge)?,
                None => return Ok(None),
            }
        }
    }
}
