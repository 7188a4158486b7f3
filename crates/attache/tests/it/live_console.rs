//! Warnings of the program's own log on the live endpoint of the real binary.

use attache_testkit::model_server::{ModelServer, gemini};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message as Frame;

use crate::agent_world::launch_with;

#[tokio::test]
async fn a_failing_model_is_told_about_without_the_key() {
    // The key of the tests is in what the model answers.
    let refusal = "API key not valid: key-for-tests, see https://me:pass-word@example.com/?key=other";
    let model = ModelServer::with_responses([gemini::error(400, "INVALID_ARGUMENT", refusal, json!([]))]);
    let server = launch_with(&model).argument("--live").start().await;
    let connection = TcpStream::connect(server.address()).await.unwrap();
    let (mut socket, _) = client_async(format!("ws://{}/ws", server.address()), connection).await.unwrap();
    let prompt = json!({"jsonrpc": "2.0", "method": "message/stream", "params": {"message": {"content": {"text": "Hi"}}}});
    socket.send(Frame::text(prompt.to_string())).await.unwrap();
    let (mut warnings, mut last) = (Vec::new(), Value::Null);
    let reading = async {
        while warnings.is_empty() || last.is_null() {
            let Frame::Text(text) = socket.next().await.unwrap().unwrap() else { continue };
            let event: Value = serde_json::from_str(&text).unwrap();
            if event["kind"] == "CONSOLE_LOG" && event["content"]["level"] == "warn" {
                warnings.push(event);
            } else if event["final"] == true {
                last = event;
            }
        }
    };
    tokio::time::timeout(attache_testkit::WAIT_TIMEOUT, reading).await.expect("it comes in time");
    let text = warnings[0]["content"]["text"].as_str().unwrap();
    assert!(text.starts_with("the model gave no answer"), "{warnings:#?}");
    for secret in ["key-for-tests", "pass-word", "other"] {
        assert!(!text.contains(secret), "{text}");
    }
    assert_eq!(warnings[0]["taskId"], last["taskId"]);
    // It is no fact: the task does not hold it.
    let task = server.client().rpc("GetTask", json!({"id": last["taskId"]})).await;
    assert!(!task.to_string().contains("gave no answer"), "{task:#}");
}
