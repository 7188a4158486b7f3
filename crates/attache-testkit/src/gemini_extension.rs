//! Checks events in the dialect of Gemini CLI's server against docs/extension/gemini.schema.json.

use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::{Map, Value, json};

const SCHEMA: &str = include_str!("../../../docs/extension/gemini.schema.json");

/// Returns what is wrong with one event of a stream, in any version and binding.
pub fn check_gemini_event(event: &Value) -> Result<(), String> {
    let event = in_rpc_words(event);
    let errors: Vec<String> =
        VALIDATOR.iter_errors(&event).map(|error| format!("{}: {error}", error.instance_path())).collect();
    if errors.is_empty() { Ok(()) } else { Err(format!("{}\nin {event:#}", errors.join("\n"))) }
}

static VALIDATOR: LazyLock<Validator> = LazyLock::new(|| {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    jsonschema::draft202012::new(&schema).expect("the schema is a schema")
});

/// The schema is about 0.3 over JSON-RPC; other versions and bindings wrap the same content differently.
fn in_rpc_words(event: &Value) -> Value {
    let wrapped = event.as_object().and_then(|members| match (members.iter().next(), members.len()) {
        (Some((name, Value::Object(inner))), 1) => Some((name.as_str(), inner.clone())),
        _ => None,
    });
    let Some((name, mut inner)) = wrapped else { return event.clone() };
    let kind = match name {
        "statusUpdate" => "status-update",
        "artifactUpdate" => "artifact-update",
        other => other,
    };
    match name {
        "statusUpdate" => {
            inner.entry("final").or_insert(Value::Bool(false));
            if let Some(Value::Object(status)) = inner.get_mut("status") {
                unwrap_status(status);
            }
        }
        "artifactUpdate" => {
            inner.entry("append").or_insert(Value::Bool(false));
            inner.entry("lastChunk").or_insert(Value::Bool(false));
            if let Some(Value::Object(artifact)) = inner.get_mut("artifact") {
                unwrap_parts(artifact);
            }
        }
        _ => {}
    }
    inner.insert("kind".into(), kind.into());
    Value::Object(inner)
}

fn unwrap_status(status: &mut Map<String, Value>) {
    if let Some(state) =
        status.get("state").and_then(Value::as_str).and_then(|state| state.strip_prefix("TASK_STATE_"))
    {
        let state = state.to_lowercase().replace('_', "-").replace("cancelled", "canceled");
        status.insert("state".into(), state.into());
    }
    let Some(Value::Object(message)) = status.get_mut("message") else { return };
    if let Some(role) =
        message.get("role").and_then(Value::as_str).and_then(|role| role.strip_prefix("ROLE_"))
    {
        let role = role.to_lowercase();
        message.insert("role".into(), role.into());
    }
    // 0.3 over REST has another name for the parts, and wraps data again.
    if let Some(Value::Array(mut parts)) = message.remove("content") {
        for data in parts.iter_mut().filter_map(|part| part.get_mut("data")) {
            *data = data["data"].take();
        }
        message.insert("parts".into(), parts.into());
    }
    message.insert("kind".into(), "message".into());
    unwrap_parts(message);
}

