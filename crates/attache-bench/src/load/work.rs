//! Tasks without followers: each is started, and polled rarely until it settles.
//!
//! So the cost is the agent's work alone. Polls cost too; they are counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::timeout_at;

use super::bodies::{self, MessageRequest, SendPurpose};
use super::connection::Connection;
use super::report::{Stopwatch, micros_since, percentiles};
use super::requests::task_id;
use super::{ProtocolVersion, Target};

#[derive(clap::Args)]
pub(super) struct WorkOptions {
    #[arg(long, default_value_t = 1)]
    tasks: u64,
    /// The number of tasks that run at the same time.
    #[arg(long, default_value_t = 1)]
    connections: usize,
    #[arg(long)]
    text: String,
    /// The task to continue; otherwise new ones.
    #[arg(long)]
    task: Option<String>,
    /// The state in which a task must stop.
    #[arg(long, default_value = "TASK_STATE_COMPLETED")]
    expect: String,
    /// The pause between two polls of a task.
    #[arg(long, default_value_t = 50)]
    look_ms: u64,
}

/// A task in one of these states is finished or waits for a person.
const SETTLED_STATES: &[&str] =
    &["COMPLETED", "FAILED", "CANCELED", "REJECTED", "INPUT_REQUIRED", "AUTH_REQUIRED"];

pub(super) async fn run(target: Target, options: WorkOptions) -> anyhow::Result<Value> {
    ensure!(target.version == ProtocolVersion::V1, "tasks are only followed in 1.0 here");
    let request = MessageRequest::new(
        target.address,
        "/",
        target.version,
        SendPurpose::Detached,
        &options.text,
        options.task.as_deref(),
    );
    let numbers = Arc::new(AtomicU64::new(0));
    let options = Arc::new(options);
    let mut connections = Vec::new();
    for _ in 0..options.connections {
        connections.push(Connection::open(target.address).await?);
    }
    let stopwatch = Stopwatch::start()?;
    let mut workers = JoinSet::new();
    for connection in connections {
        let (numbers, options) = (Arc::clone(&numbers), Arc::clone(&options));
        let worker = Worker {
            target,
            connection,
            request: request.clone(),
            numbers,
            options,
            done: WorkTotals::default(),
        };
        workers.spawn(worker.work());
    }
    let mut done = WorkTotals::default();
    while let Some(other) = workers.join_next().await {
        done.add(other?);
    }
    stopwatch.stop(json!({
        "requested": options.tasks,
        "requests": done.durations.len(),
        "errors": done.errors,
        "first_error": done.first_error,
        "looks": done.looks,
        "task": done.task,
        "duration": percentiles(done.durations),
    }))
}

#[derive(Default)]
struct WorkTotals {
    durations: Vec<u32>,
    errors: u64,
    first_error: Option<String>,
    looks: u64,
    /// One task, to be continued.
    task: Option<String>,
}

impl WorkTotals {
    fn add(&mut self, other: Self) {
        self.durations.extend(other.durations);
        self.errors += other.errors;
        self.first_error = self.first_error.take().or(other.first_error);
        self.looks += other.looks;
        self.task = other.task.or(self.task.take());
    }
}

struct Worker {
    target: Target,
    connection: Connection,
    request: MessageRequest,
    numbers: Arc<AtomicU64>,
    options: Arc<WorkOptions>,
    done: WorkTotals,
}

impl Worker {
    async fn work(mut self) -> WorkTotals {
        let deadline = tokio::time::Instant::now() + self.target.time_limit;
        loop {
            let number = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
            if number > self.options.tasks {
                return self.done;
            }
            match timeout_at(deadline, self.task(number)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    self.done.errors += 1;
                    self.done.first_error.get_or_insert(format!("{error:#}"));
                    return self.done;
                }
                Err(_) => return self.done,
            }
        }
    }

    async fn task(&mut self, number: u64) -> anyhow::Result<()> {
        let started = Instant::now();
        let head = self.connection.request(self.request.numbered(number)).await?;
        let body = self.connection.body(head).await?;
        let task = task_id(body)?;
        let request = bodies::poll_task(self.target.address, &task);
        loop {
            tokio::time::sleep(Duration::from_millis(self.options.look_ms)).await;
            self.done.looks += 1;
            let head = self.connection.request(&request).await?;
            let body = self.connection.body(head).await?;
            let state = state_of(body)?;
            if SETTLED_STATES.iter().any(|resting| state.ends_with(resting)) {
                let whole = || String::from_utf8_lossy(body).into_owned();
                ensure!(state == self.options.expect, "a task ended as {state}: {}", whole());
                break;
            }
        }
        self.done.durations.push(micros_since(started));
        self.done.task = Some(task);
        Ok(())
    }
}

#[derive(Deserialize)]
struct TaskResponse {
    result: Task,
}

#[derive(Deserialize)]
struct Task {
    status: Status,
}

#[derive(Deserialize)]
struct Status {
    state: String,
}

fn state_of(body: &[u8]) -> anyhow::Result<String> {
    let looked: TaskResponse = serde_json::from_slice(body)
        .with_context(|| format!("no task in {}", String::from_utf8_lossy(body)))?;
    Ok(looked.result.status.state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_is_found_among_other_things() {
        let body = br#"{"id":1,"result":{"id":"t","artifacts":[{"state":"no"}],"status":{"state":"TASK_STATE_WORKING","x":1}}}"#;
        assert_eq!(state_of(body).unwrap(), "TASK_STATE_WORKING");
        assert!(state_of(br#"{"error":{"code":1}}"#).is_err());
    }
}
