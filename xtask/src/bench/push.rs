//! Measures how fast push notifications arrive, in order.

use super::figure::{Figure, TargetOutcome};
use super::load::Measurement;
use super::script;
use super::statistics::median_of;
use super::workbench::{ScriptPace, Store, Workbench};

const CONFIGS: &str = "32";
const EVENTS: usize = 1000;
const TARGET: f64 = 2000.0;

pub(super) fn measure(workbench: &Workbench) -> Result<Vec<Figure>, String> {
    let memory = rounds(workbench, Store::Memory)?;
    let sqlite = rounds(workbench, Store::Sqlite("push.sqlite"))?;
    Ok(vec![
        figure("Push notifications to 32 receivers in order, memory", &memory),
        figure("Push notifications to 32 receivers in order, SQLite at FULL", &sqlite),
    ])
}

fn rounds(workbench: &Workbench, store: Store<'_>) -> Result<Vec<Measurement>, String> {
    // Every piece of an artifact is delivered, to a receiver on this machine.
    let settings = "[push]\nartifacts = true\nallow_private_addresses = [\"127.0.0.0/8\"]\n";
    let server = workbench.start_attache_with(settings, store, ScriptPace::Streams)?;
    let text = script::pieces(EVENTS, 0);
    let arguments = [
        "push",
        "--configs",
        CONFIGS,
        "--opening-text",
        script::QUESTION,
        "--text",
        &text,
        "--until",
        "TASK_STATE_COMPLETED",
    ];
    (0..workbench.rounds.min(3)).map(|_| workbench.measure(&server, &arguments)).collect()
}

fn figure(name: &str, rounds: &[Measurement]) -> Figure {
    let rate = median_of(rounds, |round| round.per_second("deliveries"));
    let micros = median_of(rounds, |round| round.cpu_micros_per("deliveries"));
    Figure {
        name: name.to_owned(),
        target: format!("≥ {TARGET:.0}/s"),
        attache: format!("{rate:.0}/s, {micros:.0} µs CPU each"),
        compared: None,
        ratio: None,
        load_cpu: Some(median_of(rounds, Measurement::load_share)),
        outcome: TargetOutcome::at_least(rate, TARGET),
    }
}
