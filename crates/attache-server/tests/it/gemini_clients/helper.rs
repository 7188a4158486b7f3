//! The test helper of Gemini CLI's own server, and the web client of terminAI: the settings are beside the message, in
//! `params.metadata`, and the server is started without any option for them.

use attache_testkit::gemini_stream::stream;
use attache_testkit::model_server::ModelServer;
use attache_testkit::model_server::gemini::{calls, says};
use serde_json::{Value, json};

use crate::agent_world::{start, work};

fn request(id: &str, parts: Value, workspace: &str) -> Value {
    json!({
        "message": {"kind": "message", "role": "user", "parts": parts, "messageId": id},
        "metadata": {"coderAgent": {"kind": "agent-settings", "workspacePath": workspace}},
    })
}

#[tokio::test]
async fn settings_beside_the_message_are_enough() {
    let model = ModelServer::with_responses([
        calls("run_shell_command", json!({"command": "touch made.txt"})),
        says("Made."),
    ]);
    let (launch, server) = start(&model).await;
    let workspace = work(&launch).display().to_string();
    let client = server.client().with("accept", "text/event-stream");
    let asked =
        stream(&client, request("m1", json!([{"kind": "text", "text": "Make it."}]), &workspace)).await;
    ends_once(&asked.events);
    assert_eq!(
        (&asked.events[0]["kind"], &asked.events[0]["status"]["state"]),
        (&json!("task"), &json!("submitted"))
    );
    let working = &asked.events[1];
    assert_eq!((&working["kind"], &working["status"]["state"]), (&json!("status-update"), &json!("working")));
    let [pending] = asked.pending()[..] else { panic!("one call is asked about: {:#?}", asked.events) };

    let answer = json!([{"kind": "data", "data": {"callId": pending.id, "outcome": "proceed_once"}}]);
    let mut params = request("m2", answer, &workspace);
    params["message"]["taskId"] = json!(asked.task);
    let done = stream(&client, params).await;
    ends_once(&done.events);
    assert_eq!(done.text, "Made.");
    assert!(work(&launch).join("made.txt").exists());
}

/// As the helper asserts of every turn: exactly one event is final, it is the last, and it waits for the next message.
fn ends_once(events: &[Value]) {
    let finals: Vec<_> = events.iter().filter(|event| event["final"] == true).collect();
    let last = events.last().expect("events");
    assert_eq!(finals, [last], "{events:#?}");
    assert_eq!(last["metadata"]["coderAgent"]["kind"], "state-change");
    assert_eq!(last["status"]["state"], "input-required");
}
