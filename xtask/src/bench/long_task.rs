//! Compares the cost of the 100th and the 2000th answer of one task.

use super::figure::{Figure, TargetOutcome};
use super::model::{AnswerPlan, Model};
use super::server::Server;
use super::workbench::{Store, Workbench};

/// A turn stops after this many answers, and a person says that it may go on.
const TURN_ROUNDS: usize = 100;
const TURNS: usize = 20;
const WAITING: &str = "TASK_STATE_INPUT_REQUIRED";

/// So dear that a conversation fills the window many times over before it is long.
const COUNTED_TOKENS_PER_BYTE: f64 = 8.0;
/// Gemini's.
const WINDOW: f64 = 1_048_576.0;

#[derive(Debug, Clone, Copy, Default)]
struct HalfCost {
    seconds: f64,
    cpu: f64,
}

struct LongTaskCost {
    halves: [HalfCost; 2],
    peak: f64,
    summaries: f64,
    largest_tokens: f64,
}

pub(super) fn measure(workbench: &Workbench) -> Result<Vec<Figure>, String> {
    let sqlite = run(workbench, Store::Sqlite("long.sqlite"), 0.0)?;
    let memory = run(workbench, Store::Memory, 0.0)?;
    let summed_up = run(workbench, Store::Sqlite("summed-up.sqlite"), COUNTED_TOKENS_PER_BYTE)?;
    Ok(vec![
        linear("2,000 answers in one task, SQLite", &sqlite),
        linear("2,000 answers in one task, memory", &memory),
        linear("2,000 answers in one task that is summed up, SQLite", &summed_up),
        resident(&sqlite, &memory, &summed_up),
        goes_on(&summed_up),
    ])
}

fn run(workbench: &Workbench, store: Store<'_>, tokens_per_byte: f64) -> Result<LongTaskCost, String> {
    let model = workbench.start_model()?;
    let server = workbench.start_agent(store, &model, &workbench.new_folder()?)?;
    model.plan(AnswerPlan {
        tool: "read_file",
        calls: 1,
        call_rounds: usize::MAX >> 1,
        expect: Workbench::LINE,
        tokens_per_byte,
        ..AnswerPlan::default()
    })?;
    let mut halves = [HalfCost::default(); 2];
    let mut task = None;
    for turn in 0..TURNS {
        let (id, seconds, cpu) = one_turn(workbench, &server, task.as_deref())?;
        task = Some(id);
        let half = &mut halves[turn * 2 / TURNS];
        half.seconds += seconds;
        half.cpu += cpu;
        check_rounds(&model, (turn + 1) * TURN_ROUNDS)?;
    }
    let seen = model.seen()?;
    Ok(LongTaskCost {
        halves,
        peak: server.peak_resident_bytes()? / 1e6,
        summaries: seen.summaries,
        largest_tokens: seen.largest_tokens,
    })
}

/// The task, and the wall time and server CPU of the turn.
fn one_turn(
    workbench: &Workbench,
    server: &Server,
    task: Option<&str>,
) -> Result<(String, f64, f64), String> {
    let mut arguments = vec!["work", "--text", "continue", "--expect", WAITING, "--look-ms", "5"];
    if let Some(task) = task {
        arguments.extend(["--task", task]);
    }
    let measured = workbench.measure(server, &arguments)?;
    let id = measured.report["task"].as_str().ok_or("the task has no id")?.to_owned();
    Ok((id, measured.number("elapsed_seconds"), measured.server_cpu))
}

fn check_rounds(model: &Model, wanted: usize) -> Result<(), String> {
    let rounds = model.seen()?.rounds;
    if rounds == wanted as f64 {
        Ok(())
    } else {
        Err(format!("the model was asked {rounds} times instead of {wanted}"))
    }
}

fn linear(name: &str, long: &LongTaskCost) -> Figure {
    let [first, second] = long.halves;
    let per_round = |seconds: f64| seconds * 1e6 / (TURNS * TURN_ROUNDS / 2) as f64;
    let (time, cpu) = (second.seconds / first.seconds, second.cpu / first.cpu);
    Figure {
        name: name.to_owned(),
        target: "second thousand ≤ 1.25× the first, in time and CPU".to_owned(),
        attache: format!(
            "{:.0} µs and {:.0} µs CPU for each of the second thousand: {time:.2}× and {cpu:.2}×",
            per_round(second.seconds),
            per_round(second.cpu)
        ),
        compared: Some(format!(
            "the first thousand: {:.0} µs, {:.0} µs CPU",
            per_round(first.seconds),
            per_round(first.cpu)
        )),
        ratio: Some(time.max(cpu)),
        load_cpu: None,
        outcome: TargetOutcome::at_most(time.max(cpu), 1.25),
    }
}

fn resident(sqlite: &LongTaskCost, memory: &LongTaskCost, summed_up: &LongTaskCost) -> Figure {
    Figure {
        name: "peak resident memory of a task of 2,000 answers".to_owned(),
        target: "< 64 MB".to_owned(),
        attache: format!(
            "{:.0} MB with SQLite, {:.0} MB with the log in memory too, {:.0} MB when summed up",
            sqlite.peak, memory.peak, summed_up.peak
        ),
        compared: None,
        ratio: None,
        load_cpu: None,
        outcome: TargetOutcome::when([sqlite, memory, summed_up].iter().all(|long| long.peak < 64.0)),
    }
}

fn goes_on(long: &LongTaskCost) -> Figure {
    let (summaries, most) = (long.summaries, long.largest_tokens / 1000.0);
    Figure {
        name: "a task that says more than the model's window takes".to_owned(),
        target: "goes on, and no prompt exceeds the window".to_owned(),
        attache: format!("2,000 answers, {summaries:.0} summaries; the longest prompt had {most:.0}k tokens"),
        compared: Some(format!("window {:.0}k tokens", WINDOW / 1000.0)),
        ratio: None,
        load_cpu: None,
        outcome: TargetOutcome::when(summaries >= 3.0 && long.largest_tokens < WINDOW),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worse_of_time_and_cpu_decides() {
        let half = |seconds, cpu| HalfCost { seconds, cpu };
        let long = |second| LongTaskCost {
            halves: [half(1.0, 0.5), second],
            peak: 40.0,
            summaries: 4.0,
            largest_tokens: 1e5,
        };
        assert_eq!(linear("x", &long(half(1.2, 0.6))).outcome, TargetOutcome::Pass);
        assert_eq!(linear("x", &long(half(1.0, 0.7))).outcome, TargetOutcome::Miss);
        assert_eq!(linear("x", &long(half(1.3, 0.5))).outcome, TargetOutcome::Miss);
    }
}
