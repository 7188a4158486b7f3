//! A client's socket that reports to the connection's watch.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::connection_slots::ConnectionSlot;
use super::connection_watch::ConnectionWatch;
use super::frame_counter::FrameCounter;
use super::head_filter::HeadFilter;
use super::linger::{Linger, poll_discard};

/// Passes every byte on, reports a client that does not read, breaks off floods, and lingers on close.
pub(crate) struct Socket {
    stream: TcpStream,
    /// A WebSocket keeps it, too.
    _slot: Arc<ConnectionSlot>,
    frames: FrameCounter,
    heads: HeadFilter,
    watch: Arc<ConnectionWatch>,
    closing: CloseState,
}

enum CloseState {
    NotYet,
    /// Our side is shut down, and the client may still send.
    Lingers(Linger),
    Done,
}

impl Socket {
    pub(super) fn new(stream: TcpStream, watch: Arc<ConnectionWatch>, slot: Arc<ConnectionSlot>) -> Self {
        Self {
            stream,
            _slot: slot,
            frames: FrameCounter::new(),
            heads: HeadFilter::new(),
            watch,
            closing: CloseState::NotYet,
        }
    }

    /// Whether the client goes on sending.
    fn has_unread_bytes(&mut self, context: &mut Context<'_>) -> bool {
        self.frames.is_another_protocol()
            && match poll_discard(&mut self.stream, context) {
                Poll::Ready(length) => length > 0,
                Poll::Pending => self.watch.is_request_unread(),
            }
    }

    fn record_write(&mut self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Pending => self.watch.socket_is_full(),
            Poll::Ready(written) => {
                self.watch.socket_takes_more();
                self.frames.wrote(*written.as_ref().unwrap_or(&0));
            }
        }
        written
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let ending = this.heads.take_ending(buffer.remaining());
        if !ending.is_empty() {
            buffer.put_slice(ending);
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(context, buffer))?;
        let read = &mut buffer.filled_mut()[before..];
        if !read.is_empty() {
            this.watch.socket_gave_bytes();
        }
        // There are no heads and no frames of HTTP in a WebSocket.
        if this.watch.is_upgraded() {
            return Poll::Ready(Ok(()));
        }
        this.heads.read(read);
        Poll::Ready(this.frames.read(read).map_err(|flooded| {
            // The HTTP/2 library passes the error on as text only.
            this.watch.set_flooded();
            io::Error::other(flooded)
        }))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.record_write(written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(context, slices);
        this.record_write(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            match &mut this.closing {
                CloseState::NotYet => {
                    ready!(Pin::new(&mut this.stream).poll_shutdown(context))?;
                    this.closing = if this.has_unread_bytes(context) {
                        CloseState::Lingers(Linger::new())
                    } else {
                        CloseState::Done
                    };
                }
                CloseState::Lingers(linger) => {
                    ready!(linger.poll(&mut this.stream, context));
                    this.closing = CloseState::Done;
                }
                CloseState::Done => return Poll::Ready(Ok(())),
            }
        }
    }
}
