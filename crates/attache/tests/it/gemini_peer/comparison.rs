//! What docs/extension/comparison.md says: scenario by scenario, what both servers send and why it differs.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::compare::{Difference, joined};
use super::expected::{EXPECTED, explained};

const HEAD: &str = "# The same client, two servers

One client script was played against version 0.25.2 of npm's `@google/gemini-cli-a2a-server` and against attache, with the
same scripted model. Each row is one request: the events that came back, and whether they are equal, field by field. Ids,
times and paths are left out of the comparison, and so is into how many pieces a text is cut. What becomes of several calls is
sorted by call.

This page is written by the test `gemini_peer`; tests/gemini/README.md says how. [gemini.md](gemini.md) describes the
dialect. ■ marks the event with `final: true`.

## What is different wherever it occurs

";

/// The page in the making.
pub(super) struct Comparison {
    rows: String,
}

impl Comparison {
    pub(super) fn new() -> Self {
        Self { rows: String::new() }
    }

    /// Adds a scenario as both servers played it.
    pub(super) fn add(&mut self, name: &str, peer: &Value, ours: &Value, different: &[Difference]) {
        let steps = |heard: &Value| heard["steps"].as_array().cloned().unwrap_or_default();
        let (peer_steps, our_steps) = (steps(peer), steps(ours));
        for (place, (theirs, own)) in peer_steps.iter().zip(&our_steps).enumerate() {
            let title = if place == 0 { format!("**{name}**<br>") } else { String::new() };
            let asks = theirs["asks"].as_str().unwrap_or_default();
            let verdict = verdict(different, place + 1);
            let (theirs, own) = (told(&theirs["heard"]), told(&own["heard"]));
            self.rows += &format!("| {title}{asks} | {theirs} | {own} | {verdict} |\n");
        }
        if different.iter().any(|difference| difference.step == 0) {
            let verdict = verdict(different, 0);
            self.rows += &format!("| outcome | {} | {} | {verdict} |\n", came(peer), came(ours));
        }
    }

    pub(super) fn page(&self) -> String {
        let mut reasons = String::new();
        for (number, reason) in general().iter().enumerate() {
            reasons += &format!("{}. {reason}\n", number + 1);
        }
        let table = "| asks | npm | attache | verdict |\n|---|---|---|---|\n";
        format!(
            "{HEAD}{reasons}\n## Request by request\n\nNumbers are those of the list above.\n\n{table}{}",
            self.rows
        )
    }
}

/// What the page says now.
pub(super) fn committed() -> String {
    fs::read_to_string(path()).unwrap_or_default()
}

pub(super) fn write(page: &str) {
    fs::write(path(), page).unwrap();
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/extension/comparison.md")
}

/// The reasons that hold for every scenario, each once.
fn general() -> Vec<&'static str> {
    let mut reasons = Vec::new();
    for known in EXPECTED.iter().filter(|known| known.scenario.is_none()) {
        if !reasons.contains(&known.reason) {
            reasons.push(known.reason);
        }
    }
    reasons
}

fn verdict(different: &[Difference], step: usize) -> String {
    let (general, mut numbers, mut own) = (general(), Vec::new(), Vec::new());
    let here = different.iter().filter(|difference| difference.step == step);
    for known in here.filter_map(explained) {
        match (known.scenario, general.iter().position(|reason| *reason == known.reason)) {
            (None, Some(place)) if !numbers.contains(&(place + 1)) => numbers.push(place + 1),
            (Some(_), _) if !own.contains(&known.reason) => own.push(known.reason),
            _ => {}
        }
    }
    numbers.sort_unstable();
    let numbers: Vec<_> = numbers.iter().map(ToString::to_string).collect();
    match (own.is_empty(), numbers.is_empty()) {
        (true, true) => "equal".to_owned(),
        (true, false) => format!("equal but for {}", numbers.join(", ")),
        (false, true) => format!("differs: {}", own.join("; ")),
        (false, false) => format!("differs: {}; and {}", own.join("; "), numbers.join(", ")),
    }
}

/// What came back, in a few words.
fn told(heard: &Value) -> String {
    let Some(events) = heard["events"].as_array() else { return body(heard) };
    let events = by_call(joined(events));
    let mut words: Vec<_> = events.iter().map(event).collect();
    if heard["end"] == "silence" {
        words.push("silence".to_owned());
    }
    words.join(", ")
}

/// What becomes of calls that run at the same time comes in any order.
fn by_call(mut events: Vec<Value>) -> Vec<Value> {
    let call = |event: &Value| {
        let artifact = event["artifact"]["artifactId"].as_str().and_then(|id| id.strip_prefix("tool-"));
        let told = event["status"]["message"]["parts"][0]["data"]["request"]["callId"].as_str();
        artifact.and_then(|id| id.strip_suffix("-output")).or(told).map(str::to_owned)
    };
    for run in events.chunk_by_mut(|one, next| call(one).is_some() == call(next).is_some()) {
        if run.iter().all(|event| call(event).is_some()) {
            run.sort_by_key(call);
        }
    }
    events
}

fn event(event: &Value) -> String {
    if event["event"] == "error" {
        return format!("error {}", event["data"]["error"]["code"]);
    }
    let word = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    let status = &event["status"];
    let call = &status["message"]["parts"][0]["data"];
    let end = if event["final"] == true { " ■" } else { "" };
    match event["metadata"]["coderAgent"]["kind"].as_str() {
        Some("state-change") if status["message"].is_object() => {
            format!("{} with words{end}", word(&status["state"]))
        }
        Some("state-change") => format!("{}{end}", word(&status["state"])),
        Some("text-content") => "text".to_owned(),
        Some("thought") => "thought".to_owned(),
        Some(_) => format!("{} {}", word(&call["request"]["callId"]), word(&call["status"])),
        None if event["kind"] == "artifact-update" => word(&event["artifact"]["artifactId"]),
        None => format!("task {}", word(&status["state"])),
    }
}

fn body(heard: &Value) -> String {
    let body = &heard["body"];
    match (body["kind"].as_str(), body["error"]["code"].as_i64()) {
        (Some("task"), _) => format!("task {}", body["status"]["state"].as_str().unwrap_or("?")),
        (_, Some(code)) => format!("error {code} as JSON"),
        _ => format!("status {}", heard["status"]),
    }
}

fn came(heard: &Value) -> String {
    let mut words = vec![format!("the model was asked {} times", heard["modelCalls"])];
    words.extend(heard["modelIsTold"].as_bool().map(|told| format!("and told: {told}")));
    words.extend(heard["file"].as_str().map(|file| format!("the file is `{}`", file.replace('\n', "\\n"))));
    words.join(", ").replace(" 1 times", " once").replace(" 2 times", " twice")
}
