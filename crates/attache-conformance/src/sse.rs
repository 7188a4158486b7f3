//! Server-sent events, frame by frame, with the details that the framing checks need.

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use serde_json::Value;

use crate::check::{CheckResult, fail};
use crate::http::ResponseHead;
use crate::text::shortened;

/// Everything between two blank lines that has data.
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
    buffer: Vec<u8>,
}

impl SseStream {
    pub(crate) fn new(head: ResponseHead, chunks: BoxStream<'static, Result<Bytes, String>>) -> Self {
        Self { head, chunks, buffer: Vec::new() }
    }

    /// The next frame; `None` when the server closed the stream.
    pub(crate) async fn next(&mut self) -> CheckResult<Option<SseFrame>> {
        loop {
            while let Some(block) = self.block() {
                if let Some(frame) = frame(&block)? {
                    return Ok(Some(frame));
                }
            }
            match self.chunks.next().await {
                Some(Ok(chunk)) => self.buffer.extend_from_slice(&chunk),
                Some(Err(error)) => return fail(format!("the stream broke off: {error}")),
                None => return Ok(None),
            }
        }
    }

    /// Everything up to the next blank line.
    fn block(&mut self) -> Option<String> {
        let text = &self.buffer;
        let end = (0..text.len()).find_map(|at| {
            let rest = &text[at..];
            let length =
                [&b"\r\n\r\n"[..], b"\n\n", b"\r\r"].iter().find(|blank| rest.starts_with(blank))?.len();
            Some((at, length))
        });
        let (at, length) = end?;
        let block = String::from_utf8_lossy(&self.buffer[..at]).into_owned();
        self.buffer.drain(..at + length);
        Some(block)
    }
}

/// `None` for a block of comments.
fn frame(block: &str) -> CheckResult<Option<SseFrame>> {
    let (mut event, mut lines) = (None, Vec::new());
    for line in block.lines() {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "event" => event = Some(value.to_owned()),
            "data" => lines.push(value.to_owned()),
            _ => {}
        }
    }
    if lines.is_empty() {
        return Ok(None);
    }
    match serde_json::from_str(&lines.join("\n")) {
        Ok(data) => Ok(Some(SseFrame { event, lines, data })),
        Err(_) => fail(format!("a frame whose data is no JSON: {:?}", shortened(block))),
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
