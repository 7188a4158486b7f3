//! Measures many readers of a task, many open streams and many stored tasks.

use std::time::Duration;

use super::figure::{Figure, TargetOutcome};
use super::kernel;
use super::load::Measurement;
use super::script;
use super::statistics::median_of;
use super::workbench::{ScriptPace, Store, Workbench};

const READERS: usize = 1000;
const READER_EVENTS: usize = 1000;
/// The task as it stood, the start of work, the end.
const FRAME_EVENTS: usize = 3;

const SLOW_READERS: usize = 8;
const SLOW_EVENTS: usize = 10_000;

const IDLE_STREAMS: u64 = 10_000;
/// Sockets of the generator beside the streams.
const SPARE_FILES: u64 = 100;

const STORED_TASKS: &str = "100000";

/// Memory that was only needed for a moment is given back in less than this.
const SETTLE_DELAY: Duration = Duration::from_millis(500);

/// Many readers of one task, and readers that do not keep up.
pub(super) fn readers(workbench: &Workbench) -> Result<Vec<Figure>, String> {
    Ok(vec![fan_out(workbench)?, slow_reader(workbench)?])
}

fn fan_out(workbench: &Workbench) -> Result<Figure, String> {
    let server = workbench.start_attache(Store::Memory, ScriptPace::Streams)?;
    let (readers, events) = (READERS.to_string(), (READER_EVENTS + FRAME_EVENTS).to_string());
    let text = script::pieces(READER_EVENTS, 0);
    // Hidden from readers: the caller's message that makes the task go on.
    let arguments = [
        "subscribe-fanout",
        "--readers",
        &readers,
        "--opening-text",
        script::QUESTION,
        "--text",
        &text,
        "--expect-events",
        &events,
        "--hidden",
        "1",
    ];
    let mut rounds: Vec<Measurement> = Vec::new();
    for _ in 0..workbench.rounds.min(3) {
        rounds.push(workbench.attempt(&server, &arguments)?);
    }
    let micros = median_of(&rounds, |round| round.cpu_micros_per("events"));
    let whole = rounds.iter().all(Measurement::every_event_came_once);
    let wrong: f64 = rounds.iter().map(|round| round.number("errors")).sum();
    Ok(Figure {
        name: "1,000 readers × 1,000 events of one task".to_owned(),
        target: "≤ 3 µs CPU per delivered event, every event once".to_owned(),
        attache: if whole {
            format!("{micros:.2} µs, all once")
        } else {
            format!("{micros:.2} µs, {wrong} readers wrong")
        },
        compared: None,
        ratio: None,
        load_cpu: Some(median_of(&rounds, Measurement::load_share)),
        outcome: TargetOutcome::at_most(micros, 3.0).and(TargetOutcome::when(whole)),
    })
}

/// Readers that stop reading while an agent that never yields goes on, and then want everything.
fn slow_reader(workbench: &Workbench) -> Result<Figure, String> {
    let (fast, fast_grown) = unread(workbench, "0")?;
    let (slow, slow_grown) = unread(workbench, "1500")?;
    let least = SLOW_READERS as f64 * SLOW_EVENTS as f64;
    let whole = [&fast, &slow].iter().all(|run| run.every_event_came_once() && run.number("events") >= least);
    Ok(Figure {
        name: "8 slow readers of an agent that never yields (10,000 events each)".to_owned(),
        target: "no event lost".to_owned(),
        attache: format!(
            "{:.0} events, {:.0} missing, {:.0} repeated; the log took {slow_grown:.0} MB",
            slow.number("events"),
            slow.number("missing_events"),
            slow.number("repeated_events"),
        ),
        compared: Some(format!("fast readers: the log took {fast_grown:.0} MB")),
        ratio: None,
        load_cpu: Some(slow.load_share()),
        outcome: TargetOutcome::when(whole),
    })
}

/// The results, and by how many megabytes the server grew by; its store holds the tasks in memory.
fn unread(workbench: &Workbench, pause_ms: &str) -> Result<(Measurement, f64), String> {
    let server = workbench.start_attache(Store::Memory, ScriptPace::Streams)?;
    let before = server.resident_bytes()?;
    let (readers, text) = (SLOW_READERS.to_string(), script::pieces(SLOW_EVENTS, 0));
    let arguments =
        ["stream", "--streams", &readers, "--connections", &readers, "--pause-ms", pause_ms, "--text", &text];
    let measured = workbench.attempt(&server, &arguments)?;
    Ok((measured, (server.resident_bytes()? - before) / 1e6))
}

