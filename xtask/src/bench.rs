//! `cargo xtask bench`: measures attache against bare axum on this machine and prints a table.
//!
//! Promises: builds with the profile `dist`, servers and load generator as separate processes, comparisons that
//! alternate within one run and are judged by the median of their ratios. It makes no promise about
//! absolute numbers on another machine. The servers' own work is not here (`attache-bench`), nor is
//! the reading of the figures (`docs/benchmarks.md`).

mod against_gemini;
mod agent_files;
mod callgrind;
mod calls;
mod chunks;
mod delegation;
mod document;
mod figure;
mod first_event;
mod hostile;
mod kernel;
mod load;
mod long_task;
mod machine;
mod many;
mod model;
mod options;
mod push;
mod script;
mod search;
mod send;
mod server;
mod sockets;
mod start;
mod statistics;
mod stream;
mod tree;
mod workbench;

use std::process::ExitCode;
use std::time::Instant;

use crate::workspace::Workspace;
use document::Section;
use figure::{Figure, TargetOutcome};
use options::Options;
use workbench::Workbench;

/// One part of the run; `--only` picks by name.
type Part = (&'static str, fn(&Workbench) -> Result<Vec<Figure>, String>);

const PARTS: [Part; 17] = [
    ("start", start::measure),
    ("agent-files", agent_files::measure),
    ("send", send::measure),
    ("stream", stream::live),
    ("growth", stream::growth),
    ("first-event", first_event::measure),
    ("readers", many::readers),
    ("sockets", sockets::sockets),
    ("idle-streams", many::idle_streams),
    ("stored-tasks", many::stored_tasks),
    ("chunks", chunks::measure),
    ("calls", calls::measure),
    ("delegation", delegation::measure),
    ("long-task", long_task::measure),
    ("search", search::measure),
    ("hostile", hostile::measure),
    ("push", push::measure),
];

/// Succeeds when everything could be measured, whether or not every target was reached.
pub(crate) fn run(arguments: Vec<String>) -> Result<ExitCode, String> {
    let names = PARTS.map(|(name, _)| name);
    let options = Options::parse(arguments, &names)?;
    let workspace = Workspace::load()?;
    let workbench = Workbench::build(&workspace, &options)?;
    if options.callgrind {
        println!("{}", callgrind::measure(&workbench)?);
        return Ok(ExitCode::SUCCESS);
    }
    if options.against_gemini {
        against_gemini::run(&workspace, &workbench, &options)?;
        return Ok(ExitCode::SUCCESS);
    }

    let started = Instant::now();
    let (mut figures, mut failures) = (Vec::new(), Vec::new());
    for (name, measure) in PARTS.into_iter().filter(|(name, _)| options.wants(name)) {
        eprintln!("bench: {name}");
        let part_started = Instant::now();
        match measure(&workbench) {
            Ok(measured) => figures.extend(measured),
            // The other parts are still worth their time.
            Err(message) => failures.push(format!("{name}: {message}")),
        }
        eprintln!("bench: {name} took {:.0} s", part_started.elapsed().as_secs_f64());
    }
    let table = figure::table(&figures);
    let facts = machine::facts(started.elapsed())?;
    println!("{table}\n{facts}");
    let missed = figures.iter().filter(|figure| figure.outcome == TargetOutcome::Miss).count();
    println!("{} figures, {missed} missed", figures.len());
    if !failures.is_empty() {
        return Err(format!("not everything could be measured\n\n{}", failures.join("\n")));
    }
    if options.write {
        document::write(&workspace.root, Section::Figures, &format!("{table}\n{facts}"))?;
    }
    Ok(ExitCode::SUCCESS)
}
