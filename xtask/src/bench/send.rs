//! Measures one message with one answer against bare HTTP and JSON.

use super::figure::{Figure, TargetOutcome};
use super::load::Measurement;
use super::server::Server;
use super::statistics::median_of;
use super::workbench::{ScriptPace, Store, Workbench};

/// Enough for CPU time to be known to a percent in the kernel's ticks, few enough for several rounds.
const BARE_REQUESTS: &str = "60000";
const MEMORY_REQUESTS: &str = "20000";
const SQLITE_REQUESTS: &str = "10000";
const WARM_UP_REQUESTS: &str = "4000";

/// What a finished task says in the answers of each version.
const FINISHED: &str = "TASK_STATE_COMPLETED";
const FINISHED_0_3: &str = "\"completed\"";

/// All servers of one round, measured one after the other.
struct Round {
    bare: Measurement,
    memory: Measurement,
    memory_0_3: Measurement,
    grpc: Measurement,
    sqlite: Measurement,
    bare_get: Measurement,
    get: Measurement,
}

pub(super) fn measure(workbench: &Workbench) -> Result<Vec<Figure>, String> {
    let rounds = (0..workbench.rounds).map(|_| round(workbench)).collect::<Result<Vec<_>, _>>()?;
    let bare: &dyn Fn(&Round) -> &Measurement = &|round| &round.bare;
    Ok(vec![
        cost("`SendMessage`, memory", 3.5, &rounds, &|round| &round.memory, bare, "bare echo"),
        cost("`SendMessage`, SQLite at FULL", 8.0, &rounds, &|round| &round.sqlite, bare, "bare echo"),
        rate("`SendMessage` rate, memory", 0.30, &rounds, &|round| &round.memory),
        rate("`SendMessage` rate, SQLite at FULL", 0.10, &rounds, &|round| &round.sqlite),
        cost("`GetTask`, memory", 1.5, &rounds, &|round| &round.get, &|round| &round.bare_get, "bare echo"),
        cost(
            "0.3 `message/send`, memory",
            1.1,
            &rounds,
            &|round| &round.memory_0_3,
            &|round| &round.memory,
            "1.0 `SendMessage`",
        ),
        cost(
            "gRPC `SendMessage`, memory",
            1.3,
            &rounds,
            &|round| &round.grpc,
            &|round| &round.memory,
            "JSON-RPC `SendMessage`",
        ),
    ])
}

fn round(workbench: &Workbench) -> Result<Round, String> {
    let ids = workbench.file("ids");
    let server = workbench.start_attache(Store::Memory, ScriptPace::Instant)?;
    let send = |server: &Server, requests, version, expect| {
        let arguments = ["--protocol-version", version, "send", "--requests", requests, "--expect", expect];
        workbench.measure(server, &arguments)
    };
    let kept = ["send", "--requests", WARM_UP_REQUESTS, "--expect", FINISHED, "--ids", &ids];
    workbench.measure(&server, &kept)?;
    let memory = send(&server, MEMORY_REQUESTS, "1.0", FINISHED)?;
    let memory_0_3 = send(&server, MEMORY_REQUESTS, "0.3", FINISHED_0_3)?;
    workbench.measure(&server, &["send-grpc", "--requests", WARM_UP_REQUESTS])?;
    let grpc = workbench.measure(&server, &["send-grpc", "--requests", MEMORY_REQUESTS])?;
    let get = ["get", "--requests", BARE_REQUESTS, "--ids", &ids];
    let get_from_attache = workbench.measure(&server, &[&get[..], &["--expect", FINISHED]].concat())?;
    drop(server);

    let server = workbench.start_bare()?;
    send(&server, WARM_UP_REQUESTS, "1.0", "messageId")?;
    let bare = send(&server, BARE_REQUESTS, "1.0", "messageId")?;
    let bare_get = workbench.measure(&server, &get)?;
    drop(server);

    let server = workbench.start_attache(Store::Sqlite("send.sqlite"), ScriptPace::Instant)?;
    send(&server, WARM_UP_REQUESTS, "1.0", FINISHED)?;
    let sqlite = send(&server, SQLITE_REQUESTS, "1.0", FINISHED)?;
    Ok(Round { bare, memory, memory_0_3, grpc, sqlite, bare_get, get: get_from_attache })
}

type Pick<'a> = &'a dyn Fn(&Round) -> &Measurement;

/// Server CPU per request, compared within each round.
fn cost(name: &str, limit: f64, rounds: &[Round], ours: Pick<'_>, theirs: Pick<'_>, what: &str) -> Figure {
    let per_request = |pick: Pick<'_>, round: &Round| pick(round).cpu_micros_per("requests");
    let ratio = median_of(rounds, |round| per_request(ours, round) / per_request(theirs, round));
    Figure {
        name: format!("CPU per {name}"),
        target: format!("≤ {limit}×"),
        attache: format!("{:.1} µs", median_of(rounds, |round| per_request(ours, round))),
        compared: Some(format!("{what} {:.1} µs", median_of(rounds, |round| per_request(theirs, round)))),
        ratio: Some(ratio),
        load_cpu: Some(median_of(rounds, |round| ours(round).load_share())),
        outcome: TargetOutcome::at_most(ratio, limit),
    }
}

/// Requests per second at 64 connections, compared with the bare echo of the same round.
fn rate(name: &str, limit: f64, rounds: &[Round], ours: Pick<'_>) -> Figure {
    let per_second = |measured: &Measurement| measured.per_second("requests");
    let ratio = median_of(rounds, |round| per_second(ours(round)) / per_second(&round.bare));
    Figure {
        name: name.to_owned(),
        target: format!("≥ {limit:.2}×"),
        attache: format!("{:.0}/s", median_of(rounds, |round| per_second(ours(round)))),
        compared: Some(format!("bare echo {:.0}/s", median_of(rounds, |round| per_second(&round.bare)))),
        ratio: Some(ratio),
        load_cpu: Some(median_of(rounds, |round| ours(round).load_share())),
        outcome: TargetOutcome::at_least(ratio, limit),
    }
}
