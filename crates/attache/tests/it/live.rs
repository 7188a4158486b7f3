//! The live endpoint of the real binary, as its clients use it.

use std::time::Duration;

use attache_testkit::model_server::ModelServer;
use attache_testkit::{SseFrame, SseStream, TestClient};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::agent_world::{calls, launch_with, says, work};

const TOUCH: &str = "touch made";

pub(crate) fn message(content: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "message/stream", "params": {"message": {"content": content}}})
}

pub(crate) fn approval(call: &Value) -> Value {
    message(json!({"data": {
        "kind": "TOOL_CALL_CONFIRMATION", "tool_call_id": call, "selected_option_id": "proceed_once",
    }}))
}

fn model() -> ModelServer {
    ModelServer::with_responses([calls("run_shell_command", json!({"command": TOUCH})), says("Made.")])
}

/// A session that asks about a command: its task, the path of its messages, and what was read of it.
pub(crate) async fn asking_session(client: &TestClient) -> (String, String, SseStream, Vec<SseFrame>) {
    let task = client.post("/tasks", &json!({})).await.json()["sessionId"].as_str().unwrap().to_owned();
    let path = format!("/tasks/{task}/messages/stream");
    let mut prompting = client.post_stream(&path, &message(json!({"text": "Make it"}))).await;
    let before = prompting.until(|frame| frame.payload()["state"] == "input-required").await;
    (task, path, prompting, before)
}

pub(crate) fn is_question(event: &Value) -> bool {
    event["kind"] == "TOOL_CALL_UPDATE" && event.get("confirmation_request").is_some()
}

fn statuses(frames: &[SseFrame]) -> Vec<String> {
    let calls = frames.iter().map(SseFrame::payload).filter(|event| event["kind"] == "TOOL_CALL_UPDATE");
    let mut statuses: Vec<_> = calls.map(|event| event["status"].as_str().unwrap().to_owned()).collect();
    statuses.dedup();
    statuses
}

#[tokio::test]
async fn a_command_is_approved_over_http_and_both_streams_see_the_end() {
    let model = model();
    let launch = launch_with(&model).argument("--live");
    let server = launch.start().await;
    let client = server.client();
    let (task, path, mut prompting, before) = asking_session(&client).await;
    let question = before.iter().map(SseFrame::payload).find(|event| is_question(event)).unwrap();
    assert_eq!(question["status"], "PENDING");
    assert_eq!(question["tool_name"], "run_shell_command");
    assert_eq!(question["taskId"], *task);
    assert_eq!(question["confirmation_request"]["details"]["execute_details"]["command"], TOUCH);
    let answer = approval(&question["tool_call_id"]);
    let mut answering = client.post_stream(&path, &answer).await;
    let (answered, after) = tokio::join!(answering.rest(), prompting.rest());
    for frames in [&answered, &after] {
        assert_eq!(statuses(frames).last().map(String::as_str), Some("SUCCEEDED"), "{frames:#?}");
        let last = frames.last().unwrap().payload();
        assert_eq!((&last["state"], &last["final"]), (&json!("idle"), &json!(true)), "{frames:#?}");
    }
    assert!(work(&launch).join("made").exists());
    let late = client.post(&path, &answer).await;
    assert!(late.json()["error"]["message"].is_string(), "{}", late.text());
}

#[tokio::test]
async fn a_command_is_approved_over_a_socket_that_came_later() {
    let model = model();
    let launch = launch_with(&model).argument("--live");
    let server = launch.start().await;
    let client = server.client();
    let (task, _, mut prompting, _) = asking_session(&client).await;
    let connection = TcpStream::connect(server.address()).await.unwrap();
    let (mut socket, _) = client_async(format!("ws://{}/ws", server.address()), connection).await.unwrap();
    let question = read_until(&mut socket, is_question).await;
    assert_eq!(question["confirmation_request"]["details"]["execute_details"]["command"], TOUCH);
    let answer = Frame::text(approval(&question["tool_call_id"]).to_string());
    socket.send(answer.clone()).await.unwrap();
    let end = read_until(&mut socket, |event| event["final"] == true).await;
    assert_eq!((&end["state"], &end["taskId"]), (&json!("idle"), &json!(task)));
    assert_eq!(prompting.rest().await.last().unwrap().payload()["state"], "idle");
    assert!(work(&launch).join("made").exists());
    socket.send(answer).await.unwrap();
    read_until(&mut socket, |frame| frame["error"]["message"].is_string()).await;
}

