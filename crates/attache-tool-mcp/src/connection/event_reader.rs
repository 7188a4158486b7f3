//! The server-sent events of a response.

use attache_net::HttpResponse;
use attache_net::sse::{SseEvent, SseParser};

use super::MAX_MESSAGE_BYTES;
use super::http_channel::HttpError;

/// The events of an answer.
pub(super) struct EventReader {
    answer: HttpResponse,
    parser: SseParser,
}

impl EventReader {
    pub(super) fn of(answer: HttpResponse) -> Self {
        Self { answer, parser: SseParser::new(MAX_MESSAGE_BYTES) }
    }

    /// The next event; none at the end. May be given up and taken up again at any time.
    pub(super) async fn next(&mut self) -> Result<Option<SseEvent>, HttpError> {
        loop {
            match self.parser.next_event() {
                // A comment on its own keeps the connection alive and means nothing.
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
