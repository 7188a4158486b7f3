//! Commands and confirmations of coding agents.

use attache_testkit::model_server::{ModelServer, PlannedResponse};
use serde_json::{Value, json};

use super::call::call;

const URI: &str =
    "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md";

fn card(uris: &[&str]) -> PlannedResponse {
    let extensions: Vec<Value> = uris.iter().map(|uri| json!({ "uri": uri })).collect();
    let card = json!({
        "name": "agent", "capabilities": {"streaming": true, "extensions": extensions},
        "supportedInterfaces": [{"url": "/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
    });
    PlannedResponse::text(200, "application/json", &card.to_string())
}

fn stream(events: &[Value]) -> PlannedResponse {
    events.iter().fold(PlannedResponse::stream(), |planned, event| {
        planned.bytes(format!("data: {}\n\n", json!({"jsonrpc": "2.0", "id": 1, "result": event})))
    })
}

fn update(state: &str, uri: &str, kind: &str, parts: &Value) -> Value {
    let message = json!({"messageId": "a", "role": "ROLE_AGENT", "parts": parts});
    json!({"statusUpdate": {"taskId": "t-1", "contextId": "c-1", "status": {"state": state, "message": message},
        "metadata": {uri: {"kind": kind}}}})
}

/// The call comes first and then the question, as the RFC has it; nothing lists the open calls.
#[test]
fn a_call_that_only_events_tell_of_is_answered_in_the_form_of_the_extension() {
    let newer = URI.replace("/v0/", "/v0.7/");
    let pending = json!([{"data": {
        "tool_call_id": "k1", "status": "PENDING", "tool_name": "shell", "description": "ls \u{202e}x",
        "confirmation_request": {"options": [{"id": "proceed_once"}, {"id": "cancel"}]},
    }}]);
    let asked = stream(&[
        update("TASK_STATE_WORKING", &newer, "TOOL_CALL_UPDATE", &pending),
        update("TASK_STATE_INPUT_REQUIRED", &newer, "STATE_CHANGE", &json!([])),
    ]);
    let done = || {
        stream(&[
            update("TASK_STATE_WORKING", &newer, "TEXT_CONTENT", &json!([{"text": "It ran."}])),
            update("TASK_STATE_COMPLETED", &newer, "STATE_CHANGE", &json!([])),
        ])
    };
    let agent = ModelServer::with_responses([card(&[&newer]), asked.clone(), done()]);
    let ended = call(&[&agent.url(), "hi", "--development", "--answer", "yes"]);
    assert_eq!((ended.code, ended.out.as_str()), (0, "It ran.\n"), "{}", ended.err);
    assert!(ended.err.contains(r"k1: shell: ls \u{202e}x"), "{}", ended.err);
    let received = agent.received();
    assert_eq!(received[1].header("a2a-extensions"), Some(newer.as_str()), "the agent's own version");
    let parts = &received[2].json()["params"]["message"]["parts"];
    assert_eq!(parts, &json!([{"data": {"tool_call_id": "k1", "selected_option_id": "proceed_once"}}]));

    let agent = ModelServer::with_responses([card(&[&newer]), asked, done()]);
    let ended = call(&[&agent.url(), "hi", "--development", "--answer", "perhaps"]);
    assert_eq!(ended.code, 1);
    assert!(ended.err.contains("it takes yes, no or one of proceed_once, cancel"), "{}", ended.err);
}

#[test]
fn another_major_version_and_none_are_told_in_a_sentence() {
    let other = URI.replace("/v0/", "/v3.1/");
    let done = json!({"message": {"messageId": "a", "role": "ROLE_AGENT", "parts": [{"text": "hello"}]}});
    let agent = ModelServer::with_responses([card(&[&other]), stream(&[done])]);
    let ended = call(&[&agent.url(), "hi", "--development"]);
    assert_eq!((ended.code, ended.out.as_str()), (0, "hello\n"), "{}", ended.err);
    assert!(ended.err.contains("in version 3.1, and only version 0 is understood here"), "{}", ended.err);
    assert_eq!(agent.received()[1].header("a2a-extensions"), Some(""));
    for (uris, words) in [(vec![other.as_str()], "in version 3.1"), (vec![], "so it takes no commands")] {
        let agent = ModelServer::with_responses([card(&uris)]);
        let ended = call(&[&agent.url(), "--commands"]);
        assert_eq!((ended.code, ended.out.as_str()), (1, ""), "{}", ended.err);
        assert!(ended.err.contains(words), "{}", ended.err);
        assert_eq!(agent.received().len(), 1);
    }
}
