//! How long a reader waits: for the first event, and behind a paced agent for each one after it.

use super::figure::{Figure, Verdict};
use super::load::Measured;
use super::script;
use super::server::Server;
use super::workbench::{Playing, Store, Workbench};

/// One reader, so that nothing but the server is waited for.
const STREAMS: &str = "2000";

/// An agent that says something this often must be heard as often: a socket left with Nagle's algorithm
/// on holds small writes back for about 40 ms.
const PACE_MS: usize = 5;
const PACED_EVENTS: usize = 300;
const STALL_MS: f64 = 20.0;

pub(super) fn measure(workbench: &Workbench) -> Result<Vec<Figure>, String> {
    let server = workbench.start_attache(Store::Memory, Playing::Streams)?;
    let at_once = one_by_one(workbench, &server, &["--text", script::AT_ONCE])?;
    let text = script::pieces(PACED_EVENTS, PACE_MS);
    let paced =
        workbench.measure(&server, &["stream", "--streams", "8", "--connections", "8", "--text", &text])?;
    drop(server);

    let server = workbench.start_attache(Store::Sqlite("first.sqlite"), Playing::Streams)?;
    let at_once_stored = one_by_one(workbench, &server, &["--text", script::AT_ONCE])?;
    drop(server);

    let server = workbench.start_bare()?;
    let bare = one_by_one(workbench, &server, &["--get", "/sse?events=4&bytes=300"])?;
    let path = format!("/sse?events={PACED_EVENTS}&bytes=300&interval_ms={PACE_MS}");
    let bare_paced =
        workbench.measure(&server, &["stream", "--streams", "8", "--connections", "8", "--get", &path])?;

    Ok(vec![
        wait("first event of a stream, memory", &at_once, &bare, "first_event", Some(1.0)),
        wait("first event of a stream, SQLite at FULL", &at_once_stored, &bare, "first_event", None),
        wait("whole answer of an instant agent, memory", &at_once, &bare, "whole_stream", Some(STALL_MS)),
        wait("time between events sent each 5 ms", &paced, &bare_paced, "gap", Some(STALL_MS)),
    ])
}

fn one_by_one(workbench: &Workbench, server: &Server, what: &[&str]) -> Result<Measured, String> {
    let run = |streams| {
        let how = ["stream", "--connections", "1", "--streams", streams];
        workbench.measure(server, &[&how[..], what].concat())
    };
    run("100")?;
    run(STREAMS)
}

/// The slowest of a hundred has to be within the limit.
fn wait(name: &str, ours: &Measured, bare: &Measured, what: &str, limit_ms: Option<f64>) -> Figure {
    let milliseconds = |measured: &Measured, share| measured.number(&format!("{what}/{share}_us")) / 1000.0;
    let shown = |measured| {
        format!("p50 {:.2} ms, p99 {:.2} ms", milliseconds(measured, "p50"), milliseconds(measured, "p99"))
    };
    Figure {
        name: name.to_owned(),
        target: limit_ms.map_or_else(|| "–".to_owned(), |limit| format!("p99 ≤ {limit} ms")),
        attache: shown(ours),
        compared: Some(format!("bare SSE {}", shown(bare))),
        ratio: None,
        load_cpu: Some(ours.load_share()),
        verdict: limit_ms
            .map_or(Verdict::Information, |limit| Verdict::at_most(milliseconds(ours, "p99"), limit)),
    }
}
