//! Measures the cost of an event for one reader: live, in a burst, and in a long task.

use super::figure::{Figure, TargetOutcome};
use super::load::Measurement;
use super::script::{self, STATUS_STEPS, STATUSES_PER_STEP};
use super::server::Server;
use super::statistics::{median, median_of};
use super::workbench::{ScriptPace, Store, Workbench};

/// Live: every event finds its reader waiting, and travels alone.
const LIVE_STREAMS: &str = "64";
const LIVE_EVENTS: usize = 500;
const LIVE_INTERVAL_MS: usize = 5;

/// Burst: the producer is always ahead of the reader.
const BURST_STREAMS: &str = "64";
const BURST_EVENTS: usize = 2000;

/// What attache shows beside the pieces: the task, the start of work, the end.
const FRAME_EVENTS: usize = 3;

/// A comparison with the bare server, each side in a process of its own.
struct Pair {
    attache: Measurement,
    bare: Measurement,
}

impl Pair {
    fn ratio(&self) -> f64 {
        self.attache.cpu_micros_per("events") / self.bare.cpu_micros_per("events")
    }
}

pub(super) fn live(workbench: &Workbench) -> Result<Vec<Figure>, String> {
    let live = pairs(workbench, LIVE_STREAMS, LIVE_EVENTS, LIVE_INTERVAL_MS)?;
    let burst = pairs(workbench, BURST_STREAMS, BURST_EVENTS, 0)?;
    let mut figures = vec![
        against_bare("CPU per live event (64 streams, one event each 5 ms)", &live),
        against_bare("CPU per event of a burst (64 streams × 2,000)", &burst),
    ];
    figures[1].target = "–".to_owned();
    figures[1].outcome = TargetOutcome::Information;
    let reads =
        median_of(&burst, |pair| pair.attache.number("events") / pair.attache.number("reads").max(1.0));
    figures.push(Figure {
        name: "events that arrive in one read, in a burst".to_owned(),
        target: "what is ready goes out in one write".to_owned(),
        attache: format!("{reads:.0}"),
        compared: None,
        ratio: None,
        load_cpu: None,
        outcome: TargetOutcome::Information,
    });
    Ok(figures)
}

fn pairs(
    workbench: &Workbench,
    streams: &str,
    events: usize,
    interval_ms: usize,
) -> Result<Vec<Pair>, String> {
    let text = script::pieces(events, interval_ms);
    let mut pairs = Vec::new();
    for _ in 0..workbench.rounds {
        let server = workbench.start_attache(Store::Memory, ScriptPace::Streams)?;
        // Warm, and to learn how long an event is.
        run(workbench, &server, "16", &["--text", &script::pieces(100, 0)])?;
        let attache = run(workbench, &server, streams, &["--text", &text])?;
        check_count(&attache, events + FRAME_EVENTS)?;
        drop(server);

        let bytes = attache.number("data_bytes") / attache.number("events").max(1.0);
        let path = format!("/sse?events={}&bytes={bytes:.0}", events + FRAME_EVENTS);
        let server = workbench.start_bare()?;
        run(workbench, &server, "16", &["--get", &path])?;
        let paced = format!("{path}&interval_ms={interval_ms}");
        let bare = run(workbench, &server, streams, &["--get", &paced])?;
        pairs.push(Pair { attache, bare });
    }
    Ok(pairs)
}

fn run(workbench: &Workbench, server: &Server, streams: &str, what: &[&str]) -> Result<Measurement, String> {
    let measured = workbench.measure(server, &[&["stream", "--streams", streams][..], what].concat())?;
    if measured.every_event_came_once() {
        Ok(measured)
    } else {
        Err(format!("events were lost or repeated: {}", measured.report))
    }
}

/// The snapshot may already hold the start of work, so one event fewer is as right.
fn check_count(measured: &Measurement, most: usize) -> Result<(), String> {
    let per_stream = measured.number("events") / measured.number("streams").max(1.0);
    if (most as f64 - 1.0..=most as f64).contains(&per_stream) {
        Ok(())
    } else {
        Err(format!("{per_stream} events per stream instead of {most}: {}", measured.report))
    }
}

fn against_bare(name: &str, pairs: &[Pair]) -> Figure {
    let ratio = median_of(pairs, Pair::ratio);
    let micros =
        |pick: fn(&Pair) -> &Measurement| median_of(pairs, |pair| pick(pair).cpu_micros_per("events"));
    Figure {
        name: name.to_owned(),
        target: "≤ 1.35×".to_owned(),
        attache: format!("{:.2} µs", micros(|pair| &pair.attache)),
        compared: Some(format!("bare SSE {:.2} µs", micros(|pair| &pair.bare))),
        ratio: Some(ratio),
        load_cpu: Some(median_of(pairs, |pair| pair.attache.load_share())),
        outcome: TargetOutcome::at_most(ratio, 1.35),
    }
}

/// Does the ten-thousandth event cost more than the hundredth?
pub(super) fn growth(workbench: &Workbench) -> Result<Vec<Figure>, String> {
    let few_statuses = STATUS_STEPS / 100;
    Ok(vec![
        grown(
            workbench,
            "artifact event at 10,000 per task",
            Length { text: script::pieces(100, 0), events: 100, streams: "2000" },
            Length { text: script::pieces(10_000, 0), events: 10_000, streams: "20" },
        )?,
        grown(
            workbench,
            &format!("status event at {} per task", STATUS_STEPS * STATUSES_PER_STEP),
            Length {
                text: script::statuses(few_statuses),
                events: few_statuses * STATUSES_PER_STEP,
                streams: "1000",
            },
            Length {
                text: script::statuses(STATUS_STEPS),
                events: STATUS_STEPS * STATUSES_PER_STEP,
                streams: "50",
            },
        )?,
    ])
}

struct Length {
    text: String,
    events: usize,
    streams: &'static str,
}

fn grown(workbench: &Workbench, name: &str, short: Length, long: Length) -> Result<Figure, String> {
    let server = workbench.start_attache(Store::Memory, ScriptPace::Streams)?;
    let measure = |length: &Length| {
        let what = ["--connections", "4", "--text", &length.text];
        let measured = run(workbench, &server, length.streams, &what)?;
        check_count(&measured, length.events + FRAME_EVENTS)?;
        Ok::<_, String>(measured)
    };
    measure(&short)?;
    let mut rounds = Vec::new();
    for _ in 0..workbench.rounds.min(3) {
        rounds.push((measure(&short)?, measure(&long)?));
    }
    let micros = |measured: &Measurement| measured.cpu_micros_per("events");
    let ratio = median(rounds.iter().map(|(short, long)| micros(long) / micros(short)));
    Ok(Figure {
        name: format!("CPU per {name}"),
        target: "≤ 1.15×".to_owned(),
        attache: format!("{:.2} µs", median_of(&rounds, |(_, long)| micros(long))),
        compared: Some(format!("at 100: {:.2} µs", median_of(&rounds, |(short, _)| micros(short)))),
        ratio: Some(ratio),
        load_cpu: Some(median_of(&rounds, |(_, long)| long.load_share())),
        outcome: TargetOutcome::at_most(ratio, 1.15),
    })
}
