//! Measures the store: `cargo run --release -p attache-store-sql --example measure [FOLDER]`.
//!
//! The folder should be on the disk that matters; by default it is made where temporary files go.

#![expect(clippy::print_stdout, reason = "this program prints a table")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use attache_domain::{
    ContextId, Digest, Event, Fact, Message, MessageId, OpenedTask, Part, Presentation, ReplyShape, Role,
    Scope, Seq, TaskEnding, TaskId, TaskKey, TaskState, TaskSummary, Timestamp, TurnOutcome,
};
use attache_store::{Append, EventLog, ListQuery, TaskIndex};
use attache_store_sql::{SqliteOptions, SqliteStore, Synchronous};
use tokio::task::JoinSet;
use uuid::Uuid;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let base = std::env::args_os().nth(1).map_or(folder.path().to_owned(), PathBuf::from);
    let measured = tempfile::tempdir_in(base).expect("a folder");
    let path = measured.path().join("tasks.db");
    println!("one task = two appends (1 event, then 3), each in a context of its own; ids are random");
    for (synchronous, name) in [(Synchronous::Full, "full"), (Synchronous::Normal, "normal")] {
        for tasks_at_once in [1, 8, 64] {
            let store = open(&path, synchronous);
            let count = if tasks_at_once == 1 { 1_000 } else { 10_000 };
            let label = format!("{name}, {tasks_at_once} at once");
            tasks(&store, &label, tasks_at_once, count, Ids::Random).await;
        }
    }
    let store = open(&path, Synchronous::Full);
    deltas(&store, 64).await;
    drop(store);

    let store = open(&path, Synchronous::Off);
    tasks(&store, "filling to 100,000", 64, 58_000, Ids::Random).await;
    drop(store);
    let begun = Instant::now();
    let store = open(&path, Synchronous::Full);
    println!("{:<34} {:>9.2} ms", "open with 100,000 tasks", millis(begun.elapsed()));
    tasks(&store, "full, 64 at once, 100,000 there", 64, 10_000, Ids::Random).await;
    tasks(&store, "the same with contexts in order", 64, 10_000, Ids::OrderedContexts).await;
    let keys = lists(&store).await;
    reads(&store, &keys).await;
    println!("{:<34} {:>9.1} MB", "resident", resident_megabytes());
}

#[derive(Clone, Copy)]
enum Ids {
    Random,
    /// Contexts begin with the time; task ids are random, as they are hashes.
    OrderedContexts,
}

impl Ids {
    fn task() -> TaskId {
        TaskId::new(Uuid::new_v4().to_string())
    }

    fn context(self) -> ContextId {
        let uuid = match self {
            Self::Random => Uuid::new_v4(),
            Self::OrderedContexts => Uuid::now_v7(),
        };
        ContextId::new(uuid.to_string())
    }
}

fn open(path: &Path, synchronous: Synchronous) -> Arc<SqliteStore> {
    let options = SqliteOptions { synchronous, ..SqliteOptions::default() };
    Arc::new(SqliteStore::open(path, options).expect("opens"))
}

/// Whole lives of tasks.
async fn tasks(store: &Arc<SqliteStore>, label: &str, at_once: usize, count: usize, ids: Ids) {
    let meter = Meter::start();
    let mut writers = JoinSet::new();
    for _ in 0..at_once {
        let store = store.clone();
        writers.spawn(async move {
            for _ in 0..count / at_once {
                live(&store, ids).await;
            }
        });
    }
    writers.join_all().await;
    meter.report(label, count / at_once * at_once * 2, "append");
}

async fn live(store: &SqliteStore, ids: Ids) {
    let key = TaskKey { scope: Scope::new("", "anonymous"), task: Ids::task() };
    let context = ids.context();
    let opened = Fact::TaskOpened(Box::new(OpenedTask {
        task: key.task.clone(),
        scope: key.scope.clone(),
        context: context.clone(),
        message: message("Please say hello to the world, and then tell me how you are.", None).into(),
        digest: Digest("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".into()),
        ending: TaskEnding::Completes,
        reply: ReplyShape::Task,
        continues: false,
        presentation: Presentation::default(),
        metadata: None,
    }));
    let summary = TaskSummary {
        context: context.clone(),
        state: TaskState::Submitted,
        status_at: Timestamp::now(),
        hidden: false,
        unfinished: true,
    };
    append(store, &key, 0, [opened], &summary).await;
    let summary = TaskSummary {
        state: TaskState::Completed,
        status_at: Timestamp::now(),
        unfinished: false,
        ..summary
    };
    let answer = message("Hello, world. I am well.", Some(context));
    let facts = [
        Fact::TurnStarted { turn: 1, model: None },
        Fact::TextSaid { text: "Hello, world. I am well.".into(), last: true },
        Fact::TurnEnded { outcome: TurnOutcome::Completed, message: Some(answer.into()), usage: None },
    ];
    append(store, &key, 1, facts, &summary).await;
}

