//! Reads a model's responses with the least possible work: hyper, the lines of the stream, and JSON for each event.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, bail, ensure};
use attache_net::sse::SseReader;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::Target;
use super::report::Stopwatch;

#[derive(clap::Args)]
pub(super) struct ReadModelOptions {
    #[arg(long, default_value_t = 10)]
    requests: u64,
    #[arg(long, default_value_t = 1)]
    connections: usize,
    /// Every answer must have this many events.
    #[arg(long)]
    expect_events: u64,
}

/// Short, because its cost counts as attache's own work.
const PROMPT: &str = r#"{"contents":[{"role":"user","parts":[{"text":"go"}]}]}"#;
const PATH: &str = "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse";

pub(super) async fn run(target: Target, options: ReadModelOptions) -> anyhow::Result<Value> {
    let numbers = Arc::new(AtomicU64::new(0));
    let stopwatch = Stopwatch::start()?;
    let mut readers = JoinSet::new();
    for _ in 0..options.connections {
        let numbers = Arc::clone(&numbers);
        let (requests, expected) = (options.requests, options.expect_events);
        readers.spawn(async move {
            let read = read(target, numbers, requests, expected);
            timeout(target.time_limit, read).await.context("reading took too long")?
        });
    }
    let mut events = 0;
    while let Some(read) = readers.join_next().await {
        events += read??;
    }
    stopwatch.stop(json!({ "events": events, "errors": 0 }))
}

async fn read(target: Target, numbers: Arc<AtomicU64>, requests: u64, expected: u64) -> anyhow::Result<u64> {
    let socket = TcpStream::connect(target.address).await.context("cannot connect")?;
    socket.set_nodelay(true)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(socket)).await?;
    let mut connections = JoinSet::new();
    connections.spawn(connection);
    let mut total = 0;
    while numbers.fetch_add(1, Ordering::Relaxed) < requests {
        let events = answer(&mut sender, target).await?;
        ensure!(events == expected, "an answer had {events} events instead of {expected}");
        total += events;
    }
    Ok(total)
}

async fn answer(sender: &mut SendRequest<Full<Bytes>>, target: Target) -> anyhow::Result<u64> {
    let request = hyper::Request::post(PATH)
        .header(HOST, target.address.to_string())
        .header(CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from_static(PROMPT.as_bytes())))?;
    sender.ready().await?;
    let mut answer = sender.send_request(request).await?;
    ensure!(answer.status() == 200, "the model answered {}", answer.status());
    let mut count = EventCount::default();
    while let Some(frame) = answer.frame().await {
        if let Some(data) = frame?.data_ref() {
            count.feed(data)?;
        }
    }
    Ok(count.events)
}

/// Counts the events of a stream, in chunks of any size.
struct EventCount {
    reader: SseReader,
    events: u64,
}

impl Default for EventCount {
    fn default() -> Self {
        Self { reader: SseReader::new(usize::MAX), events: 0 }
    }
}

impl EventCount {
    fn feed(&mut self, data: &[u8]) -> anyhow::Result<()> {
        let Self { reader, events } = self;
        let mut result = Ok(());
        reader.read(data, |event| match check_event(event.data.unwrap_or_default()) {
            Ok(()) => *events += 1,
            Err(error) => result = Err(error),
        })?;
        result
    }
}

fn check_event(data: &[u8]) -> anyhow::Result<()> {
    let event: Value = serde_json::from_slice(data)?;
    if !event["candidates"].is_array() {
        bail!("an event without candidates: {event}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::time::Duration;

    use tokio::net::TcpListener;

    use super::super::bodies::ProtocolVersion;
    use super::*;

    #[test]
    fn events_are_counted_however_the_stream_is_cut() {
        let stream = b"data: {\"candidates\":[]}\r\n\r\ndata: {\"candidates\":[1]}\r\n\r\n";
        for cut in 0..stream.len() {
            let mut count = EventCount::default();
            count.feed(&stream[..cut]).unwrap();
            count.feed(&stream[cut..]).unwrap();
            assert_eq!(count.events, 2, "cut at {cut}");
        }
    }

    #[tokio::test]
    async fn the_fast_model_is_read_whole() {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut servers = JoinSet::new();
        servers.spawn(async move { crate::gemini::serve(listener).await.unwrap() });
        let target = Target { address, version: ProtocolVersion::V1, time_limit: Duration::from_secs(20) };
        let options = || ReadModelOptions { requests: 4, connections: 2, expect_events: 1 };
        assert_eq!(run(target, options()).await.unwrap()["events"], 4);
        let other = ReadModelOptions { expect_events: 2, ..options() };
        assert!(run(target, other).await.is_err());
    }
}
