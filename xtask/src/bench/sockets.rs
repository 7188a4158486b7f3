//! Many WebSockets of the live endpoint on one session.

use std::time::Duration;

use super::figure::{Figure, TargetOutcome};
use super::load::Measurement;
use super::script;
use super::statistics::median_of;
use super::workbench::{ScriptPace, Store, Workbench};

const SOCKETS: usize = 1000;
/// The state before, the prompt, the start of work, the end.
const FRAME_EVENTS: usize = 4;
const STALLED: &str = "8";

const SETTINGS: &str = "live = true\n";

/// Memory that was only needed for a moment is given back in less than this.
const SETTLE_DELAY: Duration = Duration::from_millis(500);

pub(super) fn sockets(workbench: &Workbench) -> Result<Vec<Figure>, String> {
    Ok(vec![memory(workbench)?, delivery(workbench, "0")?, delivery(workbench, STALLED)?])
}

/// What an idle socket takes.
fn memory(workbench: &Workbench) -> Result<Figure, String> {
    let server = workbench.start_attache_with(SETTINGS, Store::Memory, ScriptPace::Streams)?;
    workbench.measure(&server, &["stream", "--streams", "64", "--text", script::AT_ONCE])?;
    std::thread::sleep(SETTLE_DELAY);
    let before = server.resident_bytes()?;
    let held = workbench.hold(&server, &["sockets", "--sockets", &SOCKETS.to_string()])?;
    std::thread::sleep(SETTLE_DELAY);
    let each = (server.resident_bytes()? - before) / SOCKETS as f64 / 1000.0;
    let opening = held.report["opening_us"].as_f64().unwrap_or_default();
    Ok(Figure {
        name: "1,000 WebSockets on one session".to_owned(),
        target: "≤ 60 KB resident each".to_owned(),
        attache: format!("{each:.1} KB each; {opening:.0} µs to open one"),
        compared: None,
        ratio: None,
        load_cpu: None,
        outcome: TargetOutcome::at_most(each, 60.0),
    })
}

/// Every socket reads all events, beside so many that read nothing.
fn delivery(workbench: &Workbench, stalled: &str) -> Result<Figure, String> {
    let server = workbench.start_attache_with(SETTINGS, Store::Memory, ScriptPace::Streams)?;
    let (count, events) = (SOCKETS.to_string(), (script::ANSWER_PIECES + FRAME_EVENTS).to_string());
    let arguments = [
        "sockets",
        "--sockets",
        &count,
        "--stalled",
        stalled,
        "--text",
        script::ANSWER,
        "--expect-events",
        &events,
    ];
    let mut rounds: Vec<Measurement> = Vec::new();
    for _ in 0..workbench.rounds.min(3) {
        rounds.push(workbench.attempt(&server, &arguments)?);
    }
    let micros = median_of(&rounds, |round| round.cpu_micros_per("events"));
    let slowest = median_of(&rounds, |round| round.number("whole_stream/max_us")) / 1000.0;
    let wrong: f64 = rounds.iter().map(|round| round.number("errors")).sum();
    let whole = wrong == 0.0;
    let beside = if stalled == "0" { String::new() } else { format!(", {stalled} more that read nothing") };
    Ok(Figure {
        name: format!("1,000 WebSockets × 1,000 events of one session{beside}"),
        target: "≤ 3 µs CPU per delivered event, every event once".to_owned(),
        attache: match whole {
            true => format!("{micros:.2} µs, all once; the last socket had all after {slowest:.0} ms"),
            false => format!("{micros:.2} µs, {wrong} sockets wrong"),
        },
        compared: None,
        ratio: None,
        load_cpu: Some(median_of(&rounds, Measurement::load_share)),
        outcome: TargetOutcome::at_most(micros, 3.0).and(TargetOutcome::when(whole)),
    })
}