/// Appends to tasks whose status stays the same.
async fn deltas(store: &Arc<SqliteStore>, at_once: usize) {
    const ROUNDS: usize = 300;
    let meter = Meter::start();
    let mut writers = JoinSet::new();
    for _ in 0..at_once {
        let store = store.clone();
        writers.spawn(async move {
            let key = TaskKey { scope: Scope::new("", "other"), task: Ids::task() };
            let summary = TaskSummary {
                context: "context".into(),
                state: TaskState::Working,
                status_at: Timestamp::now(),
                hidden: false,
                unfinished: true,
            };
            for round in 0..ROUNDS {
                let said = || Fact::TextSaid { text: "some words more ".into(), last: false };
                append(&store, &key, round as u64 * 3, [said(), said(), said()], &summary).await;
            }
        });
    }
    writers.join_all().await;
    meter.report("full, deltas of 64 tasks", ROUNDS * at_once, "append");
}

async fn append(
    store: &SqliteStore,
    key: &TaskKey,
    expected: u64,
    facts: impl IntoIterator<Item = Fact>,
    summary: &TaskSummary,
) {
    let at = Timestamp::now();
    let events = (expected + 1..).zip(facts).map(|(seq, fact)| Arc::new(Event { seq: Seq(seq), at, fact }));
    let (key, events) = (key.clone(), events.collect());
    let append = Append { key, expected: Seq(expected), events, summary: summary.clone() };
    store.append(append).await.expect("appends");
}

fn message(text: &str, context: Option<ContextId>) -> Message {
    let id = MessageId::new(Uuid::new_v4().to_string());
    Message {
        id,
        role: Role::User,
        parts: vec![Part::text(text)],
        context,
        task: None,
        requested: None,
        command: None,
        sender: None,
        reference_tasks: Vec::new(),
        extensions: Vec::new(),
        metadata: None,
    }
}

/// Times listings; returns every task.
async fn lists(store: &SqliteStore) -> Vec<TaskKey> {
    const ROUNDS: usize = 500;
    let scope = Scope::new("", "anonymous");
    let first =
        ListQuery { scope: scope.clone(), context: None, state: None, since: None, after: None, limit: 50 };
    let page = store.list(&first).await.expect("lists");
    println!("{} tasks", page.total);
    let ago = |seconds| Timestamp::now() - Duration::from_secs(seconds);
    let queries = [
        ("list, first page", first.clone(), ROUNDS),
        ("list, second page", ListQuery { after: page.tasks.last().cloned(), ..first.clone() }, ROUNDS),
        ("list, by common state", ListQuery { state: Some(TaskState::Completed), ..first.clone() }, ROUNDS),
        ("list, by rare state", ListQuery { state: Some(TaskState::Failed), ..first.clone() }, ROUNDS),
        ("list, by context", ListQuery { context: Some("none".into()), ..first.clone() }, ROUNDS),
        ("list, since a moment ago", ListQuery { since: Some(ago(0)), ..first.clone() }, ROUNDS),
        ("list, since an hour ago", ListQuery { since: Some(ago(3600)), ..first.clone() }, 50),
    ];
    for (label, query, rounds) in queries {
        let meter = Meter::start();
        for _ in 0..rounds {
            store.list(&query).await.expect("lists");
        }
        meter.report(label, rounds, "call");
    }
    let many = ListQuery { limit: usize::MAX, ..first };
    let listed = store.list(&many).await.expect("lists");
    listed.tasks.into_iter().map(|place| TaskKey { scope: scope.clone(), task: place.task }).collect()
}

/// Tasks picked all over the file, each read once.
async fn reads(store: &SqliteStore, keys: &[TaskKey]) {
    let chosen: Vec<_> = (0..20_000).map(|number| &keys[number * 7919 % keys.len()]).collect();
    let meter = Meter::start();
    for key in &chosen {
        let events = store.read(key, Seq::START, 1000).await.expect("reads");
        assert_eq!(events.len(), 4);
    }
    meter.report("read a whole small task", chosen.len(), "call");
}

/// Wall time and processor time of this process.
struct Meter {
    begun: Instant,
    processor: Duration,
}

impl Meter {
    fn start() -> Self {
        Self { begun: Instant::now(), processor: processor_time() }
    }

    fn report(self, label: &str, count: usize, unit: &str) {
        let wall = self.begun.elapsed();
        let processor = processor_time().saturating_sub(self.processor);
        let each = |time: Duration| time.as_secs_f64() * 1e6 / count as f64;
        let rate = count as f64 / wall.as_secs_f64();
        println!(
            "{label:<34} {rate:>9.0} {unit}s/s  {:>8.1} µs wall  {:>7.1} µs CPU each",
            each(wall),
            each(processor)
        );
    }
}

/// The sum over all threads, from the scheduler's own counters: `stat` counts in steps of ten milliseconds.
fn processor_time() -> Duration {
    let threads = std::fs::read_dir("/proc/self/task").expect("Linux");
    let nanoseconds = threads.filter_map(|thread| {
        let text = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanoseconds.sum())
}

fn resident_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    let kilobytes: f64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kilobytes / 1024.0
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
