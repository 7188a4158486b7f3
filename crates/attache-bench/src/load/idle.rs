//! Opens idle streams and holds them.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::json;
use tokio::io::AsyncReadExt;

use super::Target;
use super::bodies::{self, MessageRequest, SendPurpose};
use super::chunked::ChunkedDecoder;
use super::connection::{Connection, Framing};
use super::events::EventCounter;
use super::report::{self, Stopwatch, micros_since, percentiles};

#[derive(clap::Args)]
pub(super) struct IdleOptions {
    #[arg(long, default_value_t = 10_000)]
    streams: u64,
    /// A message whose task works for a long time without output.
    #[arg(long, default_value = "hello")]
    text: String,
    /// A path to GET instead of sending a message: the bare server's stream.
    #[arg(long)]
    get: Option<String>,
    /// The events that each stream has before it becomes idle.
    #[arg(long, default_value_t = 1)]
    opening_events: u64,
}

/// Prints the report when all streams are open, then holds them until standard input closes or the time limit.
pub(super) async fn run(target: Target, options: IdleOptions) -> anyhow::Result<()> {
    let stopwatch = Stopwatch::start()?;
    let mut message =
        MessageRequest::new(target.address, "/", target.version, SendPurpose::Streaming, &options.text, None);
    let plain = options.get.as_deref().map(|path| bodies::plain_get(target.address, path));
    let mut held = Vec::new();
    let mut opened = Vec::new();
    for number in 1..=options.streams {
        let started = Instant::now();
        let request = match &plain {
            Some(bytes) => bytes,
            None => message.numbered(number),
        };
        let opening = open(target, request, options.opening_events);
        held.push(
            tokio::time::timeout(Duration::from_secs(10), opening)
                .await
                .context("a stream did not begin")??,
        );
        opened.push(micros_since(started));
    }
    let report = json!({ "streams": held.len(), "errors": 0, "opening": percentiles(opened) });
    report::print(&stopwatch.stop(report)?)?;

    let mut end = Vec::new();
    // Both ends are regular: standard input was closed, or the time limit was reached.
    let _ = tokio::time::timeout(target.time_limit, tokio::io::stdin().read_to_end(&mut end)).await;
    Ok(())
}

async fn open(target: Target, request: &[u8], opening_events: u64) -> anyhow::Result<Connection> {
    let mut connection = Connection::open_idle(target.address).await?;
    let head = connection.request(request).await?;
    ensure!(head.status == 200 && head.framing == Framing::Chunked, "no stream but {}", head.status);
    let mut decoder = ChunkedDecoder::default();
    let mut counter = EventCounter::default();
    while counter.counts.events < opening_events {
        ensure!(!decoder.is_done(), "the stream ended at once");
        connection.next_piece(&mut decoder, |payload| counter.feed(payload)).await?;
    }
    Ok(connection)
}
