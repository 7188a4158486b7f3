//! Runs the same tasks on both servers alternately: CPU, rate and memory.

use super::super::load::Measurement;
use super::super::model::{AnswerPlan, Model};
use super::super::server::Server;
use super::super::statistics::median_of;
use super::super::workbench::Workbench;
use super::memory::{self, Memory};
use super::peer::{Peer, start_ours};
use super::table::{Row, Target};
use super::{CHUNKS, Kind};

/// Clients at the same time, each on a connection that stays.
const CLIENTS: usize = 32;

/// Tasks of the other server in one run of all rounds, so that with the warming up there are a thousand.
const WARM_UP: usize = 100;
const TASKS_OF_ONE_CLIENT: usize = 200;
const TASKS_OF_MANY_CLIENTS: usize = 700;

/// attache is quick, and the kernel counts CPU in hundredths of a second: it gets so many more tasks each time.
const ATTACHE_TASKS_FACTOR: usize = 25;

pub(super) struct Comparison {
    kind: Kind,
    rounds: Vec<Round>,
    memory: Memory,
}

/// What both did, with one client and with many.
struct Round {
    alone: Pair,
    together: Pair,
}

struct Pair {
    attache: Measurement,
    peer: Measurement,
}

impl Comparison {
    pub(super) fn run(workbench: &Workbench, peer: &Peer, kind: Kind) -> Result<Self, String> {
        let arena = ComparisonSetup::new(workbench, kind)?;
        let theirs = peer.start(&arena.model)?;
        let ours = start_ours(workbench, kind.store(), &arena.model, &arena.folder)?;
        arena.tasks(&theirs, CLIENTS, WARM_UP)?;
        arena.tasks(&ours, CLIENTS, WARM_UP * ATTACHE_TASKS_FACTOR)?;
        let (alone, together) =
            (TASKS_OF_ONE_CLIENT / workbench.rounds, TASKS_OF_MANY_CLIENTS / workbench.rounds);
        let mut rounds = Vec::new();
        for _ in 0..workbench.rounds {
            let pair = |clients, tasks| -> Result<Pair, String> {
                Ok(Pair {
                    peer: arena.tasks(&theirs, clients, tasks)?,
                    attache: arena.tasks(&ours, clients, tasks * ATTACHE_TASKS_FACTOR)?,
                })
            };
            rounds.push(Round { alone: pair(1, alone)?, together: pair(CLIENTS, together)? });
        }
        let done = WARM_UP + workbench.rounds * (alone + together);
        let theirs = memory::of_theirs(&arena, &theirs, done)?;
        drop(ours);
        let ours = memory::of_ours(workbench, &arena)?;
        Ok(Self { kind, rounds, memory: Memory { ours, theirs } })
    }

    pub(super) fn rows(&self) -> Vec<Row> {
        let mut rows = vec![
            self.row("CPU per task, one client", Target::Nothing, |round| &round.alone, Scale::Cpu),
            self.row("CPU per task, 32 clients", self.kind.cpu_target(), |round| &round.together, Scale::Cpu),
            self.row("tasks/s, 32 clients", Target::times(20.0), |round| &round.together, Scale::Rate),
            self.row("median time of a task, one client", Target::Nothing, |round| &round.alone, Scale::Time),
        ];
        rows.extend(self.memory.rows(self.kind));
        rows
    }

    fn row(&self, name: &str, target: Target, pair: impl Fn(&Round) -> &Pair, scale: Scale) -> Row {
        let events = |measured: &Measurement| measured.number("events") / measured.number("streams").max(1.0);
        Row {
            name: format!("{name}: {}", self.kind.name()),
            target,
            attache: scale.shown(median_of(&self.rounds, |round| scale.of(&pair(round).attache))),
            peer: scale.shown(median_of(&self.rounds, |round| scale.of(&pair(round).peer))),
            times: median_of(&self.rounds, |round| scale.times(pair(round))),
            events: Some((
                median_of(&self.rounds, |round| events(&pair(round).attache)),
                median_of(&self.rounds, |round| events(&pair(round).peer)),
            )),
        }
    }
}

