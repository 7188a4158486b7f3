//! Runs task after task on kept-alive connections, and checks each answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::ensure;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::timeout_at;

use super::OpeningMessage;
use super::stream_summary::{self, StreamSummary};
use crate::load::Target;
use crate::load::bodies::MessageRequest;
use crate::load::connection::Connection;
use crate::load::report::{Stopwatch, micros_since, percentiles};

#[derive(clap::Args)]
pub(in crate::load) struct ConverseOptions {
    #[command(flatten)]
    opening: OpeningMessage,
    #[arg(long, default_value_t = 1)]
    connections: usize,
    #[arg(long, default_value_t = 1)]
    tasks: u64,
    /// Pieces of the model's answer, which must arrive unchanged.
    #[arg(long)]
    chunks: usize,
    /// Tool calls that each task must carry out.
    #[arg(long, default_value_t = 0)]
    calls: u64,
}

pub(in crate::load) async fn run(target: Target, options: ConverseOptions) -> anyhow::Result<Value> {
    let numbers = Arc::new(AtomicU64::new(0));
    let text: Arc<str> = crate::gemini::answer_text(options.chunks).into();
    let request = options.opening.request(target.address);
    let mut workers = Vec::with_capacity(options.connections);
    for _ in 0..options.connections {
        workers.push(Worker {
            connection: Connection::open(target.address).await?,
            request: request.clone(),
            numbers: Arc::clone(&numbers),
            last: options.tasks,
            text: Arc::clone(&text),
            calls: options.calls,
            total: Total::default(),
        });
    }
    let stopwatch = Stopwatch::start()?;
    let mut working = JoinSet::new();
    for worker in workers {
        working.spawn(worker.work(target));
    }
    let mut total = Total::default();
    while let Some(other) = working.join_next().await {
        total.add(other?);
    }
    stopwatch.stop(json!({
        "requested": options.tasks,
        "streams": total.durations.len(),
        "errors": total.errors,
        "first_error": total.first_error,
        "events": total.events,
        "received_bytes": total.received,
        "whole_stream": percentiles(total.durations),
    }))
}

/// The results of one connection, or of all.
#[derive(Default)]
struct Total {
    durations: Vec<u32>,
    events: u64,
    received: u64,
    errors: u64,
    first_error: Option<String>,
}

impl Total {
    fn add(&mut self, other: Self) {
        self.durations.extend(other.durations);
        self.events += other.events;
        self.received += other.received;
        self.errors += other.errors;
        self.first_error = self.first_error.take().or(other.first_error);
    }
}

struct Worker {
    connection: Connection,
    request: MessageRequest,
    numbers: Arc<AtomicU64>,
    last: u64,
    text: Arc<str>,
    calls: u64,
    total: Total,
}

impl Worker {
    /// Ends at the last task, at the time limit, or at the first wrong answer.
    async fn work(mut self, target: Target) -> Total {
        let deadline = tokio::time::Instant::now() + target.time_limit;
        loop {
            let number = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
            if number > self.last {
                break;
            }
            match timeout_at(deadline, self.task(number)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    self.total.errors += 1;
                    self.total.first_error = Some(format!("{error:#}"));
                    break;
                }
                Err(_) => break,
            }
        }
        self.total.received = self.connection.received;
        self.total
    }

    async fn task(&mut self, number: u64) -> anyhow::Result<()> {
        let started = Instant::now();
        let StreamSummary { events, text, done, .. } =
            stream_summary::read_stream(&mut self.connection, self.request.numbered(number)).await?;
        ensure!(
            *text == *self.text,
            "the model said {} bytes, and the client heard other {} bytes: {text:.200}",
            self.text.len(),
            text.len()
        );
        ensure!(done == self.calls, "{done} calls were carried out instead of {}", self.calls);
        self.total.durations.push(micros_since(started));
        self.total.events += events;
        Ok(())
    }
}
