//! Checks messages against the published schema of the development-tool extension.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use jsonschema::{ValidationError, Validator};
use serde_json::{Value, json};

/// The published schema.
pub const SCHEMA: &str = include_str!("../../../docs/extension/development-tool.schema.json");

/// By definition: compiling all of them takes longer than most tests.
static COMPILED: LazyLock<Mutex<BTreeMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);

/// Checks an event of a stream in the dialect of the RFC, in A2A 0.3 or 1.0, plain or in a JSON-RPC response. The
/// error says where it is invalid.
pub fn check_event(event: &Value) -> Result<(), String> {
    let event = event.get("result").filter(|_| event.get("jsonrpc").is_some()).unwrap_or(event);
    if ["statusUpdate", "task", "artifactUpdate", "message"].iter().any(|name| event.get(name).is_some()) {
        return check("Wrapped", event);
    }
    match event["kind"].as_str() {
        Some("status-update") => check("StatusUpdate", event),
        Some("task") => check("Task", event),
        Some("artifact-update") => check("ArtifactUpdate", event),
        Some("message") => check("Message", event),
        _ => Err(format!("it is no event of a stream: {event}")),
    }
}

/// Checks `value` against the definition `definition` of the schema, such as `ToolCall`.
pub fn check(definition: &str, value: &Value) -> Result<(), String> {
    let validator = compiled(definition)?;
    let message = |error: ValidationError<'_>| format!("at {:?}: {error}", error.instance_path().as_str());
    let errors: Vec<String> = validator.iter_errors(value).map(message).collect();
    if errors.is_empty() { Ok(()) } else { Err(format!("no {definition}: {}", errors.join("; "))) }
}

fn compiled(definition: &str) -> Result<Arc<Validator>, String> {
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(validator) = compiled.get(definition) {
        return Ok(validator.clone());
    }
    let published: Value = serde_json::from_str(SCHEMA).map_err(|error| error.to_string())?;
    let schema = json!({ "$ref": format!("#/$defs/{definition}"), "$defs": published["$defs"] });
    let built = jsonschema::draft202012::new(&schema).map_err(|error| format!("{definition}: {error}"))?;
    let validator = Arc::new(built);
    compiled.insert(definition.to_owned(), validator.clone());
    Ok(validator)
}

#[cfg(test)]
mod tests {
    use super::*;

    const URI: &str =
        "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md";

    fn update(kind: &str, part: &Value) -> Value {
        json!({
            "kind": "status-update", "taskId": "t", "contextId": "c", "final": false,
            "status": {
                "state": "working", "timestamp": "2025-10-28T10:30:00.000Z",
                "message": { "kind": "message", "messageId": "m", "role": "agent", "parts": [part] },
            },
            "metadata": { URI: { "kind": kind, "model": "m" } },
        })
    }

    #[track_caller]
    fn refused(event: &Value, part: &str) {
        let error = check_event(event).unwrap_err();
        assert!(error.contains(part), "{error}");
    }

    #[test]
    fn an_event_carries_what_its_kind_says() {
        let text = json!({ "kind": "text", "text": "Hello" });
        let thought = json!({ "kind": "data", "data": { "subject": "", "description": "Hm." } });
        check_event(&update("TEXT_CONTENT", &text)).unwrap();
        check_event(&update("THOUGHT", &thought)).unwrap();
        check_event(&update("STATE_CHANGE", &text)).unwrap();
        refused(&update("TEXT_CONTENT", &thought), "text");
        refused(&update("THOUGHT", &text), "data");
        refused(&update("TOOL_CALL_UPDATE", &thought), "tool_call_id");
        refused(&update("SOMETHING", &text), "SOMETHING");
    }

    #[test]
    fn what_is_around_an_event_is_looked_at_too() {
        let text = json!({ "kind": "text", "text": "Hello" });
        let event = update("TEXT_CONTENT", &text);
        check_event(&json!({ "jsonrpc": "2.0", "id": 1, "result": event })).unwrap();
        check_event(&json!({ "statusUpdate": event })).unwrap();
        refused(&json!({ "statusUpdate": event, "more": 1 }), "more");
        refused(&json!({ "statusUpdate": update("THOUGHT", &text) }), "data");
        let mut without = event.clone();
        without["metadata"] = json!({ "coderAgent": { "kind": "text-content" } });
        refused(&without, "coderAgent");
        refused(&json!({}), "no event");
        assert!(check("Nothing", &json!({})).is_err());
    }
}