/// What a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    Cpu,
    Rate,
    Time,
}

impl Scale {
    fn of(self, measured: &Measurement) -> f64 {
        match self {
            Self::Cpu => measured.cpu_micros_per("streams") / 1000.0,
            Self::Rate => measured.per_second("streams"),
            Self::Time => measured.number("whole_stream/p50_us") / 1000.0,
        }
    }

    fn shown(self, value: f64) -> String {
        match self {
            Self::Cpu | Self::Time => format!("{value:.2} ms"),
            Self::Rate => format!("{value:.0}/s"),
        }
    }

    fn times(self, pair: &Pair) -> f64 {
        let (ours, theirs) = (self.of(&pair.attache), self.of(&pair.peer));
        match self {
            Self::Cpu | Self::Time => theirs / ours.max(1e-9),
            Self::Rate => ours / theirs.max(1e-9),
        }
    }
}

impl Kind {
    /// With 32 clients. One client mostly waits, so its ratio is reported without a target.
    fn cpu_target(self) -> Target {
        let least = match self {
            Self::Text => 30.0,
            Self::ReadFile => 25.0,
        };
        Target::Times { least, moonshot: Some(50.0) }
    }

    fn store(self) -> &'static str {
        match self {
            Self::Text => "against-text.sqlite",
            Self::ReadFile => "against-read-file.sqlite",
        }
    }
}

/// What both servers need around them.
pub(super) struct ComparisonSetup<'a> {
    workbench: &'a Workbench,
    pub(super) model: Model,
    pub(super) folder: String,
    pub(super) kind: Kind,
}

impl<'a> ComparisonSetup<'a> {
    fn new(workbench: &'a Workbench, kind: Kind) -> Result<Self, String> {
        Ok(Self { workbench, model: workbench.start_model()?, folder: workbench.new_folder()?, kind })
    }

    /// Fails unless every task was answered as the model said, and the model asked no more often than is needed.
    pub(super) fn tasks(&self, server: &Server, clients: usize, tasks: usize) -> Result<Measurement, String> {
        let calls = self.kind.calls();
        self.model.plan(AnswerPlan {
            chunks: CHUNKS,
            tool: "read_file",
            calls: 1,
            call_rounds: calls,
            per_conversation: true,
            expect: if calls > 0 { Workbench::LINE } else { "" },
            ..AnswerPlan::default()
        })?;
        let numbers = [clients, tasks, CHUNKS, calls].map(|number| number.to_string());
        let [clients, count, chunks, calls] = &numbers;
        let mut arguments = vec!["--time-limit-seconds", "600", "converse", "--workspace", &self.folder];
        arguments.extend(["--connections", clients, "--tasks", count, "--chunks", chunks, "--calls", calls]);
        if self.kind.calls() > 0 {
            arguments.push("--auto-execute");
        }
        let measured = self.workbench.measure(server, &arguments)?;
        let (asked, wanted) = (self.model.seen()?.rounds, tasks * (self.kind.calls() + 1));
        if asked == wanted as f64 {
            Ok(measured)
        } else {
            Err(format!("the model was asked {asked} times instead of {wanted}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn measured(streams: u64, seconds: f64, cpu: f64) -> Measurement {
        let report = json!({
            "streams": streams, "events": streams * 4, "elapsed_seconds": seconds,
            "whole_stream": { "p50_us": 500.0 },
        });
        Measurement { report, server_cpu: cpu }
    }

    #[test]
    fn less_cpu_and_more_tasks_are_better() {
        let pair = Pair { attache: measured(1000, 1.0, 0.5), peer: measured(100, 2.0, 1.5) };
        assert_eq!(Scale::Cpu.times(&pair), 30.0);
        assert_eq!(Scale::Rate.times(&pair), 20.0);
        assert_eq!(Scale::Time.times(&pair), 1.0);
        assert_eq!(Scale::Cpu.shown(Scale::Cpu.of(&pair.attache)), "0.50 ms");
    }
}
