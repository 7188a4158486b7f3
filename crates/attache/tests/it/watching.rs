//! Waits for what a test is about, and reads streams as lines that can be compared.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::process::Command;
use std::time::Duration;

use attache_testkit::model_server::{ModelServer, PlannedResponse, gemini};
use attache_testkit::{ServerLaunch, SseFrame, SseStream, TestClient, WAIT_TIMEOUT};
use serde_json::{Value, json};

use crate::agent_world::{state, work};
use crate::support::{message, message_to};

/// Waits until `condition` holds.
pub(crate) async fn eventually(what: &str, condition: impl Fn() -> bool) {
    let waiting = async {
        let mut ticks = tokio::time::interval(Duration::from_millis(2));
        while !condition() {
            ticks.tick().await;
        }
    };
    tokio::time::timeout(WAIT_TIMEOUT, waiting)
        .await
        .unwrap_or_else(|_| panic!("{what} does not come about"));
}

/// A zombie counts as dead, too.
pub(crate) fn lives(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status
        .lines()
        .any(|line| line.starts_with("State:") && !line.contains("zombie") && !line.contains("dead"))
}

/// Tells whether a command lives, whichever namespace its processes are in: one that runs `exec 9>NAME.alive; echo started >&9`
/// keeps the pipe open.
pub(crate) struct Pipe(File);

impl Pipe {
    pub(crate) fn of(launch: &ServerLaunch, name: &str) -> Self {
        let path = work(launch).join(format!("{name}.alive"));
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let nonblocking = 0o4000;
        Self(File::options().read(true).custom_flags(nonblocking).open(path).unwrap())
    }

    pub(crate) fn has_started(&self) -> bool {
        (&self.0).read(&mut [0; 64]).is_ok_and(|count| count > 0)
    }

