//! Many readers of one task: checks that each sees every event once.

use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::Target;
use super::bodies::{self, MessageRequest, SendPurpose};
use super::chunked::ChunkedDecoder;
use super::connection::{Connection, Framing};
use super::events::{EventCounter, EventCounts};
use super::report::{Stopwatch, micros_since, percentiles};
use super::requests::task_id;

#[derive(clap::Args)]
pub(super) struct FanoutOptions {
    #[arg(long, default_value_t = 1000)]
    readers: usize,
    /// Makes a task that waits for the next message.
    #[arg(long)]
    opening_text: String,
    /// Makes it go on, and end.
    #[arg(long)]
    text: String,
    /// Events each reader must see, the first snapshot included.
    #[arg(long)]
    expect_events: u64,
    /// Ids that belong to facts no client is shown, such as the message that makes the task go on.
    #[arg(long, default_value_t = 0)]
    hidden: u64,
}

pub(super) async fn run(target: Target, options: FanoutOptions) -> anyhow::Result<Value> {
    let mut sender = Connection::open(target.address).await?;
    let opening = &options.opening_text;
    let mut request =
        MessageRequest::new(target.address, "/", target.version, SendPurpose::Blocking, opening, None);
    let head = sender.request(request.numbered(1)).await?;
    let task = task_id(sender.body(head).await?)?;

    let mut readers = Vec::with_capacity(options.readers);
    for _ in 0..options.readers {
        readers.push(Reader::subscribe(target, &task).await?);
    }

    let stopwatch = Stopwatch::start()?;
    let mut work = JoinSet::new();
    for reader in readers {
        work.spawn(tokio::time::timeout(target.time_limit, reader.read_to_end()));
    }
    let sending = SendPurpose::Detached;
    let mut request =
        MessageRequest::new(target.address, "/", target.version, sending, &options.text, Some(&task));
    let sent = std::time::Instant::now();
    let head = sender.request(request.numbered(2)).await?;
    task_id(sender.body(head).await?).context("the task did not go on")?;

    let mut total = EventCounts::default();
    let (mut wrong, mut first_error, mut ends) = (0, None, Vec::new());
    while let Some(read) = work.join_next().await {
        let outcome = match read? {
            Ok(outcome) => outcome,
            Err(_) => Err(anyhow::anyhow!("a reader was not done in time")),
        };
        match outcome {
            Ok(mut counts) => {
                counts.missing = counts.missing.abs_diff(options.hidden);
                wrong += u64::from(counts.events != options.expect_events);
                total.add(&counts);
                ends.push(micros_since(sent));
            }
            Err(error) => {
                wrong += 1;
                first_error.get_or_insert(format!("{error:#}"));
            }
        }
    }
    let mut report = total.describe();
    report["readers"] = json!(options.readers);
    report["errors"] = json!(wrong);
    report["first_error"] = json!(first_error);
    report["whole_stream"] = percentiles(ends);
    stopwatch.stop(report)
}

struct Reader {
    connection: Connection,
    decoder: ChunkedDecoder,
    counter: EventCounter,
}

impl Reader {
    /// Returns after the snapshot of the task has arrived, so that no later event is missed.
    async fn subscribe(target: Target, task: &str) -> anyhow::Result<Self> {
        let mut connection = Connection::open(target.address).await?;
        let head = connection.request(&bodies::subscribe(target.address, target.version, task)).await?;
        ensure!(head.status == 200 && head.framing == Framing::Chunked, "no stream to subscribe to");
        let mut reader =
            Self { connection, decoder: ChunkedDecoder::default(), counter: EventCounter::default() };
        let snapshot = async {
            while reader.counter.counts.events == 0 {
                ensure!(!reader.decoder.is_done(), "the stream ended at once");
                reader.read().await?;
            }
            Ok(())
        };
        tokio::time::timeout(Duration::from_secs(10), snapshot).await.context("no snapshot came")??;
        Ok(reader)
    }

    async fn read_to_end(mut self) -> anyhow::Result<EventCounts> {
        while !self.decoder.is_done() {
            self.read().await?;
        }
        Ok(self.counter.counts)
    }

    async fn read(&mut self) -> anyhow::Result<()> {
        let counter = &mut self.counter;
        self.connection.next_piece(&mut self.decoder, |payload| counter.feed(payload)).await
    }
}
