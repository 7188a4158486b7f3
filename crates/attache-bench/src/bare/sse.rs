//! The channel-fed SSE stream: a producer task, a bounded channel, and axum's own SSE response.
//!
//! The text of the event exists before the stream does: a real server has to encode it, so this is
//! the strictest comparison there is.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::response::Sse;
use axum::response::sse::Event;
use futures_util::{Stream, StreamExt, stream};
use serde::Deserialize;
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

/// Room for a burst between two polls of the connection; a full channel makes the producer wait.
const CHANNEL_CAPACITY: usize = 64;

/// Owns the producers of all open streams.
#[derive(Clone, Default)]
pub(super) struct Producers(TaskTracker);

#[derive(Deserialize)]
pub(super) struct Pace {
    /// How many events the stream has.
    events: u64,
    /// Bytes of each event's data line.
    #[serde(default = "default_bytes")]
    bytes: usize,
    /// Pause before each event; none: as fast as the channel takes them.
    #[serde(default)]
    interval_ms: u64,
}

fn default_bytes() -> usize {
    256
}

pub(super) async fn stream(
    State(producers): State<Producers>,
    Query(pace): Query<Pace>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let (sender, mut receiver) = mpsc::channel(CHANNEL_CAPACITY);
    producers.0.spawn(produce(pace, sender));
    Sse::new(stream::poll_fn(move |ctx| receiver.poll_recv(ctx)).map(Ok))
}

/// Ends when all events are sent, or when the client has left.
async fn produce(pace: Pace, sender: mpsc::Sender<Event>) {
    let text = "x".repeat(pace.bytes);
    for seq in 1..=pace.events {
        if pace.interval_ms > 0 {
            tokio::time::sleep(Duration::from_millis(pace.interval_ms)).await;
        }
        let event = Event::default().id(seq.to_string()).data(&text);
        if sender.send(event).await.is_err() {
            return;
        }
    }
}
