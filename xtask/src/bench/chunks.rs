//! Measures the agent's overhead for each chunk of a model's answer.

use super::figure::{Figure, TargetOutcome};
use super::load::Measurement;
use super::model::{AnswerPlan, Model};
use super::statistics::median_of;
use super::workbench::{Store, Workbench};

/// Pieces of one answer.
const CHUNKS: usize = 2000;

/// How the pieces come.
struct Pace {
    name: &'static str,
    interval_ms: usize,
    tasks: usize,
    /// Tasks at work at the same time.
    connections: usize,
    /// Between two looks at a task: looking costs as much as a few chunks.
    look_ms: usize,
}

/// Each piece comes alone, as from a real model: a wake-up, a read and a commit of its own.
const LIVE: Pace = Pace { name: "one each ms", interval_ms: 1, tasks: 10, connections: 10, look_ms: 500 };
/// The model is always ahead.
const BURST: Pace = Pace { name: "in a burst", interval_ms: 0, tasks: 40, connections: 4, look_ms: 100 };

struct Round {
    memory: Measurement,
    sqlite: Measurement,
    bare: Measurement,
}

pub(super) fn measure(workbench: &Workbench) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for pace in [LIVE, BURST] {
        let rounds = (0..workbench.rounds.min(3)).map(|_| round(workbench, &pace));
        let rounds = rounds.collect::<Result<Vec<_>, _>>()?;
        figures.push(figure("memory", 10.0, &pace, &rounds, |round| &round.memory));
        figures.push(figure("SQLite at FULL", 40.0, &pace, &rounds, |round| &round.sqlite));
    }
    Ok(figures)
}

fn round(workbench: &Workbench, pace: &Pace) -> Result<Round, String> {
    let model = workbench.start_model()?;
    let memory = agent(workbench, &model, Store::Memory, pace)?;
    let bare = bare(workbench, &model, pace)?;
    let sqlite = agent(workbench, &model, Store::Sqlite("chunks.sqlite"), pace)?;
    Ok(Round { memory, sqlite, bare })
}

/// No client reads the stream.
fn agent(workbench: &Workbench, model: &Model, store: Store<'_>, pace: &Pace) -> Result<Measurement, String> {
    let server = workbench.start_agent(store, model, &workbench.new_folder()?)?;
    model.plan(AnswerPlan { chunks: CHUNKS, ..AnswerPlan::default() })?;
    workbench.measure(&server, &["work", "--text", "warm up"])?;
    model.plan(AnswerPlan { chunks: CHUNKS, interval_ms: pace.interval_ms, ..AnswerPlan::default() })?;
    let (tasks, connections) = (pace.tasks.to_string(), pace.connections.to_string());
    let look_ms = pace.look_ms.to_string();
    let arguments =
        ["work", "--text", "go", "--tasks", &tasks, "--connections", &connections, "--look-ms", &look_ms];
    let measured = workbench.measure(&server, &arguments)?;
    let asked = model.seen()?.rounds;
    if asked == pace.tasks as f64 {
        Ok(measured)
    } else {
        Err(format!("the model was asked {asked} times for {} tasks", pace.tasks))
    }
}

fn bare(workbench: &Workbench, model: &Model, pace: &Pace) -> Result<Measurement, String> {
    model.plan(AnswerPlan { chunks: CHUNKS, interval_ms: pace.interval_ms, ..AnswerPlan::default() })?;
    let (chunks, tasks) = (CHUNKS.to_string(), pace.tasks.to_string());
    let connections = pace.connections.to_string();
    let arguments =
        ["read-model", "--expect-events", &chunks, "--requests", &tasks, "--connections", &connections];
    workbench.measure(&model.server, &arguments)
}

fn figure(
    store: &str,
    limit: f64,
    pace: &Pace,
    rounds: &[Round],
    pick: fn(&Round) -> &Measurement,
) -> Figure {
    let chunks = (pace.tasks * CHUNKS) as f64;
    let gross = |round: &Round| pick(round).server_cpu * 1e6 / chunks;
    let bare = |round: &Round| round.bare.number("load_cpu_seconds") * 1e6 / chunks;
    let overhead = median_of(rounds, |round| gross(round) - bare(round));
    Figure {
        name: format!("agent's CPU per model chunk, {}, {store}", pace.name),
        target: format!("≤ {limit:.0} µs"),
        attache: format!("{overhead:.1} µs ({:.1} µs with the reading)", median_of(rounds, gross)),
        compared: Some(format!("bare reader {:.1} µs", median_of(rounds, bare))),
        ratio: None,
        load_cpu: Some(median_of(rounds, |round| pick(round).load_share())),
        outcome: TargetOutcome::at_most(overhead, limit),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_bare_reader_needs_is_not_counted() {
        let measured = |cpu| Measurement { report: json!({ "load_cpu_seconds": 0.1 }), server_cpu: cpu };
        let rounds = [Round { memory: measured(0.4), sqlite: measured(1.0), bare: measured(0.0) }];
        let of = |pick| figure("any", 10.0, &LIVE, &rounds, pick);
        let memory = of(|round| &round.memory);
        assert_eq!(memory.attache, "15.0 µs (20.0 µs with the reading)");
        assert_eq!(memory.compared.unwrap(), "bare reader 5.0 µs");
        assert_eq!(memory.outcome, TargetOutcome::Miss);
    }
}