    /// All have closed it, which only their end does.
    pub(crate) fn is_over(&self) -> bool {
        match (&self.0).read(&mut [0; 64]) {
            Ok(count) => count == 0,
            Err(error) if error.kind() == ErrorKind::WouldBlock => false,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Waits until the model has been asked so many times.
pub(crate) async fn asked(model: &ModelServer, times: usize) {
    eventually("the question to the model", || model.received().len() >= times).await;
}

/// The task once it is in the state named, without `TASK_STATE_`.
pub(crate) async fn reaches(client: &TestClient, id: &str, wanted: &str) -> Value {
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

pub(crate) async fn task(client: &TestClient, id: &str) -> Value {
    client.rpc("GetTask", json!({"id": id})).await["result"].clone()
}

/// Sends a message that opens a task; its id and the rest of its stream.
pub(crate) async fn open(client: &TestClient, id: &str, text: &str) -> (String, SseStream) {
    let mut stream = client.rpc_stream("SendStreamingMessage", message(id, text)).await;
    let first = stream.next().await.unwrap();
    (first.payload()["task"]["id"].as_str().unwrap().to_owned(), stream)
}

/// Everything a new task shows until its stream ends.
pub(crate) async fn frames(client: &TestClient, id: &str, text: &str) -> Vec<SseFrame> {
    client.rpc_stream("SendStreamingMessage", message(id, text)).await.rest().await
}

/// As [`frames`], for a message to a task.
pub(crate) async fn answer(client: &TestClient, task: &str, id: &str, text: &str) -> Vec<SseFrame> {
    client.rpc_stream("SendStreamingMessage", message_to(task, id, text)).await.rest().await
}

/// Sends to a task, or into a context, and does not wait for what comes of it.
pub(crate) async fn drop_in(client: &TestClient, mut params: Value) -> Value {
    params["configuration"] = json!({"returnImmediately": true});
    let answer = client.rpc("SendMessage", params).await;
    answer["result"].get("task").cloned().unwrap_or(answer)
}

/// Parameters of a send into a context.
pub(crate) fn message_in(context: &Value, id: &str, text: &str) -> Value {
    let mut params = message(id, text);
    params["message"]["contextId"] = context.clone();
    params
}

/// An answer that begins with `text` and then hangs.
pub(crate) fn stuck(text: &str) -> PlannedResponse {
    gemini::answer([gemini::chunk().text(text)]).hold()
}

/// An answer that does not begin.
pub(crate) fn silent() -> PlannedResponse {
    PlannedResponse::stream().hold()
}

/// One answer with several calls.
pub(crate) fn batch<'a>(calls: impl IntoIterator<Item = (&'a str, Value)>) -> PlannedResponse {
    let chunk = calls.into_iter().fold(gemini::chunk(), |chunk, (name, input)| chunk.call(name, input));
    gemini::answer([chunk.finish("STOP").usage(100, 10)])
}

/// What the model was told last, without what the workplace says at the beginning.
pub(crate) fn told(model: &ModelServer) -> Vec<Value> {
    model.received().last().unwrap().json()["contents"].as_array().unwrap()[1..].to_vec()
}

/// The results that the model was last given, in order: tool and text.
pub(crate) fn outputs(model: &ModelServer) -> Vec<(String, String)> {
    let told = told(model);
    let parts = told.last().unwrap()["parts"].as_array().unwrap().clone();
    let responses = parts.iter().filter_map(|part| part.get("functionResponse"));
    responses.map(|it| (it["name"].as_str().unwrap().to_owned(), it["response"].to_string())).collect()
}

/// The stream, frame by frame, must read like this; `…` at the end of a line stands for anything.
#[track_caller]
pub(crate) fn check(frames: &[SseFrame], expected: &[&str]) {
    let lines = lines(frames);
    let fits = |(line, expected): (&String, &&str)| match expected.strip_suffix('…') {
        Some(beginning) => line.starts_with(beginning),
        None => line == expected,
    };
    let all = lines.len() == expected.len() && lines.iter().zip(expected).all(fits);
    assert!(all, "expected {expected:#?}, found {lines:#?}");
}

/// `task STATE`; `STATE [reason] first line of the message`; `artifact = replaced`, `artifact + added`, with a full
/// stop in brackets behind the last piece.
pub(crate) fn lines(frames: &[SseFrame]) -> Vec<String> {
    frames.iter().map(line).collect()
}

fn line(frame: &SseFrame) -> String {
    let payload = frame.payload();
    if let Some(update) = payload.get("statusUpdate") {
        let message = &update["status"]["message"];
        let reason = message["metadata"]["reason"].as_str().map(|reason| format!(" [{reason}]"));
        let said = message["parts"][0]["text"].as_str().and_then(|text| text.lines().next());
        let said = said.map(|said| format!(" {said}"));
        return format!(
            "{}{}{}",
            short(&update["status"]),
            reason.unwrap_or_default(),
            said.unwrap_or_default()
        );
    }
    if let Some(update) = payload.get("artifactUpdate") {
        let artifact = &update["artifact"];
        let text =
            artifact["parts"][0]["text"].as_str().and_then(|text| text.lines().next()).unwrap_or_default();
        let how = if update["append"] == true { "+" } else { "=" };
        let last = if update["lastChunk"] == true { " (.)" } else { "" };
        return format!("{} {how} {text}{last}", artifact["artifactId"].as_str().unwrap());
    }
    assert!(payload.get("task").is_some(), "{payload:#}");
    format!("task {}", short(&payload["task"]["status"]))
}

fn short(status: &Value) -> String {
    status["state"].as_str().unwrap().trim_start_matches("TASK_STATE_").to_owned()
}

/// The text of an artifact of a task; empty when there is none.
pub(crate) fn artifact(task: &Value, id: &str) -> String {
    let artifacts = task["artifacts"].as_array().cloned().unwrap_or_default();
    let found = artifacts.into_iter().find(|artifact| artifact["artifactId"] == id);
    let parts = found.and_then(|artifact| artifact["parts"].as_array().cloned()).unwrap_or_default();
    parts.iter().filter_map(|part| part["text"].as_str()).collect()
}

/// Every event of a task that is over, from its beginning, as a client gets them that takes up the stream again wherever
/// it ends.
pub(crate) async fn replay(client: &TestClient, id: &str) -> Vec<SseFrame> {
    let mut frames: Vec<SseFrame> = Vec::new();
    loop {
        let cursor = frames.last().map_or(1, |frame| frame.id.unwrap());
        let following = client.with("last-event-id", &cursor.to_string());
        let more = following.rpc_stream("SubscribeToTask", json!({"id": id})).await.rest().await;
        let skipped = usize::from(!frames.is_empty());
        frames.extend_from_slice(&more[skipped..]);
        if frames.last().is_some_and(is_final) {
            return frames;
        }
    }
}

/// Nothing can follow.
pub(crate) fn is_final(frame: &SseFrame) -> bool {
    let state = frame.payload()["statusUpdate"]["status"]["state"].as_str().unwrap_or_default();
    ["COMPLETED", "FAILED", "CANCELED", "REJECTED"].contains(&state.trim_start_matches("TASK_STATE_"))
}

/// The task asks.
pub(crate) fn is_question(frame: &SseFrame) -> bool {
    frame.payload()["statusUpdate"]["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
}
