//! The end of a connection whose client is still sending.
//!
//! Closing a socket with bytes unread makes the system forget what the client was sent last and tell it of a broken
//! network. So what still comes is read and thrown away, until the client has read its answer and stops; for a while,
//! which is far shorter than a client may take for a body that is wanted.

use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

/// A client that sends nothing for so long has nothing more to send.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(1);
/// What a client that goes on sending may take at most.
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

    /// Ready when the client is done, or has had its time.
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

/// How many bytes were there and are gone; none when no more can come.
pub(super) fn poll_discard(stream: &mut TcpStream, context: &mut Context<'_>) -> Poll<usize> {
    let mut scratch = [MaybeUninit::uninit(); CHUNK_BYTES];
    let mut buffer = ReadBuf::uninit(&mut scratch);
    let read = Pin::new(stream).poll_read(context, &mut buffer);
    read.map(|read| read.map_or(0, |()| buffer.filled().len()))
}
