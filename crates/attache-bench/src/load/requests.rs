//! Sends requests with one answer each, as fast as a number of connections can: send, get, list.
//!
//! Each connection has one request under way and sends the next when the answer is in, so the rate
//! is what the server makes of that many callers.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Context, ensure};
use memchr::memmem::Finder;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::timeout_at;

use super::bodies::{self, MessageRequest, SendPurpose};
use super::connection::Connection;
use super::report::{Stopwatch, micros_since, percentiles};
use super::{ProtocolVersion, Target};

#[derive(clap::Args)]
pub(super) struct ClosedLoopOptions {
    #[arg(long, default_value_t = 64)]
    connections: usize,
    #[arg(long, default_value_t = 10_000)]
    requests: u64,
    /// An answer without this text counts as an error.
    #[arg(long)]
    expect: Option<String>,
}

#[derive(clap::Args)]
pub(super) struct SendOptions {
    #[command(flatten)]
    closed: ClosedLoopOptions,
    #[arg(long, default_value = "hello")]
    text: String,
    #[arg(long, default_value = "/")]
    path: String,
    /// Answer as soon as the task exists.
    #[arg(long)]
    detached: bool,
    /// Write the ids of the tasks here, one per line.
    #[arg(long)]
    ids: Option<PathBuf>,
}

#[derive(clap::Args)]
pub(super) struct GetOptions {
    #[command(flatten)]
    closed: ClosedLoopOptions,
    /// Task ids, one per line.
    #[arg(long)]
    ids: PathBuf,
}

#[derive(clap::Args)]
pub(super) struct ListOptions {
    #[command(flatten)]
    closed: ClosedLoopOptions,
    #[arg(long, default_value_t = 50)]
    page_size: usize,
}

pub(super) async fn send(target: Target, options: SendOptions) -> anyhow::Result<Value> {
    let sending = if options.detached { SendPurpose::Detached } else { SendPurpose::Blocking };
    let request =
        MessageRequest::new(target.address, &options.path, target.version, sending, &options.text, None);
    let keep = if options.ids.is_some() { Keep::TaskIds } else { Keep::Nothing };
    let (report, ids) = drive(target, options.closed, keep, |_| Messages(request.clone())).await?;
    if let Some(path) = options.ids {
        let mut text = String::new();
        for id in ids {
            writeln!(text, "{id}")?;
        }
        std::fs::write(&path, text).context("cannot write the task ids")?;
    }
    Ok(report)
}

pub(super) async fn get(target: Target, options: GetOptions) -> anyhow::Result<Value> {
    let text = std::fs::read_to_string(&options.ids).context("cannot read the task ids")?;
    let requests: Arc<[Vec<u8>]> =
        text.lines().map(|id| bodies::get_task(target.address, target.version, id)).collect();
    ensure!(!requests.is_empty(), "there is no task id to get");
    let (report, _) = drive(target, options.closed, Keep::Nothing, |connection| RandomTasks {
        requests: Arc::clone(&requests),
        random: connection as u64 + 1,
    })
    .await?;
    Ok(report)
}

pub(super) async fn list(target: Target, options: ListOptions) -> anyhow::Result<Value> {
    ensure!(target.version == ProtocolVersion::V1, "only 1.0 lists tasks");
    let request = bodies::list_tasks(target.address, options.page_size);
    let (report, _) = drive(target, options.closed, Keep::Nothing, |_| SameRequest(request.clone())).await?;
    Ok(report)
}

/// The next request of one connection.
trait RequestSource: Send + 'static {
    fn request(&mut self, number: u64) -> &[u8];
}

struct Messages(MessageRequest);

impl RequestSource for Messages {
    fn request(&mut self, number: u64) -> &[u8] {
        self.0.numbered(number)
    }
}

struct RandomTasks {
    requests: Arc<[Vec<u8>]>,
    random: u64,
}

