//! Many WebSockets on one session: checks that each sees every event once, and measures the cost.

use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

use super::Target;
use super::connection::Connection;
use super::report::{self, Stopwatch, micros_since, percentiles};

/// Taken by the kernel for a socket that never reads.
const STALLED_BYTES: u32 = 4096;
const BUFFER_BYTES: usize = 16 << 10;
const MAX_HEAD_BYTES: usize = 16 << 10;

const TEXT: u8 = 0x81;
const PING: u8 = 0x89;
/// Masked with zeros, as clients must.
const PONG: [u8; 6] = [0x8a, 0x80, 0, 0, 0, 0];

#[derive(clap::Args)]
pub(super) struct SocketOptions {
    #[arg(long, default_value_t = 1000)]
    sockets: usize,
    /// Sockets beside them that never read.
    #[arg(long, default_value_t = 0)]
    stalled: usize,
    /// The prompt. Without it the sockets are held until standard input closes.
    #[arg(long)]
    text: Option<String>,
    /// Events each socket must see, the first state included.
    #[arg(long, default_value_t = 0)]
    expect_events: u64,
}

pub(super) async fn run(target: Target, options: SocketOptions) -> anyhow::Result<()> {
    let stopwatch = Stopwatch::start()?;
    let task = new_session(target).await?;
    let mut stalled = Vec::new();
    for _ in 0..options.stalled {
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(STALLED_BYTES)?;
        stalled.push(SocketReader::over(socket.connect(target.address).await?, target, &task).await?);
    }
    let mut readers = Vec::with_capacity(options.sockets);
    let opening = Instant::now();
    for _ in 0..options.sockets {
        let socket = TcpStream::connect(target.address).await.context("cannot connect")?;
        let mut reader = SocketReader::over(socket, target, &task).await?;
        reader.first_event().await?;
        readers.push(reader);
    }
    let Some(text) = options.text else {
        let micros = opening.elapsed().as_micros() as f64 / options.sockets.max(1) as f64;
        let report = json!({ "sockets": readers.len(), "errors": 0, "opening_us": micros });
        report::print(&stopwatch.stop(report)?)?;
        let mut end = Vec::new();
        // Both ends are regular: standard input was closed, or the time limit was reached.
        let _ = tokio::time::timeout(target.time_limit, tokio::io::stdin().read_to_end(&mut end)).await;
        return Ok(());
    };
    let mut work = JoinSet::new();
    for reader in readers {
        work.spawn(tokio::time::timeout(target.time_limit, reader.read_to_end()));
    }
    let sent = Instant::now();
    let prompting = prompt(target, &task, &text);
    let reading = async {
        let (mut events, mut wrong, mut first_error, mut ends) = (0, 0_u64, None, Vec::new());
        while let Some(read) = work.join_next().await {
            match read?.context("a socket was not done in time").and_then(|read| read) {
                Ok(seen) => {
                    wrong += u64::from(seen != options.expect_events);
                    events += seen;
                    ends.push(micros_since(sent));
                }
                Err(error) => {
                    wrong += 1;
                    first_error.get_or_insert(format!("{error:#}"));
                }
            }
        }
        anyhow::Ok(json!({
            "events": events,
            "errors": wrong,
            "first_error": first_error,
            "whole_stream": percentiles(ends),
        }))
    };
    let (report, prompted) = tokio::join!(reading, prompting);
    prompted?;
    drop(stalled);
    report::print(&stopwatch.stop(report?)?)
}

async fn new_session(target: Target) -> anyhow::Result<String> {
    let mut connection = Connection::open(target.address).await?;
    let head = connection.request(&post(target, "/tasks", "{}")).await?;
    let created: Value = serde_json::from_slice(connection.body(head).await?)?;
    created["taskId"].as_str().map(str::to_owned).context("the server has no live endpoint")
}

/// Gives the prompt and reads its own stream to the end.
async fn prompt(target: Target, task: &str, text: &str) -> anyhow::Result<()> {
    let mut connection = Connection::open(target.address).await?;
    let body = json!({ "text": text }).to_string();
    let head = connection.request(&post(target, &format!("/tasks/{task}/messages/stream"), &body)).await?;
    ensure!(head.status == 200, "the prompt was refused with {}", head.status);
    connection.body(head).await?;
    Ok(())
}

