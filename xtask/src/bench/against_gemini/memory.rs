//! Measures the memory that finished tasks take.

use std::time::Duration;

use super::super::server::Server;
use super::super::workbench::Workbench;
use super::Kind;
use super::comparison::ComparisonSetup;
use super::peer::start_ours;
use super::table::{Row, Target};

/// Where both are compared, and from where to where what grows is looked at.
const COMPARED: usize = 1000;
const LATER: usize = 2000;

/// attache has caches of a bounded size. By then they are full, and nothing may grow any more.
const FULL: usize = 10_000;
const MUCH_LATER: usize = 30_000;

/// What a task may leave behind for ever: less than this is what pages of memory happen to be touched.
const NOTHING_BYTES: f64 = 100.0;

const CLIENTS: usize = 32;

/// Memory that is given back is given back by then.
const SETTLE_DELAY: Duration = Duration::from_secs(2);

pub(super) struct Memory {
    pub(super) ours: AttacheMemory,
    pub(super) theirs: PeerMemory,
}

/// Resident bytes after so many tasks.
pub(super) struct AttacheMemory {
    compared: f64,
    later: f64,
    full: f64,
    much_later: f64,
}

pub(super) struct PeerMemory {
    compared: f64,
    later: f64,
}

/// `done`: tasks that it has had already.
pub(super) fn of_theirs(
    arena: &ComparisonSetup<'_>,
    server: &Server,
    done: usize,
) -> Result<PeerMemory, String> {
    let compared = after(arena, server, done, COMPARED)?;
    Ok(PeerMemory { compared, later: after(arena, server, COMPARED, LATER)? })
}

/// A fresh server, because attache has had far more tasks in the rounds.
pub(super) fn of_ours(workbench: &Workbench, arena: &ComparisonSetup<'_>) -> Result<AttacheMemory, String> {
    let store = if arena.kind == Kind::Text { "memory-text.sqlite" } else { "memory-read-file.sqlite" };
    let server = start_ours(workbench, store, &arena.model, &arena.folder)?;
    Ok(AttacheMemory {
        compared: after(arena, &server, 0, COMPARED)?,
        later: after(arena, &server, COMPARED, LATER)?,
        full: after(arena, &server, LATER, FULL)?,
        much_later: after(arena, &server, FULL, MUCH_LATER)?,
    })
}

fn after(arena: &ComparisonSetup<'_>, server: &Server, done: usize, tasks: usize) -> Result<f64, String> {
    if tasks > done {
        arena.tasks(server, CLIENTS, tasks - done)?;
    }
    std::thread::sleep(SETTLE_DELAY);
    server.resident_bytes()
}

impl Memory {
    pub(super) fn rows(&self, kind: Kind) -> [Row; 2] {
        let Self { ours, theirs } = self;
        let megabytes = |bytes: f64| format!("{:.1} MB", bytes / 1e6);
        let their_growth = (theirs.later - theirs.compared) / (LATER - COMPARED) as f64;
        let early = (ours.later - ours.compared) / (LATER - COMPARED) as f64;
        let growth = (ours.much_later - ours.full) / (MUCH_LATER - FULL) as f64;
        [
            Row {
                name: format!("resident memory after 1,000 tasks: {}", kind.name()),
                target: Target::times(15.0),
                attache: megabytes(ours.compared),
                peer: megabytes(theirs.compared),
                times: theirs.compared / ours.compared.max(1.0),
                events: None,
            },
            Row {
                name: format!("what a finished task leaves in memory: {}", kind.name()),
                target: Target::Other { text: "nothing".to_owned(), reached: growth < NOTHING_BYTES },
                attache: format!(
                    "{growth:.0} bytes from the 10,000th to the 30,000th ({} and {}); {:.1} KB from the 1,000th to \
                     the 2,000th, while caches fill",
                    megabytes(ours.full),
                    megabytes(ours.much_later),
                    early / 1e3,
                ),
                peer: format!("{:.1} KB from the 1,000th to the 2,000th", their_growth / 1e3),
                times: their_growth / growth.max(1.0),
                events: None,
            },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_for_ever_is_missed_and_what_fills_is_not() {
        let theirs = || PeerMemory { compared: 600e6, later: 750e6 };
        let filling = AttacheMemory { compared: 30e6, later: 35e6, full: 50e6, much_later: 50.4e6 };
        let [after, left] = Memory { ours: filling, theirs: theirs() }.rows(Kind::Text);
        assert_eq!(after.times, 20.0);
        assert!(!after.is_missed() && !left.is_missed(), "{left:?}");
        assert!(left.attache.contains("20 bytes") && left.attache.contains("5.0 KB"), "{left:?}");
        let growing = AttacheMemory { compared: 30e6, later: 35e6, full: 50e6, much_later: 75e6 };
        let [_, left] = Memory { ours: growing, theirs: theirs() }.rows(Kind::Text);
        assert!(left.is_missed(), "{left:?}");
    }
}
