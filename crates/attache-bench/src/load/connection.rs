//! One keep-alive HTTP/1.1 connection that parses only the framing of a response.

use std::net::SocketAddr;

use anyhow::{Context, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::chunked::ChunkedDecoder;

/// Large enough to read everything that a burst left in the socket.
const BUFFER_BYTES: usize = 64 * 1024;

/// Small enough that ten thousand idle streams do not fill the machine's memory.
const SMALL_BUFFER_BYTES: usize = 2 * 1024;

/// No response here has a longer head.
const MAX_HEAD_BYTES: usize = 16 * 1024;

/// The head of a response. The body is not read yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ResponseHead {
    pub(super) status: u16,
    pub(super) framing: Framing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    Sized(usize),
    Chunked,
}

pub(super) struct Connection {
    socket: TcpStream,
    /// Bytes that were read and not used yet.
    unread: Vec<u8>,
    read_size: usize,
    /// Bytes in each direction, heads and framing included.
    pub(super) sent: u64,
    pub(super) received: u64,
}

impl Connection {
    pub(super) async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let socket = TcpStream::connect(address).await.context("cannot connect")?;
        Self::over(socket, BUFFER_BYTES)
    }

    /// For a stream that will be held open and hardly read.
    pub(super) async fn open_idle(address: SocketAddr) -> anyhow::Result<Self> {
        let socket = TcpStream::connect(address).await.context("cannot connect")?;
        Self::over(socket, SMALL_BUFFER_BYTES)
    }

    /// The kernel takes little for a reader that does not read, so that the server feels it soon.
    pub(super) async fn open_narrow(address: SocketAddr, receive_bytes: u32) -> anyhow::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(receive_bytes)?;
        Self::over(socket.connect(address).await.context("cannot connect")?, BUFFER_BYTES)
    }

    fn over(socket: TcpStream, read_size: usize) -> anyhow::Result<Self> {
        socket.set_nodelay(true)?;
        Ok(Self { socket, unread: Vec::with_capacity(read_size), read_size, sent: 0, received: 0 })
    }

    /// Sends a request and reads the answer's head.
    pub(super) async fn request(&mut self, request: &[u8]) -> anyhow::Result<ResponseHead> {
        self.unread.clear();
        self.socket.write_all(request).await?;
        self.sent += request.len() as u64;
        loop {
            self.read_more().await?;
            if let Some(end) = memchr::memmem::find(&self.unread, b"\r\n\r\n") {
                let head = parse_head(&self.unread[..end])?;
                self.unread.drain(..end + 4);
                return Ok(head);
            }
            ensure!(self.unread.len() < MAX_HEAD_BYTES, "the answer's head does not end");
        }
    }

    /// Reads the whole body behind `head`; it can be looked at until the next request.
    pub(super) async fn body(&mut self, head: ResponseHead) -> anyhow::Result<&[u8]> {
        match head.framing {
            Framing::Sized(length) => {
                while self.unread.len() < length {
                    self.read_more().await?;
                }
                ensure!(self.unread.len() == length, "more bytes than the answer announced");
            }
            Framing::Chunked => {
                let mut decoder = ChunkedDecoder::default();
                let mut body = Vec::new();
                while !decoder.is_done() {
                    self.next_piece(&mut decoder, |payload| body.extend_from_slice(payload)).await?;
                }
                self.unread = body;
            }
        }
        Ok(&self.unread)
    }

    /// Waits for the next bytes of a chunked body and passes on the payload.
    pub(super) async fn next_piece(
        &mut self,
        decoder: &mut ChunkedDecoder,
        mut payload: impl FnMut(&[u8]),
    ) -> anyhow::Result<()> {
        if self.unread.is_empty() {
            self.read_more().await?;
        }
        decoder.feed(&self.unread, &mut payload)?;
        self.unread.clear();
        Ok(())
    }

    async fn read_more(&mut self) -> anyhow::Result<()> {
        self.unread.reserve(self.read_size.saturating_sub(self.unread.len()).max(1));
        let read = self.socket.read_buf(&mut self.unread).await?;
        if read == 0 {
            bail!("the server closed the connection");
        }
        self.received += read as u64;
        Ok(())
    }
}

fn parse_head(head: &[u8]) -> anyhow::Result<ResponseHead> {
    let mut lines = head.split(|byte| *byte == b'\n');
    let status = lines.next().and_then(|line| line.get(9..12)).context("no status line")?;
    let status = std::str::from_utf8(status)?.parse().context("no status code")?;
    let mut framing = None;
    for line in lines {
        let Some(colon) = memchr::memchr(b':', line) else { continue };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"content-length") {
            framing = Some(Framing::Sized(std::str::from_utf8(value)?.parse()?));
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") && value.eq_ignore_ascii_case(b"chunked") {
            framing = Some(Framing::Chunked);
        }
    }
    Ok(ResponseHead { status, framing: framing.context("the answer has no length and is not chunked")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_says_status_and_framing_whatever_its_letter_case() {
        let head = parse_head(b"HTTP/1.1 404 Not Found\r\nContent-Length: 12\r\ndate: x").unwrap();
        assert_eq!(head, ResponseHead { status: 404, framing: Framing::Sized(12) });
        let head = parse_head(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked").unwrap();
        assert_eq!(head, ResponseHead { status: 200, framing: Framing::Chunked });
        assert!(parse_head(b"HTTP/1.1 200 OK\r\ndate: x").is_err());
    }
}
