//! The events of one stream without what is chance in their number.

use std::collections::HashMap;

use serde_json::{Value, json};

/// Leaves out a tool call that is told as it was told before.
pub(super) fn without_repetition(events: &mut Vec<Value>) {
    let mut told: HashMap<String, Value> = HashMap::new();
    events.retain(|event| {
        let data = &event["status"]["message"]["parts"][0]["data"];
        let Some(call) = data["request"]["callId"].as_str() else { return true };
        told.insert(call.to_owned(), data.clone()).as_ref() != Some(data)
    });
}

/// Makes one event of all the output of a call, at the place of the first: what a client shows at the end.
pub(super) fn with_latest_output(events: &mut Vec<Value>) {
    let mut first: HashMap<String, usize> = HashMap::new();
    let mut kept: Vec<Value> = Vec::new();
    for event in events.drain(..) {
        let id = event["artifact"]["artifactId"].as_str().map(str::to_owned);
        let Some(id) = id else {
            kept.push(event);
            continue;
        };
        if let Some(&place) = first.get(&id) {
            let parts = event["artifact"]["parts"].as_array().cloned().unwrap_or_default();
            kept[place]["artifact"]["parts"].as_array_mut().unwrap().extend(parts);
            kept[place]["lastChunk"] = event["lastChunk"].clone();
        } else {
            first.insert(id, kept.len());
            kept.push(event);
        }
    }
    for event in &mut kept {
        if let Some(parts) = event.pointer_mut("/artifact/parts") {
            join_parts(parts);
        }
    }
    *events = kept;
}

/// Keeps the last of the texts of an artifact, without the spaces a terminal's screen is filled up with.
pub(super) fn join_parts(parts: &mut Value) {
    let Some(texts) =
        parts.as_array().and_then(|parts| parts.iter().map(|part| part["text"].as_str()).collect())
    else {
        return;
    };
    let texts: Vec<&str> = texts;
    let text = texts.last().copied().unwrap_or_default();
    let lines: Vec<_> = text.lines().map(str::trim_end).collect();
    *parts = json!([{"kind": "text", "text": lines.join("\n").trim_end()}]);
}
