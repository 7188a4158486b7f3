//! Measures the time from the command to the first card served, alternating both servers.

use std::time::Instant;

use super::super::model::Model;
use super::super::server::Server;
use super::super::statistics::median_of;
use super::super::workbench::Workbench;
use super::peer::{Peer, start_ours};
use super::table::{Row, Target};

const CARD: &str = "/.well-known/agent-card.json";

/// Milliseconds.
struct Pair {
    attache: f64,
    peer: f64,
}

pub(super) fn measure(workbench: &Workbench, peer: &Peer) -> Result<Vec<Row>, String> {
    let model = workbench.start_model()?;
    let folder = workbench.new_folder()?;
    // Once each for what only the first start does: a new store, files that are not in memory yet.
    pair(workbench, peer, &model, &folder)?;
    let pairs = (0..workbench.rounds).map(|_| pair(workbench, peer, &model, &folder));
    let pairs = pairs.collect::<Result<Vec<_>, String>>()?;
    let times = median_of(&pairs, |pair| pair.peer / pair.attache);
    Ok(vec![Row {
        name: "cold start to first served card".to_owned(),
        target: Target::times(40.0),
        attache: format!("{:.1} ms", median_of(&pairs, |pair| pair.attache)),
        peer: format!("{:.0} ms", median_of(&pairs, |pair| pair.peer)),
        times,
        events: None,
    }])
}

fn pair(workbench: &Workbench, peer: &Peer, model: &Model, folder: &str) -> Result<Pair, String> {
    Ok(Pair {
        peer: timed(|| peer.start(model))?,
        attache: timed(|| start_ours(workbench, "against-start.sqlite", model, folder))?,
    })
}

fn timed(start: impl FnOnce() -> Result<Server, String>) -> Result<f64, String> {
    let started = Instant::now();
    let server = start()?;
    server.get(CARD)?;
    let milliseconds = started.elapsed().as_secs_f64() * 1000.0;
    server.stop()?;
    Ok(milliseconds)
}
