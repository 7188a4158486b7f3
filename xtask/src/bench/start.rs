//! Measures the start of a server and its memory at rest.

use std::time::{Duration, Instant};

use super::figure::{Figure, TargetOutcome};
use super::statistics::median_of;
use super::workbench::{ScriptPace, Store, Workbench};

const STARTS: usize = 11;
const CARD: &str = "/.well-known/agent-card.json";
/// Start-up memory that is given back is given back by then.
const SETTLE_DELAY: Duration = Duration::from_secs(1);

struct Start {
    milliseconds: f64,
    resident: f64,
}

pub(super) fn measure(workbench: &Workbench) -> Result<Vec<Figure>, String> {
    // The default store, once to make its file and then as on every later start.
    let mut starts = Vec::new();
    for number in 0..=STARTS {
        let start = start(workbench, if number == 0 { SETTLE_DELAY } else { Duration::ZERO })?;
        starts.push(start);
    }
    let first = starts.remove(0);
    let milliseconds = median_of(&starts, |start| start.milliseconds);
    let slowest = starts.iter().map(|start| start.milliseconds).fold(0.0, f64::max);
    let resident = first.resident / 1e6;
    Ok(vec![
        Figure {
            name: "cold start to first served card".to_owned(),
            target: "< 50 ms".to_owned(),
            attache: format!(
                "{milliseconds:.1} ms (slowest {slowest:.1} ms; {:.1} ms with a new store)",
                first.milliseconds
            ),
            compared: None,
            ratio: None,
            load_cpu: None,
            outcome: TargetOutcome::when(milliseconds < 50.0),
        },
        Figure {
            name: "resident memory at rest".to_owned(),
            target: "< 25 MB".to_owned(),
            attache: format!("{resident:.1} MB"),
            compared: None,
            ratio: None,
            load_cpu: None,
            outcome: TargetOutcome::when(resident < 25.0),
        },
    ])
}

fn start(workbench: &Workbench, rest: Duration) -> Result<Start, String> {
    let started = Instant::now();
    let server = workbench.start_attache(Store::Sqlite("start.sqlite"), ScriptPace::Instant)?;
    server.get(CARD)?;
    let milliseconds = started.elapsed().as_secs_f64() * 1000.0;
    std::thread::sleep(rest);
    let start = Start { milliseconds, resident: server.resident_bytes()? };
    server.stop()?;
    Ok(start)
}