fn post(target: Target, path: &str, body: &str) -> Vec<u8> {
    let (address, length) = (target.address, body.len());
    format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

struct SocketReader {
    socket: TcpStream,
    unread: Vec<u8>,
    events: u64,
    /// The number of the last event.
    last: Option<u64>,
    is_done: bool,
}

impl SocketReader {
    async fn over(mut socket: TcpStream, target: Target, task: &str) -> anyhow::Result<Self> {
        socket.set_nodelay(true)?;
        let request = format!(
            "GET /ws?taskId={task} HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
            target.address
        );
        socket.write_all(request.as_bytes()).await?;
        let mut reader = Self { socket, unread: Vec::new(), events: 0, last: None, is_done: false };
        loop {
            reader.read_more().await?;
            if let Some(end) = memchr::memmem::find(&reader.unread, b"\r\n\r\n") {
                ensure!(reader.unread.starts_with(b"HTTP/1.1 101"), "the server does not switch protocols");
                reader.unread.drain(..end + 4);
                return Ok(reader);
            }
            ensure!(reader.unread.len() < MAX_HEAD_BYTES, "the answer's head does not end");
        }
    }

    /// The state of the session.
    async fn first_event(&mut self) -> anyhow::Result<()> {
        let first = async {
            self.take_frames().await?;
            while self.events == 0 {
                self.read_more().await?;
                self.take_frames().await?;
            }
            anyhow::Ok(())
        };
        tokio::time::timeout(Duration::from_secs(10), first).await.context("no state came")?
    }

    async fn read_to_end(mut self) -> anyhow::Result<u64> {
        self.unread.reserve(BUFFER_BYTES);
        while !self.is_done {
            self.read_more().await?;
            self.take_frames().await?;
        }
        Ok(self.events)
    }

    async fn read_more(&mut self) -> anyhow::Result<()> {
        ensure!(self.socket.read_buf(&mut self.unread).await? > 0, "the server closed the connection");
        Ok(())
    }

    async fn take_frames(&mut self) -> anyhow::Result<()> {
        let mut start = 0;
        while let Some((first, payload, end)) = frame(&self.unread[start..]) {
            match first {
                TEXT => {
                    let payload = &self.unread[start..][payload..end];
                    let cursor = cursor_in(payload).context("an event without a cursor")?;
                    ensure!(Some(cursor) > self.last, "event {cursor} came after {:?}", self.last);
                    self.last = Some(cursor);
                    self.events += 1;
                    self.is_done = memchr::memmem::find(payload, b"\"final\":true").is_some();
                }
                PING => self.socket.write_all(&PONG).await?,
                other => bail!("a frame of another kind: {other:#x}"),
            }
            start += end;
        }
        self.unread.drain(..start);
        Ok(())
    }
}

/// The first byte of a frame, and where its payload begins and ends; none if it is not there as a whole.
fn frame(bytes: &[u8]) -> Option<(u8, usize, usize)> {
    let (first, short) = (*bytes.first()?, *bytes.get(1)?);
    let (start, length): (usize, usize) = match short {
        126 => (4, usize::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?))),
        127 => (10, usize::try_from(u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?)).ok()?),
        short => (2, usize::from(short)),
    };
    let end = start.checked_add(length)?;
    (bytes.len() >= end).then_some((first, start, end))
}

/// The number in `"cursor":"LOG.NUMBER"`.
fn cursor_in(payload: &[u8]) -> Option<u64> {
    const NAME: &[u8] = b"\"cursor\":\"";
    let start = memchr::memmem::find(payload, NAME)? + NAME.len();
    let length = memchr::memchr(b'"', &payload[start..])?;
    let cursor = std::str::from_utf8(&payload[start..start + length]).ok()?;
    cursor.rsplit_once('.')?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_all_lengths_are_found_when_they_are_whole() {
        assert_eq!(frame(&[TEXT, 2, b'a', b'b', 9]), Some((TEXT, 2, 4)));
        assert_eq!(frame(&[TEXT, 2, b'a']), None);
        let mut long = vec![TEXT, 126, 1, 0];
        assert_eq!(frame(&long), None);
        long.resize(4 + 256, 0);
        assert_eq!(frame(&long), Some((TEXT, 4, 260)));
        let mut longer = vec![TEXT, 127, 0, 0, 0, 0, 0, 1, 0, 0];
        longer.resize(10 + 65_536, 0);
        assert_eq!(frame(&longer), Some((TEXT, 10, 65_546)));
        assert_eq!(cursor_in(br#"{"cursor":"ab12.17","kind":"X"}"#), Some(17));
        assert_eq!(cursor_in(br#"{"kind":"X"}"#), None);
    }
}
