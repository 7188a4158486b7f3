//! Server-sent events, frame by frame, with the details for the framing checks.

use attache_net::sse::{SseEvent, SseParser};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use serde_json::Value;

use crate::check::{CheckResult, fail};
use crate::http::ResponseHead;
use crate::text::shortened;

/// Far larger than any event of the checks.
const MAX_EVENT_BYTES: usize = 16 << 20;

/// An event that has data.
#[derive(Debug, Clone)]
pub(crate) struct SseFrame {
    pub(crate) event: Option<String>,
    /// The raw `data` lines.
    pub(crate) lines: Vec<String>,
    pub(crate) data: Value,
}

pub(crate) struct SseStream {
    pub(crate) head: ResponseHead,
    chunks: BoxStream<'static, Result<Bytes, String>>,
    parser: SseParser,
}

impl SseStream {
    pub(crate) fn new(head: ResponseHead, chunks: BoxStream<'static, Result<Bytes, String>>) -> Self {
        Self { head, chunks, parser: SseParser::new(MAX_EVENT_BYTES) }
    }

    /// The next frame; `None` when the server closed the stream.
    pub(crate) async fn next(&mut self) -> CheckResult<Option<SseFrame>> {
        loop {
            while let Some(event) = self.parser.next_event() {
                if let Some(frame) = frame(event)? {
                    return Ok(Some(frame));
                }
            }
            match self.chunks.next().await {
                Some(Ok(chunk)) => {
                    if let Err(error) = self.parser.push(&chunk) {
                        return fail(error.to_string());
                    }
                }
                Some(Err(error)) => return fail(format!("the stream broke off: {error}")),
                None => return Ok(None),
            }
        }
    }
}

/// `None` for an event without data, such as a comment.
fn frame(event: SseEvent) -> CheckResult<Option<SseFrame>> {
    let Some(text) = event.data else { return Ok(None) };
    match serde_json::from_str(&text) {
        Ok(data) => {
            let lines = text.split('\n').map(str::to_owned).collect();
            Ok(Some(SseFrame { event: event.name, lines, data }))
        }
        Err(_) => fail(format!("a frame whose data is no JSON: {:?}", shortened(&text))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sse(chunks: &[&'static str]) -> SseStream {
        let chunks: Vec<_> = chunks.iter().map(|chunk| Ok(Bytes::from_static(chunk.as_bytes()))).collect();
        SseStream::new(ResponseHead::default(), futures_util::stream::iter(chunks).boxed())
    }

    #[tokio::test]
    async fn frames_are_found_across_chunks_and_line_ends() {
        let mut sse = sse(&[": hello\n\nda", "ta: {\"a\":1}\r\n\r", "\nevent: error\ndata: {\ndata: }\n\n"]);
        let first = sse.next().await.unwrap().unwrap();
        assert_eq!((first.data["a"].as_i64(), first.lines.len()), (Some(1), 1));
        let second = sse.next().await.unwrap().unwrap();
        assert_eq!((second.event.as_deref(), second.lines.len()), (Some("error"), 2));
        assert!(sse.next().await.unwrap().is_none());
    }

    #[tokio::test]
    async fn data_that_is_no_json_is_a_failure() {
        assert!(sse(&["data: nonsense\n\n"]).next().await.is_err());
    }
}
