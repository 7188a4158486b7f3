//! The agent's search against `rg` on the same tree, for the same words.

use std::process::Command;
use std::time::Instant;

use super::figure::{Figure, TargetOutcome};
use super::kernel;
use super::model::{AnswerPlan, Model};
use super::server::Server;
use super::statistics::median_of;
use super::tree;
use super::workbench::{Store, Workbench};
use crate::process;

/// Searches in one task.
const SEARCHES: usize = tree::KEYWORDS;

#[derive(Debug, Clone, Copy)]
struct Cost {
    seconds: f64,
    cpu: f64,
}

struct Round {
    attache: Cost,
    rg: Cost,
}

pub(super) fn measure(workbench: &Workbench) -> Result<Vec<Figure>, String> {
    if !process::works("rg", &["--version"]) {
        eprintln!("bench: search is left out: there is no `rg`, which is Debian's package ripgrep");
        return Ok(Vec::new());
    }
    let folder = tree::write(&workbench.folder)?;
    let model = workbench.start_model()?;
    let server = workbench.start_agent(Store::Memory, &model, &folder)?;
    // Warm: the files are in the kernel's memory from here on.
    attache(workbench, &server, &model)?;
    let mut rounds = Vec::new();
    for _ in 0..workbench.rounds.min(3) {
        rounds.push(Round { attache: attache(workbench, &server, &model)?, rg: rg(&folder)? });
    }
    Ok(vec![
        figure("CPU per search", &rounds, |cost| cost.cpu),
        figure("time per search", &rounds, |cost| cost.seconds),
    ])
}

/// One search, without what the model's answer and the call around it cost.
fn attache(workbench: &Workbench, server: &Server, model: &Model) -> Result<Cost, String> {
    let searching = task(workbench, server, model, "grep_search", "Found")?;
    let reading = task(workbench, server, model, "read_file", Workbench::LINE)?;
    Ok(Cost { seconds: searching.seconds - reading.seconds, cpu: searching.cpu - reading.cpu })
}

/// What one of a task's calls cost.
fn task(
    workbench: &Workbench,
    server: &Server,
    model: &Model,
    tool: &str,
    expect: &str,
) -> Result<Cost, String> {
    model.plan(AnswerPlan { tool, calls: 1, call_rounds: SEARCHES, expect, ..AnswerPlan::default() })?;
    let measured = workbench.measure(server, &["work", "--text", "go", "--look-ms", "5"])?;
    model.seen()?;
    let each = |seconds: f64| seconds / SEARCHES as f64;
    Ok(Cost { seconds: each(measured.number("elapsed_seconds")), cpu: each(measured.server_cpu) })
}

/// The same searches, each a process as people start it.
fn rg(folder: &str) -> Result<Cost, String> {
    let (started, cpu) = (Instant::now(), kernel::children_cpu_seconds()?);
    for keyword in 0..SEARCHES {
        let mut command = Command::new("rg");
        // What the tool does: any case, Windows line ends too, hidden files too, this tree's rules and no others'.
        command.args(["--ignore-case", "--line-number", "--crlf", "--hidden"]);
        command.args(["--no-require-git", "--no-ignore-parent", "--no-ignore-global", "--no-config"]);
        command.args(["--regexp", &tree::keyword(keyword), "."]).current_dir(folder);
        let lines = process::stdout_of(&mut command)?.lines().count();
        if lines != tree::PLACES {
            return Err(format!(
                "`{}` found {lines} lines instead of {}",
                process::line(&command),
                tree::PLACES
            ));
        }
    }
    let each = |seconds: f64| seconds / SEARCHES as f64;
    Ok(Cost {
        seconds: each(started.elapsed().as_secs_f64()),
        cpu: each(kernel::children_cpu_seconds()? - cpu),
    })
}

fn figure(name: &str, rounds: &[Round], pick: fn(&Cost) -> f64) -> Figure {
    let ratio = median_of(rounds, |round| pick(&round.attache) / pick(&round.rg));
    let milliseconds = |cost: fn(&Round) -> &Cost| 1000.0 * median_of(rounds, |round| pick(cost(round)));
    Figure {
        name: format!("{name} of {} files, {} MB", tree::FILES, tree::FILES * tree::FILE_BYTES / 1_000_000),
        target: "≤ 1.2×".to_owned(),
        attache: format!("{:.1} ms", milliseconds(|round| &round.attache)),
        compared: Some(format!("rg {:.1} ms", milliseconds(|round| &round.rg))),
        ratio: Some(ratio),
        load_cpu: None,
        outcome: TargetOutcome::at_most(ratio, 1.2),
    }
}
