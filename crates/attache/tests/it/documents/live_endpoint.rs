//! The document of the live endpoint.

use attache_testkit::SseFrame;
use attache_testkit::model_server::{ModelServer, gemini};
use futures_util::SinkExt;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::{WebSocketStream, client_async};

use super::{check, parse};
use crate::agent_world::{calls, launch_with, says, work};
use crate::live::{is_question, read_until};

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

/// "The client receives a message like this".
const CONFIRMATION_REQUEST: &str = r#"{
  "kind": "TOOL_CALL_UPDATE",
  "tool_call_id": "uuid-correlation-id",
  "status": "PENDING",
  "tool_name": "run_shell_command",
  "confirmation_request": {
    "options": [
      { "id": "proceed_once", "name": "Allow Once" },
      { "id": "cancel", "name": "Cancel" }
    ],
    "details": {
      "execute_details": { "command": "rm -rf /" }
    }
  },
  "taskId": "..."
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

async fn connect(address: &str) -> WebSocketStream<TcpStream> {
    let connection = TcpStream::connect(address).await.unwrap();
    client_async(format!("ws://{address}/ws"), connection).await.unwrap().0
}

async fn send(socket: &mut WebSocketStream<TcpStream>, message: &Value) {
    socket.send(Frame::text(message.to_string())).await.unwrap();
}

fn touch() -> ModelServer {
    let touch = calls("run_shell_command", json!({"command": "touch made"}));
    ModelServer::with_responses([touch, says("Done.")])
}

#[tokio::test]
async fn the_card_lists_the_extension() {
    let model = ModelServer::with_responses([says("Done.")]);
    let server = launch_with(&model).argument("--live").start().await;
    let card = server.client().get("/.well-known/agent-card.json").await.json();
    let extensions = card["capabilities"]["extensions"].to_string();
    assert!(extensions.contains("developer-profile"), "{extensions}");
}

#[tokio::test]
async fn a_prompt_over_http_and_over_a_socket() {
    let text = "I will list the files for you.";
    let model = ModelServer::with_responses([says(text), says(text)]);
    let server = launch_with(&model).argument("--live").start().await;
    let client = server.client();
    let mut socket = connect(server.address()).await;
    let created = client.post("/tasks", &json!({})).await.json();
    assert!(created["sessionId"].is_string(), "{created}");
    assert_eq!(created["sessionId"], created["taskId"]);
    let path = format!("/tasks/{}/messages/stream", created["taskId"].as_str().unwrap());
    let mut stream = client.post_stream(&path, &parse(PROMPT)).await;
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
    let frames = stream.rest().await;
    let is_text = |event: &Value| event["kind"] == "TEXT_CONTENT";
    let over_http = frames.iter().map(SseFrame::payload).find(|event| is_text(event)).unwrap().clone();
    let broadcast = read_until(&mut socket, is_text).await;
    assert_eq!(broadcast, over_http, "the socket sees what was asked over HTTP");
    assert_eq!(broadcast["taskId"], created["sessionId"]);
    check(&parse(TEXT_CONTENT), &broadcast, &["taskId"]);
    send(&mut socket, &parse(PROMPT)).await;
    check(&parse(TEXT_CONTENT), &read_until(&mut socket, is_text).await, &["taskId"]);
}

#[tokio::test]
async fn a_confirmation_is_asked_and_answered() {
    for (option, is_made) in [("proceed_once", true), ("cancel", false)] {
        let model = touch();
        let launch = launch_with(&model).argument("--live");
        let server = launch.start().await;
        let mut socket = connect(server.address()).await;
        send(&mut socket, &parse(PROMPT)).await;
        let request = read_until(&mut socket, is_question).await;
        check(&parse(CONFIRMATION_REQUEST), &request, &["tool_call_id", "command", "taskId"]);
        let mut confirmation = parse(CONFIRMATION);
        let data = &mut confirmation["params"]["message"]["content"]["data"];
        data["tool_call_id"] = request["tool_call_id"].clone();
        data["selected_option_id"] = option.into();
        send(&mut socket, &confirmation).await;
        let status = if is_made { "SUCCEEDED" } else { "CANCELLED" };
        read_until(&mut socket, |event| event["kind"] == "TOOL_CALL_UPDATE" && event["status"] == status)
            .await;
        assert_eq!(work(&launch).join("made").exists(), is_made);
    }
}

#[tokio::test]
async fn nothing_is_asked_with_yolo() {
    let model = touch();
    let launch = launch_with(&model).argument("--live").argument("--approval-mode").argument("yolo");
    let server = launch.start().await;
    let mut socket = connect(server.address()).await;
    send(&mut socket, &parse(PROMPT)).await;
    let ended = read_until(&mut socket, |event| event["final"] == true || is_question(event)).await;
    assert!(!is_question(&ended), "{ended:#}");
}

#[tokio::test]
async fn every_kind_of_event() {
    let thought = gemini::chunk().thought("**Looking** I look for files.");
    let call = gemini::chunk().call("list_directory", json!({"dir_path": "."})).finish("STOP").usage(100, 10);
    let failing = calls("read_file", json!({"file_path": "missing.txt"}));
    let refused = gemini::error(400, "INVALID_ARGUMENT", "No.", json!([]));
    let answer = gemini::answer([thought, call]);
    let model =
        ModelServer::with_responses([answer, failing, says("I will list the files for you."), refused]);
    let server = launch_with(&model).argument("--live").start().await;
    let mut socket = connect(server.address()).await;
    send(&mut socket, &parse(PROMPT)).await;
    let thought = read_until(&mut socket, |event| event["kind"] == "THOUGHT").await;
    let printed = json!({"kind": "THOUGHT", "taskId": "...",
        "content": {"subject": "Looking", "description": "I look for files."}});
    check(&printed, &thought, &["taskId"]);
    for status in ["PENDING", "EXECUTING", "SUCCEEDED", "FAILED"] {
        let is_it = |event: &Value| event["kind"] == "TOOL_CALL_UPDATE" && event["status"] == status;
        read_until(&mut socket, is_it).await;
    }
    read_until(&mut socket, |event| event["kind"] == "TEXT_CONTENT").await;
    read_until(&mut socket, |event| event["final"] == true).await;
    send(&mut socket, &parse(PROMPT)).await;
    let log = read_until(&mut socket, |event| event["kind"] == "CONSOLE_LOG").await;
    assert!(["info", "warn", "error"].contains(&log["content"]["level"].as_str().unwrap()), "{log}");
    assert!(log["content"]["text"].is_string(), "{log}");
}
