//! Measures the latency of the first event, and of each later one behind a paced agent.

use super::figure::{Figure, TargetOutcome};
use super::load::Measurement;
use super::script;
use super::server::Server;
use super::statistics::median_of;
use super::workbench::{ScriptPace, Store, Workbench};

/// One reader, so that nothing but the server is waited for.
const STREAMS: &str = "1000";

/// An agent that says something this often must be heard as often: a socket left with Nagle's algorithm
/// on holds small writes back for about 40 ms.
const PACE_MS: usize = 5;
const PACED_EVENTS: usize = 300;
const STALL_MS: f64 = 20.0;

/// What one round found; the machine's own hiccups are not in every round.
struct Round {
    memory: Measurement,
    sqlite: Measurement,
    bare: Measurement,
    paced: Measurement,
    bare_paced: Measurement,
}

pub(super) fn measure(workbench: &Workbench) -> Result<Vec<Figure>, String> {
    let rounds = (0..workbench.rounds.min(3)).map(|_| round(workbench)).collect::<Result<Vec<_>, _>>()?;
    let bare: Pick = |round| &round.bare;
    Ok(vec![
        wait(
            "first event of a stream, memory",
            &rounds,
            |round| &round.memory,
            bare,
            "first_event",
            Some(1.0),
        ),
        wait(
            "first event of a stream, SQLite at FULL",
            &rounds,
            |round| &round.sqlite,
            bare,
            "first_event",
            None,
        ),
        wait(
            "whole answer of an instant agent, memory",
            &rounds,
            |round| &round.memory,
            bare,
            "whole_stream",
            Some(STALL_MS),
        ),
        wait(
            "time between events sent each 5 ms",
            &rounds,
            |round| &round.paced,
            |round| &round.bare_paced,
            "gap",
            Some(STALL_MS),
        ),
    ])
}

fn round(workbench: &Workbench) -> Result<Round, String> {
    let server = workbench.start_attache(Store::Memory, ScriptPace::Streams)?;
    let memory = one_by_one(workbench, &server, &["--text", script::AT_ONCE])?;
    let paced = together(workbench, &server, &["--text", &script::pieces(PACED_EVENTS, PACE_MS)])?;
    drop(server);

    let server = workbench.start_bare()?;
    let bare = one_by_one(workbench, &server, &["--get", "/sse?events=4&bytes=300"])?;
    let path = format!("/sse?events={PACED_EVENTS}&bytes=300&interval_ms={PACE_MS}");
    let bare_paced = together(workbench, &server, &["--get", &path])?;
    drop(server);

    let server = workbench.start_attache(Store::Sqlite("first.sqlite"), ScriptPace::Streams)?;
    let sqlite = one_by_one(workbench, &server, &["--text", script::AT_ONCE])?;
    Ok(Round { memory, sqlite, bare, paced, bare_paced })
}

fn one_by_one(workbench: &Workbench, server: &Server, what: &[&str]) -> Result<Measurement, String> {
    let run = |streams| {
        let how = ["stream", "--connections", "1", "--streams", streams];
        workbench.measure(server, &[&how[..], what].concat())
    };
    run("100")?;
    run(STREAMS)
}

fn together(workbench: &Workbench, server: &Server, what: &[&str]) -> Result<Measurement, String> {
    let how = ["stream", "--connections", "8", "--streams", "8"];
    workbench.measure(server, &[&how[..], what].concat())
}

type Pick = fn(&Round) -> &Measurement;

/// The slowest of a hundred has to be within the limit.
fn wait(name: &str, rounds: &[Round], ours: Pick, bare: Pick, what: &str, limit_ms: Option<f64>) -> Figure {
    let milliseconds = |pick: Pick, share: &str| {
        median_of(rounds, |round| pick(round).number(&format!("{what}/{share}_us"))) / 1000.0
    };
    let shown =
        |pick| format!("p50 {:.2} ms, p99 {:.2} ms", milliseconds(pick, "p50"), milliseconds(pick, "p99"));
    Figure {
        name: name.to_owned(),
        target: limit_ms.map_or_else(|| "–".to_owned(), |limit| format!("p99 ≤ {limit} ms")),
        attache: shown(ours),
        compared: Some(format!("bare SSE {}", shown(bare))),
        ratio: None,
        load_cpu: Some(median_of(rounds, |round| ours(round).load_share())),
        outcome: limit_ms.map_or(TargetOutcome::Information, |limit| {
            TargetOutcome::at_most(milliseconds(ours, "p99"), limit)
        }),
    }
}
