//! Arbitrary bytes as the output of a program.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::FutureExt as _;
use serde_json::{Value, json};
use tokio::io::ReadBuf;

use super::*;

/// Small enough that some generated lines exceed it.
const LIMIT: usize = 1000;

/// For any split of the bytes, and however often receiving is cancelled and repeated, the same messages are received.
/// Only a line that is too long ends the stream; after any other invalid line the next message is received.
pub(crate) fn lines(written: &[u8]) {
    let whole = received_messages(written, usize::MAX);
    for size in [1, 3, 64] {
        assert_eq!(received_messages(written, size), whole, "in pieces of {size}");
    }
    let (messages, why) = whole;
    // Text after the last line end is no complete line.
    assert!(messages.len() < written.split(|byte| *byte == b'\n').count());
    let too_long = written.split(|byte| *byte == b'\n').any(|line| line.len() > LIMIT);
    assert_eq!(why.contains("larger than 1000 bytes"), too_long, "{why}");

    let last = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    let more = [written, b"\n", last.to_string().as_bytes(), b"\n"].concat();
    assert_eq!(
        received_messages(&more, 64).0.last() == Some(&last),
        !too_long || messages.last() == Some(&last)
    );
}

/// The messages, and the reason for the end.
fn received_messages(written: &[u8], size: usize) -> (Vec<Value>, String) {
    let ending = ConnectionEnd::default();
    let mut lines =
        StdioTransport::new(Pieces { left: written, size, ready: false }, tokio::io::sink(), ending.clone());
    lines.largest = LIMIT;
    let mut messages = Vec::new();
    loop {
        match lines.receive().now_or_never() {
            None => {}
            Some(None) => return (messages, ending.why()),
            Some(Some(message)) => {
                messages.push(serde_json::to_value(message).expect("what was read can be written"));
            }
        }
    }
}

/// Returns this many bytes at a time, and is pending in between.
struct Pieces<'a> {
    left: &'a [u8],
    size: usize,
    ready: bool,
}

impl AsyncRead for Pieces<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.ready = !self.ready;
        // No waker is needed: the reader polls again.
        if !self.ready {
            return Poll::Pending;
        }
        let (piece, left) = self.left.split_at(self.size.min(buffer.remaining()).min(self.left.len()));
        buffer.put_slice(piece);
        self.left = left;
        Poll::Ready(Ok(()))
    }
}