fn unwrap_parts(holder: &mut Map<String, Value>) {
    let Some(Value::Array(parts)) = holder.get_mut("parts") else { return };
    for part in parts.iter_mut().filter_map(Value::as_object_mut) {
        let kind = ["text", "data"].into_iter().find(|kind| part.contains_key(*kind)).unwrap_or("file");
        part.insert("kind".into(), json!(kind));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn working() -> Value {
        json!({
            "kind": "status-update", "taskId": "t", "contextId": "c", "final": false,
            "status": { "state": "working", "timestamp": "2026-01-01T00:00:00.000Z" },
            "metadata": { "coderAgent": { "kind": "state-change" }, "model": "m" }
        })
    }

    fn said(kind: &str, part: Value) -> Value {
        let mut event = working();
        event["metadata"]["coderAgent"]["kind"] = kind.into();
        event["status"]["message"] = json!({
            "kind": "message", "role": "agent", "messageId": "x", "taskId": "t", "contextId": "c", "parts": [part]
        });
        event
    }

    fn call(status: &str) -> Value {
        json!({
            "request": { "callId": "k", "name": "x", "args": {}, "isClientInitiated": false, "prompt_id": "t########0" },
            "status": status
        })
    }

    #[test]
    fn what_fits_is_let_through() {
        for fits in [
            working(),
            said("text-content", json!({ "kind": "text", "text": "hello" })),
            said("thought", json!({ "kind": "data", "data": { "subject": "", "description": "d" } })),
            said("tool-call-update", json!({ "kind": "data", "data": call("scheduled") })),
            json!({ "kind": "task", "id": "t", "contextId": "c", "status": { "state": "submitted" } }),
        ] {
            check_gemini_event(&fits).unwrap();
        }
    }

    #[test]
    fn the_other_bindings_are_understood() {
        let part = json!({ "data": { "subject": "", "description": "d" } });
        let event = |message: Value, end: &str| {
            let status = json!({
                "state": format!("TASK_STATE_{end}"), "timestamp": "2026-01-01T00:00:00.000Z", "message": message
            });
            let kind = if end == "WORKING" { "thought" } else { "state-change" };
            let metadata = json!({ "coderAgent": { "kind": kind }, "model": "m" });
            json!({ "statusUpdate": { "taskId": "t", "contextId": "c", "status": status, "metadata": metadata } })
        };
        let message = json!({ "role": "ROLE_AGENT", "messageId": "x", "taskId": "t", "contextId": "c" });
        let with = |name: &str, parts: Value| {
            let mut message = message.clone();
            message[name] = parts;
            message
        };
        check_gemini_event(&event(with("parts", json!([part])), "WORKING")).unwrap();
        check_gemini_event(&event(with("content", json!([{ "data": part }])), "WORKING")).unwrap();
        check_gemini_event(&event(with("parts", json!([{ "text": "x" }])), "CANCELLED")).unwrap();
        check_gemini_event(&event(with("parts", json!([{ "text": "x" }])), "WORKING")).unwrap_err();
        let artifact = json!({ "artifactId": "tool-k-output", "parts": [{ "text": "x" }] });
        let update = json!({ "artifactUpdate": { "taskId": "t", "contextId": "c", "artifact": artifact } });
        check_gemini_event(&update).unwrap();
    }

    #[track_caller]
    fn check_refused(event: Value, says: &str) {
        let error = check_gemini_event(&event).expect_err(&format!("{event:#} went through"));
        assert!(error.contains(says), "{error}");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let changed = |pointer: &str, value: Value| {
            let mut event = working();
            *event.pointer_mut(pointer).unwrap() = value;
            event
        };
        check_refused(json!({}), "kind");
        check_refused(changed("/kind", json!("other")), "other");
        check_refused(changed("/metadata", json!({ "model": "m" })), "coderAgent");
        check_refused(changed("/metadata/coderAgent/kind", json!("STATE_CHANGE")), "STATE_CHANGE");
        check_refused(changed("/metadata/coderAgent/kind", json!("thought")), "message");
        check_refused(changed("/status/state", json!("completed")), "completed");
        check_refused(changed("/status/timestamp", json!("2026-01-01T00:00:00Z")), "timestamp");
        check_refused(said("text-content", json!({ "kind": "text", "text": "" })), "text");
        check_refused(said("thought", json!({ "kind": "text", "text": "x" })), "data");
        let data = |data: Value| json!({ "kind": "data", "data": data });
        check_refused(said("tool-call-update", data(call("validating"))), "validating");
        check_refused(said("tool-call-update", data(call("success"))), "response");
        check_refused(said("tool-call-confirmation", data(call("awaiting_approval"))), "confirmationDetails");
        check_refused(said("tool-call-update", data(call("awaiting_approval"))), "awaiting_approval");
    }
}
