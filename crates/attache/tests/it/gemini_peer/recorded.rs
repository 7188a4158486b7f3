//! What the peer said when it was last recorded: one file for each scenario.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

pub(super) fn read(scenario: &str) -> Value {
    let path = path(scenario);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| {
        panic!("{}: {error}; tests/gemini/README.md says how to record", path.display())
    });
    serde_json::from_str(&text).unwrap()
}

pub(super) fn write(scenario: &str, heard: &Value) {
    let path = path(scenario);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, lined(heard)).unwrap();
}

/// As JSON with every event on a line of its own.
fn lined(heard: &Value) -> String {
    let steps: Vec<_> = heard["steps"].as_array().unwrap().iter().map(lined_step).collect();
    let others = heard.as_object().unwrap().iter().filter(|(name, _)| *name != "steps");
    let others: String = others.map(|(name, value)| format!("{name:?}: {value}, ")).collect();
    format!("{{{others}\"steps\": [\n{}\n]}}\n", steps.join(",\n"))
}

fn lined_step(step: &Value) -> String {
    let heard = &step["heard"];
    let Some(events) = heard["events"].as_array() else {
        return format!("{{\"asks\": {}, \"heard\":\n  {heard}}}", step["asks"]);
    };
    let events: Vec<_> = events.iter().map(|event| format!("  {event}")).collect();
    let (status, end) = (&heard["status"], &heard["end"]);
    let head = format!("{{\"asks\": {}, \"heard\": {{\"status\": {status}, \"end\": {end}", step["asks"]);
    format!("{head}, \"events\": [\n{}\n]}}}}", events.join(",\n"))
}

fn path(scenario: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/gemini/recorded");
    folder.join(scenario).with_extension("json")
}
