//! What tests say to an agent over JSON-RPC 1.0, and what they read of its tasks and streams.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{SseFrame, SseStream, TestClient, WAIT_TIMEOUT};

/// Parameters of a send.
pub fn message(id: &str, text: &str) -> Value {
    json!({"message": {"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]}})
}

/// Parameters of a send to a task.
pub fn message_to(task: &str, id: &str, text: &str) -> Value {
    json!({"message": {"messageId": id, "taskId": task, "role": "ROLE_USER", "parts": [{"text": text}]}})
}

/// Parameters of a send into a context.
pub fn message_in(context: &Value, id: &str, text: &str) -> Value {
    let mut params = message(id, text);
    params["message"]["contextId"] = context.clone();
    params
}

pub async fn send(client: &TestClient, id: &str, text: &str) -> Value {
    client.rpc("SendMessage", message(id, text)).await["result"]["task"].clone()
}

/// Sends to a task. Returns the task, or the whole response if there is none.
pub async fn reply(client: &TestClient, id: &str, task: &Value, text: &str) -> Value {
    let task = task["id"].as_str().expect("a task");
    task_or_all(client.rpc("SendMessage", message_to(task, id, text)).await)
}

/// Sends to a task, or into a context, and does not wait for its end.
pub async fn drop_in(client: &TestClient, mut params: Value) -> Value {
    params["configuration"] = json!({"returnImmediately": true});
    task_or_all(client.rpc("SendMessage", params).await)
}

fn task_or_all(answer: Value) -> Value {
    answer["result"].get("task").cloned().unwrap_or(answer)
}

/// The fault with which a message with this metadata is refused; null if it is taken.
pub async fn refusal(client: &TestClient, id: &str, metadata: Value) -> Value {
    let mut params = message(id, "Hello");
    params["message"]["metadata"] = metadata;
    client.rpc("SendMessage", params).await["error"].clone()
}

pub async fn task(client: &TestClient, id: &str) -> Value {
    client.rpc("GetTask", json!({"id": id})).await["result"].clone()
}

#[track_caller]
pub fn state(task: &Value) -> &str {
    task["status"]["state"].as_str().unwrap_or_else(|| panic!("{task:#}"))
}

/// The text of the last message in the history.
#[track_caller]
pub fn answer_text(task: &Value) -> String {
    let history = task["history"].as_array().expect("a history");
    history.last().expect("a message")["parts"][0]["text"].as_str().expect("a text").to_owned()
}

/// What a task asks, as a client reads it that knows text only.
pub fn question(task: &Value) -> String {
    task["status"]["message"]["parts"][0]["text"].as_str().unwrap_or_else(|| panic!("{task:#}")).to_owned()
}

/// The id of the only call that the question names, as a person reads it.
pub fn call_in(question: &str) -> String {
    let line = question.lines().find(|line| line.contains("): ")).unwrap_or_else(|| panic!("{question}"));
    line.split_once('(').expect("the id of a call").1.split_once(')').expect("the id of a call").0.to_owned()
}

/// The text of an artifact of a task; empty when there is none.
pub fn artifact(task: &Value, id: &str) -> String {
    let artifacts = task["artifacts"].as_array().cloned().unwrap_or_default();
    let found = artifacts.into_iter().find(|artifact| artifact["artifactId"] == id);
    found.filter(|artifact| artifact["parts"].is_array()).map(|artifact| parts(&artifact)).unwrap_or_default()
}

/// The text of all parts.
#[track_caller]
pub fn parts(holder: &Value) -> String {
    holder["parts"].as_array().expect("parts").iter().filter_map(|part| part["text"].as_str()).collect()
}

/// The task once it is finished or waits for a person.
pub async fn settled(client: &TestClient, id: &str) -> Value {
    loop {
        let task = task(client, id).await;
        if !matches!(state(&task), "TASK_STATE_SUBMITTED" | "TASK_STATE_WORKING") {
            return task;
        }
        tokio::task::yield_now().await;
    }
}

/// The task once it is in the state named, without `TASK_STATE_`.
pub async fn reaches(client: &TestClient, id: &str, wanted: &str) -> Value {
    let waiting = async {
        let mut ticks = tokio::time::interval(Duration::from_millis(5));
        loop {
            let task = task(client, id).await;
            if state(&task).trim_start_matches("TASK_STATE_") == wanted {
                return task;
            }
            ticks.tick().await;
        }
    };
    match tokio::time::timeout(WAIT_TIMEOUT, waiting).await {
        Ok(task) => task,
        Err(_) => panic!("the task is never {wanted}: {:#}", task(client, id).await),
    }
}

/// Sends a message that opens a task; its id and the rest of its stream.
pub async fn open(client: &TestClient, id: &str, text: &str) -> (String, SseStream) {
    let mut stream = client.rpc_stream("SendStreamingMessage", message(id, text)).await;
    let first = stream.next().await.expect("the task");
    (first.payload()["task"]["id"].as_str().expect("an id").to_owned(), stream)
}

/// Everything a new task shows until its stream ends.
pub async fn frames(client: &TestClient, id: &str, text: &str) -> Vec<SseFrame> {
    client.rpc_stream("SendStreamingMessage", message(id, text)).await.rest().await
}

/// As [`frames`], for a message to a task.
pub async fn answer(client: &TestClient, task: &str, id: &str, text: &str) -> Vec<SseFrame> {
    client.rpc_stream("SendStreamingMessage", message_to(task, id, text)).await.rest().await
}

/// Every event of a task that is over, from its beginning, as a client gets them that resumes the stream wherever it ends.
pub async fn replay(client: &TestClient, id: &str) -> Vec<SseFrame> {
    let mut frames: Vec<SseFrame> = Vec::new();
    loop {
        let cursor = frames.last().map_or(1, |frame| frame.id.expect("a cursor"));
        let following = client.with("last-event-id", &cursor.to_string());
        let more = following.rpc_stream("SubscribeToTask", json!({"id": id})).await.rest().await;
        let skipped = usize::from(!frames.is_empty());
        frames.extend_from_slice(&more[skipped..]);
        if frames.last().is_some_and(is_final) {
            return frames;
        }
    }
}

/// Whether nothing can follow.
pub fn is_final(frame: &SseFrame) -> bool {
    let state = frame.payload()["statusUpdate"]["status"]["state"].as_str().unwrap_or_default();
    ["COMPLETED", "FAILED", "CANCELED", "REJECTED"].contains(&state.trim_start_matches("TASK_STATE_"))
}

/// Whether the task asks.
pub fn is_question(frame: &SseFrame) -> bool {
    frame.payload()["statusUpdate"]["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
}

/// The stream, frame by frame, must read like this; `…` at the end of a line stands for anything.
#[track_caller]
pub fn check(frames: &[SseFrame], expected: &[&str]) {
    check_lines(&lines(frames), expected);
}

/// The lines must be these; `…` at the end of a line stands for anything.
#[track_caller]
pub fn check_lines(lines: &[String], expected: &[&str]) {
    let fits = |(line, expected): (&String, &&str)| match expected.strip_suffix('…') {
        Some(beginning) => line.starts_with(beginning),
        None => line == expected,
    };
    let all = lines.len() == expected.len() && lines.iter().zip(expected).all(fits);
    assert!(all, "expected {expected:#?}, found {lines:#?}");
}

/// `task STATE`; `STATE [reason] first line of the message`; `artifact = replaced`, `artifact + added`, with a full
/// stop in brackets behind the last piece.
pub fn lines(frames: &[SseFrame]) -> Vec<String> {
    frames.iter().map(line).collect()
}

fn line(frame: &SseFrame) -> String {
    let payload = frame.payload();
    if let Some(update) = payload.get("statusUpdate") {
        let message = &update["status"]["message"];
        let reason = message["metadata"]["reason"].as_str().map(|reason| format!(" [{reason}]"));
        let said = message["parts"][0]["text"].as_str().and_then(|text| text.lines().next());
        let said = said.map(|said| format!(" {said}"));
        let (reason, said) = (reason.unwrap_or_default(), said.unwrap_or_default());
        return format!("{}{reason}{said}", short(&update["status"]));
    }
    if let Some(update) = payload.get("artifactUpdate") {
        let artifact = &update["artifact"];
        let text = artifact["parts"][0]["text"].as_str().and_then(|text| text.lines().next());
        let how = if update["append"] == true { "+" } else { "=" };
        let last = if update["lastChunk"] == true { " (.)" } else { "" };
        let id = artifact["artifactId"].as_str().expect("an id");
        return format!("{id} {how} {}{last}", text.unwrap_or_default());
    }
    assert!(payload.get("task").is_some(), "{payload:#}");
    format!("task {}", short(&payload["task"]["status"]))
}

fn short(status: &Value) -> &str {
    status["state"].as_str().expect("a state").trim_start_matches("TASK_STATE_")
}
