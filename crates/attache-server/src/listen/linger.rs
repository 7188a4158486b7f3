//! Closes a connection whose client is still sending.
//!
//! Closing a socket with unread bytes resets the connection, and the client may lose the response. So incoming bytes are
//! discarded until the client stops or a timeout passes, which is far shorter than the one for a wanted body.

use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

/// A client that is silent for so long has nothing more to send.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(1);
/// Limits for a client that goes on sending.
const LINGER_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_BYTES: usize = 64 << 20;

const CHUNK_BYTES: usize = 8 << 10;

pub(super) struct Linger {
    ends: Instant,
    left: usize,
    silence: Pin<Box<Sleep>>,
}

impl Linger {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self {
            ends: now + LINGER_TIMEOUT,
            left: MAX_BYTES,
            silence: Box::pin(tokio::time::sleep(SILENCE_TIMEOUT)),
        }
    }

    /// Ready when the client is done, or at a limit.
    pub(super) fn poll(&mut self, stream: &mut TcpStream, context: &mut Context<'_>) -> Poll<()> {
        loop {
            match poll_discard(stream, context) {
                Poll::Ready(0) => return Poll::Ready(()),
                Poll::Ready(length) => {
                    let now = Instant::now();
                    self.left = self.left.saturating_sub(length);
                    if self.left == 0 || now >= self.ends {
                        return Poll::Ready(());
                    }
                    self.silence.as_mut().reset(self.ends.min(now + SILENCE_TIMEOUT));
                }
                Poll::Pending => return self.silence.as_mut().poll(context),
            }
        }
    }
}

/// Discards what is there; returns how many bytes, zero at the end.
pub(super) fn poll_discard(stream: &mut TcpStream, context: &mut Context<'_>) -> Poll<usize> {
    let mut scratch = [MaybeUninit::uninit(); CHUNK_BYTES];
    let mut buffer = ReadBuf::uninit(&mut scratch);
    let read = Pin::new(stream).poll_read(context, &mut buffer);
    read.map(|read| read.map_or(0, |()| buffer.filled().len()))
}