pub(crate) async fn read_until(
    socket: &mut WebSocketStream<TcpStream>,
    enough: impl Fn(&Value) -> bool,
) -> Value {
    let reading = async {
        loop {
            let frame = socket.next().await.unwrap().unwrap();
            if let Frame::Text(text) = frame
                && let Ok(event) = serde_json::from_str(&text)
                && enough(&event)
            {
                return event;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), reading).await.expect("it comes in time")
}

async fn connect(address: &str) -> WebSocketStream<TcpStream> {
    let connection = TcpStream::connect(address).await.unwrap();
    client_async(format!("ws://{address}/ws"), connection).await.unwrap().0
}

async fn request(socket: &mut WebSocketStream<TcpStream>, mut frame: Value) -> Value {
    frame["id"] = json!("answer");
    socket.send(Frame::text(frame.to_string())).await.unwrap();
    read_until(socket, |frame| frame["id"] == "answer").await
}

#[tokio::test]
async fn an_answer_without_its_question_is_refused_and_opens_no_session() {
    let model = model();
    let launch = launch_with(&model).argument("--live");
    let server = launch.start().await;
    let client = server.client();
    let (_, _, mut prompting, before) = asking_session(&client).await;
    let question = before.iter().map(SseFrame::payload).find(|event| is_question(event)).unwrap();
    let answer = approval(&question["tool_call_id"]);
    let taken = request(&mut connect(server.address()).await, answer.clone()).await;
    assert!(taken["result"].is_object(), "{taken}");
    prompting.rest().await;
    // None of these sockets has written to a task before.
    let mut late = connect(server.address()).await;
    let refused = request(&mut late, answer.clone()).await;
    let said = refused["error"]["message"].as_str().unwrap();
    assert!(said.contains("was answered already"), "{said}");
    let refused = request(&mut late, approval(&json!("no-such-call"))).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("no-such-call"), "{refused}");
    for (data, field) in [
        (json!({"kind": "TOOL_CALL_CONFIRMATION"}), "tool_call_id"),
        (json!({"x": 1}), "tool_call_id"),
        (
            json!({"kind": "TOOL_CALL_CONFIRMATION", "tool_call_id": 7, "selected_option_id": "cancel"}),
            "tool_call_id",
        ),
        (json!({"kind": "TOOL_CALL_CONFIRMATION", "tool_call_id": "k"}), "selected_option_id"),
        (json!({"choice": "proceed_once"}), "tool_call_id"),
    ] {
        let refused = request(&mut late, message(json!({"data": data}))).await;
        assert!(refused["error"]["message"].as_str().unwrap().contains(field), "{refused}");
    }
    let reserved = client.post("/tasks", &json!({})).await.json()["taskId"].as_str().unwrap().to_owned();
    let refused = client.post(&format!("/tasks/{reserved}/messages/stream"), &answer).await;
    assert_eq!(refused.status, 400, "{}", refused.text());
    let listed = client.get("/tasks").await.json();
    assert_eq!(listed["tasks"].as_array().unwrap().len(), 2, "{listed}");
}

#[tokio::test]
async fn an_answer_at_once_reaches_the_task_that_asks() {
    let rounds = 8;
    let mut responses = Vec::new();
    for _ in 0..rounds {
        responses.extend([calls("run_shell_command", json!({"command": TOUCH})), says("Made.")]);
    }
    let model = ModelServer::with_responses(responses);
    let launch = launch_with(&model).argument("--live");
    let server = launch.start().await;
    let mut watching = connect(server.address()).await;
    for _ in 0..rounds {
        let mut prompting = connect(server.address()).await;
        let begun = request(&mut prompting, message(json!({"text": "Make it"}))).await;
        let task = begun["result"]["taskId"].clone();
        let question = read_until(&mut watching, |event| is_question(event) && event["taskId"] == task).await;
        // This socket has no task of its own, and the task may not wait yet.
        let mut answering = connect(server.address()).await;
        let taken = request(&mut answering, approval(&question["tool_call_id"])).await;
        assert_eq!(taken["result"]["taskId"], task, "{taken}");
        read_until(&mut watching, |event| event["taskId"] == task && event["final"] == true).await;
    }
}