/// Streams of tasks at work that have nothing to say, each with a task of its own.
pub(super) fn idle_streams(workbench: &Workbench) -> Result<Vec<Figure>, String> {
    let limit = kernel::open_files_limit()?;
    if limit < IDLE_STREAMS + SPARE_FILES {
        return Err(format!(
            "{IDLE_STREAMS} streams need as many open files; the limit is {limit} (`ulimit -Hn`)"
        ));
    }
    let server = workbench.start_attache(Store::Memory, ScriptPace::Streams)?;
    workbench.measure(&server, &["stream", "--streams", "64", "--text", script::AT_ONCE])?;
    std::thread::sleep(SETTLE_DELAY);
    let before = server.resident_bytes()?;
    let streams = IDLE_STREAMS.to_string();
    let held =
        workbench.hold(&server, &["idle-streams", "--streams", &streams, "--text", script::SILENCE])?;
    std::thread::sleep(SETTLE_DELAY);
    let each = (server.resident_bytes()? - before) / IDLE_STREAMS as f64 / 1000.0;
    let cpu = server.cpu_seconds()?;
    std::thread::sleep(Duration::from_secs(2));
    let idle_cpu = (server.cpu_seconds()? - cpu) / 2.0;
    let opening = held.report["opening"]["p50_us"].as_f64().unwrap_or_default();
    Ok(vec![Figure {
        name: "10,000 idle open streams, a running task behind each".to_owned(),
        target: "≤ 40 KB resident each".to_owned(),
        attache: format!(
            "{each:.1} KB each; {opening:.0} µs to open one; {:.1} % of a core while idle",
            idle_cpu * 100.0
        ),
        compared: None,
        ratio: None,
        load_cpu: None,
        outcome: TargetOutcome::at_most(each, 40.0),
    }])
}

/// A store that has seen a lot, asked by a server that has just started.
pub(super) fn stored_tasks(workbench: &Workbench) -> Result<Vec<Figure>, String> {
    let store = Store::Sqlite("stored.sqlite");
    let ids = workbench.file("stored-ids");
    let server = workbench.start_attache(store, ScriptPace::Instant)?;
    let fill = ["--time-limit-seconds", "120", "send", "--requests", STORED_TASKS, "--ids", &ids];
    let filled = workbench.measure(&server, &fill)?;
    std::thread::sleep(SETTLE_DELAY);
    let after_filling = server.resident_bytes()? / 1e6;
    server.stop()?;

    let server = workbench.start_attache(store, ScriptPace::Instant)?;
    let get = [
        "get",
        "--connections",
        "4",
        "--requests",
        "20000",
        "--ids",
        &ids,
        "--expect",
        "TASK_STATE_COMPLETED",
    ];
    let get = workbench.measure(&server, &get)?;
    let list = ["list", "--connections", "1", "--requests", "300", "--expect", "nextPageToken"];
    let list = workbench.measure(&server, &list)?;
    let after_reading = server.resident_bytes()? / 1e6;
    let resident = after_filling.max(after_reading);

    let get_p99 = get.number("latency/p99_us") / 1000.0;
    let list_p99 = list.number("latency/p99_us") / 1000.0;
    let figure = |name: &str, target: &str, attache: String, load: &Measurement, outcome| Figure {
        name: format!("100,000 finished tasks in SQLite: {name}"),
        target: target.to_owned(),
        attache,
        compared: None,
        ratio: None,
        load_cpu: Some(load.load_share()),
        outcome,
    };
    Ok(vec![
        figure(
            "resident memory",
            "< 60 MB",
            format!("{after_filling:.0} MB after filling, {after_reading:.0} MB after a restart and reading"),
            &filled,
            TargetOutcome::when(resident < 60.0),
        ),
        figure(
            "`GetTask` of random tasks, 4 connections",
            "p99 < 2 ms",
            format!("p50 {:.2} ms, p99 {get_p99:.2} ms", get.number("latency/p50_us") / 1000.0),
            &get,
            TargetOutcome::when(get_p99 < 2.0),
        ),
        figure(
            "first page of `ListTasks`",
            "< 5 ms",
            format!("p50 {:.2} ms, p99 {list_p99:.2} ms", list.number("latency/p50_us") / 1000.0),
            &list,
            TargetOutcome::when(list_p99 < 5.0),
        ),
    ])
}
