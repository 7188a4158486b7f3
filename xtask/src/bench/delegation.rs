//! Measures a task that is delegated to another attache server on the same machine.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::figure::{Figure, TargetOutcome};
use super::model::{AnswerPlan, Model};
use super::script;
use super::server::Server;
use super::statistics::median_of;
use super::workbench::{ScriptPace, Store, Workbench};

/// Delegated calls of one task, one after the other; with the last answer, as many as a turn may have.
const CALL_ROUNDS: usize = 99;
const TASKS: usize = 5;
const MAX_OVERHEAD_MS: f64 = 2.0;

const CONVERSATIONS: usize = 100;
const CALLS_EACH: usize = 10;
const MAX_MEGABYTES: f64 = 200.0;

/// Streams of one address that the agent at the other end allows.
const PEER_SETTINGS: &str =
    "[limits]\nconnections_per_address = 4000\nstreams_per_address = 4000\nstreams_per_caller = 4000\n";

/// Far more than it takes to begin all calls.
const BEGIN_TIMEOUT: Duration = Duration::from_secs(120);
const LOOK_INTERVAL: Duration = Duration::from_millis(50);
/// Memory that was only needed for a moment is given back in less than this.
const SETTLE_DELAY: Duration = Duration::from_millis(500);

pub(super) fn measure(workbench: &Workbench) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    for (name, store) in [("memory", Store::Memory), ("SQLite at FULL", Store::Sqlite("delegation.sqlite"))] {
        let rounds = (0..workbench.rounds.min(3)).map(|_| overhead(workbench, store));
        figures.push(shown(name, &rounds.collect::<Result<Vec<_>, _>>()?));
    }
    figures.push(memory(workbench)?);
    Ok(figures)
}

/// Times in milliseconds.
struct Round {
    /// From the model's answer to its next request.
    call: f64,
    /// The same message sent by the load generator.
    peer: f64,
}

fn overhead(workbench: &Workbench, store: Store<'_>) -> Result<Round, String> {
    let peer = workbench.start_attache_with(PEER_SETTINGS, Store::Memory, ScriptPace::Streams)?;
    let model = workbench.start_model()?;
    let server = delegating(workbench, store, &model, &peer)?;
    let plan = AnswerPlan {
        tool: "agent",
        calls: 1,
        call_rounds: CALL_ROUNDS,
        expect: "Done.",
        ..AnswerPlan::default()
    };
    for tasks in [1, TASKS] {
        model.plan(plan)?;
        workbench.measure(&server, &["work", "--text", "go", "--tasks", &tasks.to_string()])?;
    }
    let seen = model.seen()?;
    let wanted = TASKS * (CALL_ROUNDS + 1);
    if seen.rounds != wanted as f64 {
        return Err(format!("the model was asked {} times instead of {wanted}", seen.rounds));
    }
    let streams = (TASKS * CALL_ROUNDS).to_string();
    let text = format!("{} 1", script::DELEGATED);
    let direct = workbench
        .measure(&peer, &["stream", "--streams", &streams, "--connections", "1", "--text", &text])?;
    Ok(Round { call: seen.result_p50_us / 1000.0, peer: direct.number("whole_stream/p50_us") / 1000.0 })
}

fn shown(store: &str, rounds: &[Round]) -> Figure {
    let (call, peer) = (median_of(rounds, |round| round.call), median_of(rounds, |round| round.peer));
    let added = median_of(rounds, |round| round.call - round.peer);
    Figure {
        name: format!("what a delegated call takes beside the other agent's own time, p50, {store}"),
        target: format!("< {MAX_OVERHEAD_MS} ms"),
        attache: format!("{added:.2} ms; from the model's answer to its next request {call:.2} ms"),
        compared: Some(format!("the same message sent directly {peer:.2} ms")),
        ratio: None,
        load_cpu: None,
        outcome: TargetOutcome::when(added < MAX_OVERHEAD_MS),
    }
}

/// Conversations that each have several calls under way, on which the other agent works for long.
fn memory(workbench: &Workbench) -> Result<Figure, String> {
    let peer = workbench.start_attache_with(PEER_SETTINGS, Store::Memory, ScriptPace::Streams)?;
    let model = workbench.start_model()?;
    let server = delegating(workbench, Store::Memory, &model, &peer)?;
    let before = server.resident_bytes()? / 1e6;
    let slow = AnswerPlan {
        tool: "slow_agent",
        calls: CALLS_EACH,
        call_rounds: 1,
        per_conversation: true,
        ..AnswerPlan::default()
    };
    model.plan(slow)?;
    let (streams, wanted) = (CONVERSATIONS.to_string(), CONVERSATIONS * CALLS_EACH);
    let held = workbench.hold(&server, &["idle-streams", "--streams", &streams, "--text", "go"])?;
    let asked = Instant::now();
    while active_tasks(&peer)? < wanted {
        if asked.elapsed() > BEGIN_TIMEOUT {
            return Err(format!("the other agent has {} tasks instead of {wanted}", active_tasks(&peer)?));
        }
        std::thread::sleep(LOOK_INTERVAL);
    }
    let took = asked.elapsed().as_secs_f64();
    std::thread::sleep(SETTLE_DELAY);
    let megabytes = server.resident_bytes()? / 1e6;
    drop(held);
    Ok(Figure {
        name: format!("{wanted} delegated calls at the same time, of {CONVERSATIONS} conversations"),
        target: format!("< {MAX_MEGABYTES} MB resident"),
        attache: format!("{megabytes:.0} MB, {before:.0} MB before them; all had begun after {took:.1} s"),
        compared: None,
        ratio: None,
        load_cpu: None,
        outcome: TargetOutcome::when(megabytes < MAX_MEGABYTES),
    })
}

/// attache as a coding agent that knows the agent `peer` and delegates without a question.
fn delegating(
    workbench: &Workbench,
    store: Store<'_>,
    model: &Model,
    peer: &Server,
) -> Result<Server, String> {
    let home = workbench.file("home");
    let agent = format!(
        "---\nkind: remote\nname: peer\nagent_card_url: {}/.well-known/agent-card.json\n---\n",
        peer.url.trim_end_matches('/')
    );
    let settings = r#"{"experimental": {"enableAgents": true}}"#;
    let folder = Path::new(&home).join(".gemini");
    fs::create_dir_all(folder.join("agents"))
        .and_then(|()| fs::write(folder.join("settings.json"), settings))
        .and_then(|()| fs::write(folder.join("agents/peer.md"), agent))
        .map_err(|error| format!("the agent file: {error}"))?;
    let mut command = workbench.agent_command(store, model, &workbench.new_folder()?);
    Server::start(command.args(["--approval-mode", "yolo"]))
}

fn active_tasks(server: &Server) -> Result<usize, String> {
    let answer = server.get("/health")?;
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let health: Value =
        serde_json::from_str(body).map_err(|error| format!("/health said `{body}`: {error}"))?;
    let active = health["activeTasks"].as_u64().unwrap_or_default();
    Ok(usize::try_from(active).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_agents_own_time_does_not_count() {
        let rounds =
            [Round { call: 2.5, peer: 1.0 }, Round { call: 9.0, peer: 8.0 }, Round { call: 4.0, peer: 1.5 }];
        let figure = shown("memory", &rounds);
        assert!(figure.attache.starts_with("1.50 ms; "), "{}", figure.attache);
        assert_eq!(figure.outcome, TargetOutcome::Pass);
        assert_eq!(shown("memory", &[Round { call: 3.0, peer: 0.5 }]).outcome, TargetOutcome::Miss);
    }
}