impl RequestSource for RandomTasks {
    fn request(&mut self, _number: u64) -> &[u8] {
        // A plain linear congruential generator: cheap, and spread evenly enough to miss every cache.
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let index = ((self.random >> 33) as usize) % self.requests.len();
        &self.requests[index]
    }
}

struct SameRequest(Vec<u8>);

impl RequestSource for SameRequest {
    fn request(&mut self, _number: u64) -> &[u8] {
        &self.0
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Nothing,
    TaskIds,
}

/// The results of one connection.
#[derive(Default)]
struct Tally {
    latencies: Vec<u32>,
    errors: u64,
    first_error: Option<String>,
    body_bytes: u64,
    ids: Vec<String>,
}

async fn drive<S: RequestSource>(
    target: Target,
    options: ClosedLoopOptions,
    keep: Keep,
    source: impl Fn(usize) -> S,
) -> anyhow::Result<(Value, Vec<String>)> {
    let mut connections = Vec::with_capacity(options.connections);
    for _ in 0..options.connections {
        connections.push(Connection::open(target.address).await?);
    }
    let numbers = Arc::new(AtomicU64::new(0));
    let stopwatch = Stopwatch::start()?;
    let mut workers = JoinSet::new();
    for (index, connection) in connections.into_iter().enumerate() {
        let expect = Finder::new(options.expect.as_deref().unwrap_or_default()).into_owned();
        let worker =
            Worker { connection, expect, keep, numbers: Arc::clone(&numbers), last: options.requests };
        workers.spawn(worker.work(target, source(index)));
    }
    let mut total = Tally::default();
    while let Some(tally) = workers.join_next().await {
        total.add(tally?);
    }
    let report = json!({
        "requested": options.requests,
        "requests": total.latencies.len(),
        "errors": total.errors,
        "first_error": total.first_error,
        "body_bytes": total.body_bytes,
        "connections": options.connections,
        "latency": percentiles(total.latencies),
    });
    Ok((stopwatch.stop(report)?, total.ids))
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.latencies.extend(other.latencies);
        self.errors += other.errors;
        self.first_error = self.first_error.take().or(other.first_error);
        self.body_bytes += other.body_bytes;
        self.ids.extend(other.ids);
    }
}

struct Worker {
    connection: Connection,
    expect: Finder<'static>,
    keep: Keep,
    numbers: Arc<AtomicU64>,
    last: u64,
}

impl Worker {
    /// Ends at the last request, at the time limit, or when the connection breaks.
    async fn work(mut self, target: Target, mut source: impl RequestSource) -> Tally {
        let mut tally = Tally::default();
        let deadline = tokio::time::Instant::now() + target.time_limit;
        loop {
            let number = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
            if number > self.last {
                return tally;
            }
            let exchange = self.exchange(source.request(number), &mut tally);
            match timeout_at(deadline, exchange).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    tally.errors += 1;
                    tally.first_error.get_or_insert(format!("{error:#}"));
                    return tally;
                }
                Err(_) => return tally,
            }
        }
    }

    async fn exchange(&mut self, request: &[u8], tally: &mut Tally) -> anyhow::Result<()> {
        let started = Instant::now();
        let head = self.connection.request(request).await?;
        let body = self.connection.body(head).await?;
        tally.latencies.push(micros_since(started));
        tally.body_bytes += body.len() as u64;
        if head.status != 200 || self.expect.find(body).is_none() {
            tally.errors += 1;
            if tally.first_error.is_none() {
                tally.first_error = Some(format!("{}: {}", head.status, String::from_utf8_lossy(body)));
            }
        } else if self.keep == Keep::TaskIds {
            tally.ids.push(task_id(body)?);
        }
        Ok(())
    }
}

/// The id of the task an answer holds, in either dialect.
pub(super) fn task_id(body: &[u8]) -> anyhow::Result<String> {
    let body: Value = serde_json::from_slice(body).context("the answer is not JSON")?;
    let result = &body["result"];
    let id = result["task"]["id"].as_str().or_else(|| result["id"].as_str());
    id.map(str::to_owned).with_context(|| format!("no task in {body}"))
}
