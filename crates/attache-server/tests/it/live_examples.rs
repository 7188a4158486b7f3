//! The examples of the documented endpoint, as printed there but for the ids.

use attache_testkit::SseFrame;
use serde_json::{Value, json};

use crate::live_socket::{activity, connect, live, next, prompt, send};
use crate::world::TestServer;

/// "To inject a prompt into the CLI session".
const PROMPT: &str = r#"{
  "jsonrpc": "2.0",
  "method": "message/stream",
  "params": {
    "message": {
      "content": {
        "text": "List the files in the current directory"
      }
    }
  }
}"#;

/// "Example TEXT_CONTENT broadcast".
const TEXT_CONTENT: &str = r#"{
  "kind": "TEXT_CONTENT",
  "content": {
    "text": "I will list the files for you."
  },
  "taskId": "your-session-id"
}"#;

/// "To approve or deny the request".
const CONFIRMATION: &str = r#"{
  "jsonrpc": "2.0",
  "method": "message/stream",
  "params": {
    "message": {
      "content": {
        "data": {
          "kind": "TOOL_CALL_CONFIRMATION",
          "tool_call_id": "uuid-correlation-id",
          "selected_option_id": "proceed_once"
        }
      }
    }
  }
}"#;

async fn start() -> TestServer {
    let script =
        "rules: [{text: '^List the files', steps: [{think: Hm.}, {say: I will list the files for you.}]}]";
    live().script(script).start().await
}

fn parse(example: &str) -> Value {
    serde_json::from_str(example).unwrap()
}

/// The event has every member of the example, with its value.
#[track_caller]
fn check_holds(event: &Value, example: &Value) {
    for (name, value) in example.as_object().unwrap() {
        assert_eq!(event[name], *value, "{name} in {event:#}");
    }
}

#[tokio::test]
async fn the_prompt_and_its_text_over_a_socket_and_over_http() {
    let server = start().await;
    let mut socket = connect(&server, "/ws").await;
    send(&mut socket, &parse(PROMPT)).await;
    let over_socket = activity(&mut socket).await;
    let created = server.client().post("/tasks", &json!({})).await.json();
    assert_eq!(created["sessionId"], created["taskId"]);
    let path = format!("/tasks/{}/messages/stream", created["taskId"].as_str().unwrap());
    let stream = server.client().post_stream(&path, &parse(PROMPT)).await.rest().await;
    let over_http: Vec<Value> = stream.iter().map(|frame: &SseFrame| frame.payload().clone()).collect();
    for events in [over_socket, over_http] {
        let mut example = parse(TEXT_CONTENT);
        example["taskId"] = events[0]["taskId"].clone();
        let text = events.iter().find(|event| event["kind"] == "TEXT_CONTENT").unwrap();
        check_holds(text, &example);
        assert!(events.iter().any(|event| event["kind"] == "THOUGHT"), "{events:#?}");
    }
}

#[tokio::test]
async fn a_confirmation_without_a_question_gets_an_error_and_the_session_goes_on() {
    let server = start().await;
    let mut socket = connect(&server, "/ws").await;
    send(&mut socket, &prompt("List the files")).await;
    activity(&mut socket).await;
    send(&mut socket, &parse(CONFIRMATION)).await;
    let error = next(&mut socket).await;
    let message = error["error"]["message"].as_str().unwrap_or_else(|| panic!("{error:#}"));
    assert!(message.contains("uuid-correlation-id"), "{message}");
    send(&mut socket, &parse(PROMPT)).await;
    assert_eq!(activity(&mut socket).await.last().unwrap()["state"], "idle");
}

#[tokio::test]
async fn the_card_lists_the_extension() {
    let card = start().await.client().get("/.well-known/agent-card.json").await.json();
    let extensions = card["capabilities"]["extensions"].to_string();
    assert!(extensions.contains("developer-profile"), "{extensions}");
}
