//! Reads streams to their end: counts events, and measures the time to the first one and between the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::timeout_at;

use super::Target;
use super::bodies::{self, MessageRequest, SendPurpose};
use super::chunked::ChunkedDecoder;
use super::connection::{Connection, Framing};
use super::events::{EventCounter, EventCounts};
use super::report::{Stopwatch, micros_since, percentiles};

/// The receive buffer of a slow reader.
const NARROW_RECEIVE_BYTES: u32 = 4096;

#[derive(clap::Args)]
pub(super) struct StreamOptions {
    /// Streams in all; each connection opens the next when one has ended.
    #[arg(long, default_value_t = 64)]
    streams: u64,
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// The message that starts a stream.
    #[arg(long, default_value = "hello")]
    text: String,
    /// A path to GET instead of sending a message: the bare server's stream.
    #[arg(long)]
    get: Option<String>,
    /// A stream with any other number of events counts as wrong.
    #[arg(long)]
    expect_events: Option<u64>,
    /// Be a slow reader: with a small receive buffer, wait this long after the first bytes before going on.
    #[arg(long, default_value_t = 0)]
    pause_ms: u64,
}

pub(super) async fn run(target: Target, options: StreamOptions) -> anyhow::Result<Value> {
    let mut connections = Vec::with_capacity(options.connections);
    for _ in 0..options.connections {
        connections.push(match options.pause_ms {
            0 => Connection::open(target.address).await?,
            _ => Connection::open_narrow(target.address, NARROW_RECEIVE_BYTES).await?,
        });
    }
    let numbers = Arc::new(AtomicU64::new(0));
    let stopwatch = Stopwatch::start()?;
    let mut workers = JoinSet::new();
    for connection in connections {
        let worker = Worker {
            connection,
            opening: StreamRequest::new(target, &options),
            numbers: Arc::clone(&numbers),
            last: options.streams,
            expect_events: options.expect_events,
            pause: Duration::from_millis(options.pause_ms),
            seen: StreamTotals::default(),
        };
        workers.spawn(worker.work(target));
    }
    let mut total = StreamTotals::default();
    while let Some(seen) = workers.join_next().await {
        total.add(seen?);
    }
    stopwatch.stop(total.describe(options.streams))
}

/// How a stream is requested.
enum StreamRequest {
    Message(MessageRequest),
    Plain(Vec<u8>),
}

impl StreamRequest {
    fn new(target: Target, options: &StreamOptions) -> Self {
        match &options.get {
            Some(path) => Self::Plain(bodies::plain_get(target.address, path)),
            None => Self::Message(MessageRequest::new(
                target.address,
                "/",
                target.version,
                SendPurpose::Streaming,
                &options.text,
                None,
            )),
        }
    }

    fn request(&mut self, number: u64) -> &[u8] {
        match self {
            Self::Message(message) => message.numbered(number),
            Self::Plain(bytes) => bytes,
        }
    }
}

/// The counts and times of one connection, or of all.
#[derive(Default)]
struct StreamTotals {
    streams: u64,
    wrong: u64,
    first_error: Option<String>,
    counts: EventCounts,
    /// From the request to the first event, and to the end of the stream.
    first: Vec<u32>,
    whole: Vec<u32>,
    /// The time between two reads with events, after the first.
    gaps: Vec<u32>,
}

impl StreamTotals {
    fn add(&mut self, other: Self) {
        self.streams += other.streams;
        self.wrong += other.wrong;
        self.first_error = self.first_error.take().or(other.first_error);
        self.counts.add(&other.counts);
        self.first.extend(other.first);
        self.whole.extend(other.whole);
        self.gaps.extend(other.gaps);
    }

    fn describe(self, requested: u64) -> Value {
        let mut report = self.counts.describe();
        report["requested"] = requested.into();
        report["streams"] = self.streams.into();
        report["errors"] = self.wrong.into();
        report["first_error"] = self.first_error.into();
        report["reads"] = self.gaps.len().into();
        report["first_event"] = percentiles(self.first);
        report["whole_stream"] = percentiles(self.whole);
        report["gap"] = percentiles(self.gaps);
        report
    }
}

