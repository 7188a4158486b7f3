//! `cargo xtask bench --against-gemini`: attache beside the server it takes the place of, in one run.
//!
//! Both are asked the same by the same clients, have the same model and take turns; what they answer must be what the model
//! said. attache keeps every event on disk meanwhile, the other server nothing.

mod comparison;
mod memory;
mod peer;
mod start;
mod table;
mod wire;

use std::time::Instant;

use super::document::{self, Section};
use super::machine;
use super::options::Options;
use super::workbench::Workbench;
use crate::workspace::Workspace;
use comparison::Comparison;
use peer::Peer;
use table::Row;

/// Pieces of an answer in words.
const CHUNKS: usize = 20;

/// What both servers are asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// One answer in words.
    Text,
    /// The same after reading a file without approval.
    ReadFile,
}

pub(super) fn run(workspace: &Workspace, workbench: &Workbench, options: &Options) -> Result<(), String> {
    let started = Instant::now();
    let peer = Peer::install(workspace, workbench)?;
    let mut rows = part("start", || start::measure(workbench, &peer))?;
    for kind in [Kind::Text, Kind::ReadFile] {
        rows.extend(part(kind.name(), || Ok(Comparison::run(workbench, &peer, kind)?.rows()))?);
    }
    rows.extend(part("wire", || wire::measure(workbench, &peer))?);
    let facts = machine::facts(started.elapsed())?;
    let text = format!("{}\n{facts}", table::table(&rows));
    println!("{text}");
    println!("{} figures, {} missed", rows.len(), rows.iter().filter(|row| row.is_missed()).count());
    if options.write { document::write(&workspace.root, Section::AgainstGemini, &text) } else { Ok(()) }
}

fn part(name: &str, measure: impl FnOnce() -> Result<Vec<Row>, String>) -> Result<Vec<Row>, String> {
    eprintln!("bench: {name}");
    let started = Instant::now();
    let rows = measure().map_err(|message| format!("{name}: {message}"))?;
    eprintln!("bench: {name} took {:.0} s", started.elapsed().as_secs_f64());
    Ok(rows)
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Text => "20 pieces of text",
            Self::ReadFile => "a `read_file`, then 20 pieces of text",
        }
    }

    /// Tool calls of each task.
    fn calls(self) -> usize {
        match self {
            Self::Text => 0,
            Self::ReadFile => 1,
        }
    }
}
