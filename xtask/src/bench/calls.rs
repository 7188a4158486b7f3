//! Measures the overhead of a tool call.
//!
//! The tool reads a file of one line, so that its own work is next to nothing; it is counted all the same.

use super::figure::{Figure, TargetOutcome};
use super::load::Measurement;
use super::model::{AnswerPlan, Model};
use super::server::Server;
use super::statistics::median_of;
use super::workbench::{Store, Workbench};

/// Answers with calls in one task; with the last one, as many as a turn may have.
const CALL_ROUNDS: usize = 99;
const MANY: usize = 10;
const TASKS: usize = 5;
const SINGLE_ROUND_TASKS: usize = 200;

struct Round {
    /// CPU in microseconds: of an answer with one call and with many, of a task without calls.
    one: f64,
    many: f64,
    task: f64,
    load_share: f64,
}

impl Round {
    /// What each further call adds to an answer.
    fn call(&self) -> f64 {
        (self.many - self.one) / (MANY - 1) as f64
    }
}

pub(super) fn measure(workbench: &Workbench) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for (name, store) in [("memory", Store::Memory), ("SQLite at FULL", Store::Sqlite("calls.sqlite"))] {
        let rounds = (0..workbench.rounds.min(3)).map(|_| round(workbench, store));
        figures.extend(shown(name, &rounds.collect::<Result<Vec<_>, _>>()?));
    }
    Ok(figures)
}

fn round(workbench: &Workbench, store: Store<'_>) -> Result<Round, String> {
    let model = workbench.start_model()?;
    let server = workbench.start_agent(store, &model, &workbench.new_folder()?)?;
    tasks(workbench, &server, &model, 1, 1)?;
    let one = tasks(workbench, &server, &model, 1, TASKS)?;
    let many = tasks(workbench, &server, &model, MANY, TASKS)?;
    let task = single_rounds(workbench, &server, &model)?;
    let micros = |measured: &Measurement, count: usize| measured.server_cpu * 1e6 / count as f64;
    Ok(Round {
        one: micros(&one, TASKS * CALL_ROUNDS),
        many: micros(&many, TASKS * CALL_ROUNDS),
        task: micros(&task, SINGLE_ROUND_TASKS),
        load_share: one.load_share(),
    })
}

/// One task after the other, all their answers but the last with so many calls.
fn tasks(
    workbench: &Workbench,
    server: &Server,
    model: &Model,
    calls: usize,
    tasks: usize,
) -> Result<Measurement, String> {
    model.plan(AnswerPlan {
        tool: "read_file",
        calls,
        call_rounds: CALL_ROUNDS,
        expect: Workbench::LINE,
        ..AnswerPlan::default()
    })?;
    let arguments = ["work", "--text", "go", "--tasks", &tasks.to_string()];
    let measured = workbench.measure(server, &arguments)?;
    let (asked, wanted) = (model.seen()?.rounds, tasks * (CALL_ROUNDS + 1));
    if asked == wanted as f64 {
        Ok(measured)
    } else {
        Err(format!("the model was asked {asked} times instead of {wanted}"))
    }
}

fn single_rounds(workbench: &Workbench, server: &Server, model: &Model) -> Result<Measurement, String> {
    model.plan(AnswerPlan { chunks: 1, ..AnswerPlan::default() })?;
    let tasks = SINGLE_ROUND_TASKS.to_string();
    workbench.measure(server, &["work", "--text", "go", "--tasks", &tasks, "--look-ms", "5"])
}

fn shown(store: &str, rounds: &[Round]) -> [Figure; 2] {
    let call = median_of(rounds, Round::call);
    let answer = median_of(rounds, |round| round.one - round.call());
    let figure = |name: &str, attache, compared| Figure {
        name: format!("{name}, {store}"),
        target: "–".to_owned(),
        attache,
        compared: Some(compared),
        ratio: None,
        load_cpu: Some(median_of(rounds, |round| round.load_share)),
        outcome: TargetOutcome::Information,
    };
    let mut per_call = figure(
        "CPU per tool call, in answers of one to ten",
        format!("{call:.0} µs"),
        format!("the model's answer that asks for it {answer:.0} µs"),
    );
    per_call.target = "< 1 ms".to_owned();
    per_call.outcome = TargetOutcome::when(call < 1000.0);
    let per_answer = figure(
        "CPU per answer with one tool call",
        format!("{:.0} µs", median_of(rounds, |round| round.one)),
        format!(
            "with ten calls {:.0} µs; a whole task of one answer {:.0} µs",
            median_of(rounds, |round| round.many),
            median_of(rounds, |round| round.task)
        ),
    );
    [per_call, per_answer]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_what_an_answer_with_many_has_more() {
        let rounds = [Round { one: 700.0, many: 2500.0, task: 900.0, load_share: 0.1 }];
        let [call, answer] = shown("memory", &rounds);
        assert_eq!(call.attache, "200 µs");
        assert_eq!(call.compared.unwrap(), "the model's answer that asks for it 500 µs");
        assert_eq!(call.outcome, TargetOutcome::Pass);
        assert_eq!(answer.attache, "700 µs");
    }
}
