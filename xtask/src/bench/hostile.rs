//! Measures how hostile clients affect others.

use super::figure::{Figure, TargetOutcome};
use super::kernel;
use super::load::Measurement;
use super::statistics::{median, median_of};
use super::workbench::{ScriptPace, Store, Workbench};

const CROWD: u64 = 10_000;
/// Sockets of the generator beside the crowd's.
const SPARE_FILES: u64 = 200;
/// Far from what the machine can do: the figure is about waiting, not about throughput.
const SEND: [&str; 5] = ["send", "--connections", "2", "--requests", "6000"];

/// An ordinary client alone, and the same beside ten thousand connections that are held and eight kinds of floods.
pub(super) fn measure(workbench: &Workbench) -> Result<Vec<Figure>, String> {
    let limit = kernel::open_files_limit()?;
    if limit < CROWD + SPARE_FILES {
        return Err(format!(
            "{CROWD} connections need as many open files; the limit is {limit} (`ulimit -Hn`)"
        ));
    }
    let server = workbench.start_attache(Store::Memory, ScriptPace::Instant)?;
    workbench.measure(&server, &SEND)?;
    let crowd = CROWD.to_string();
    let mut rounds: Vec<(Measurement, Measurement)> = Vec::new();
    for _ in 0..workbench.rounds.min(3) {
        let calm = workbench.measure(&server, &SEND)?;
        let attack = workbench.hold(&server, &["hostile", "--connections", &crowd, "--floods", "8"])?;
        let attacked = workbench.measure(&server, &SEND);
        drop(attack);
        rounds.push((calm, attacked?));
    }
    let peak = server.peak_resident_bytes()? / 1e6;
    let p99 = |measured: &Measurement| measured.number("latency/p99_us") / 1000.0;
    let ratio = median(rounds.iter().map(|(calm, attacked)| p99(attacked) / p99(calm)));
    Ok(vec![
        Figure {
            name: "p99 of `SendMessage` beside 10,000 held connections and 8 floods".to_owned(),
            target: "≤ 2×".to_owned(),
            attache: format!("{:.2} ms", median_of(&rounds, |(_, attacked)| p99(attacked))),
            compared: Some(format!("alone {:.2} ms", median_of(&rounds, |(calm, _)| p99(calm)))),
            ratio: Some(ratio),
            load_cpu: Some(median_of(&rounds, |(_, attacked)| attacked.load_share())),
            outcome: TargetOutcome::at_most(ratio, 2.0),
        },
        Figure {
            name: "most resident memory under that attack".to_owned(),
            target: "bounded".to_owned(),
            attache: format!("{peak:.0} MB"),
            compared: None,
            ratio: None,
            load_cpu: None,
            outcome: TargetOutcome::Information,
        },
    ])
}