struct Worker {
    connection: Connection,
    opening: StreamRequest,
    numbers: Arc<AtomicU64>,
    last: u64,
    expect_events: Option<u64>,
    pause: Duration,
    seen: StreamTotals,
}

impl Worker {
    async fn work(mut self, target: Target) -> StreamTotals {
        let deadline = tokio::time::Instant::now() + target.time_limit;
        loop {
            let number = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
            if number > self.last {
                return self.seen;
            }
            match timeout_at(deadline, self.stream(number)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    self.seen.wrong += 1;
                    self.seen.first_error.get_or_insert(format!("{error:#}"));
                    return self.seen;
                }
                Err(_) => return self.seen,
            }
        }
    }

    async fn stream(&mut self, number: u64) -> anyhow::Result<()> {
        let started = Instant::now();
        let head = self.connection.request(self.opening.request(number)).await?;
        if head.status != 200 || head.framing != Framing::Chunked {
            let body = self.connection.body(head).await?;
            anyhow::bail!("no stream but {}: {}", head.status, String::from_utf8_lossy(body));
        }
        let mut decoder = ChunkedDecoder::default();
        let mut counter = EventCounter::default();
        let mut last_arrival = None;
        let mut pause = self.pause;
        while !decoder.is_done() {
            let before = counter.counts.events;
            self.connection.next_piece(&mut decoder, |payload| counter.feed(payload)).await?;
            if counter.counts.events > before {
                match last_arrival.replace(Instant::now()) {
                    None => self.seen.first.push(micros_since(started)),
                    Some(last) => self.seen.gaps.push(micros_since(last)),
                }
            }
            if !pause.is_zero() {
                tokio::time::sleep(std::mem::take(&mut pause)).await;
            }
        }
        self.seen.whole.push(micros_since(started));
        self.seen.streams += 1;
        self.seen.counts.add(&counter.counts);
        let events = counter.counts.events;
        ensure!(self.expect_events.is_none_or(|expected| expected == events), "a stream of {events} events");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use tokio::net::TcpListener;

    use super::super::bodies::ProtocolVersion;
    use super::*;

    async fn bare() -> (JoinSet<()>, Target) {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut servers = JoinSet::new();
        servers.spawn(async move { crate::bare::serve(listener).await.unwrap() });
        (servers, Target { address, version: ProtocolVersion::V1, time_limit: Duration::from_secs(20) })
    }

    fn options(get: &str) -> StreamOptions {
        StreamOptions {
            streams: 6,
            connections: 2,
            text: String::new(),
            get: Some(get.to_owned()),
            expect_events: Some(500),
            pause_ms: 0,
        }
    }

    #[tokio::test]
    async fn every_event_of_the_bare_server_is_counted_once() {
        let (_servers, target) = bare().await;
        let report = run(target, options("/sse?events=500&bytes=300")).await.unwrap();
        assert_eq!(report["streams"], 6, "{report}");
        assert_eq!(report["events"], 3000, "{report}");
        assert_eq!(report["data_bytes"], 900_000, "{report}");
        for kind in ["errors", "missing_events", "repeated_events", "events_without_id"] {
            assert_eq!(report[kind], 0, "{report}");
        }
    }

    #[tokio::test]
    async fn a_stream_of_another_length_is_an_error() {
        let (_servers, target) = bare().await;
        let report = run(target, options("/sse?events=499")).await.unwrap();
        assert_eq!(report["first_error"], "a stream of 499 events", "{report}");
    }

    #[tokio::test]
    async fn a_path_without_a_stream_is_an_error() {
        let (_servers, target) = bare().await;
        let report = run(target, options("/nothing")).await.unwrap();
        assert_eq!(report["errors"], 2, "{report}");
    }
}
