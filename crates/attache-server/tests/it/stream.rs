//! Streams: what comes first, what follows, where they end, and how they are taken up again.

use std::time::Duration;

use attache_testkit::{SseFrame, TestClient};
use serde_json::{Value, json};

use crate::world::{launch, message, message_to};

#[tokio::test]
async fn s2_a_stream_begins_with_the_task_and_ends_with_the_terminal_status() {
    let server = launch().start().await;
    let mut stream = server.client().rpc_stream("SendStreamingMessage", message("m1", "stream")).await;
    assert_eq!(stream.status, 200);
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
    assert_eq!(stream.header("x-accel-buffering"), Some("no"));
    let frames = stream.rest().await;
    let kinds: Vec<_> = frames.iter().map(kind).collect();
    let expected =
        ["task", "status WORKING", "create", "append", "append", "append", "append last", "status COMPLETED"];
    assert_eq!(kinds, expected);
    let ids: Vec<_> = frames.iter().map(|frame| frame.id.unwrap()).collect();
    assert_eq!(ids, (1..=8).collect::<Vec<_>>(), "no hole, no repeat");
}

#[tokio::test]
async fn s2_a_bare_reply_is_the_only_frame_of_its_stream() {
    let server = launch().start().await;
    let mut stream = server.client().rpc_stream("SendStreamingMessage", message("m1", "bare")).await;
    let frames = stream.rest().await;
    assert_eq!(frames.len(), 1);
    assert_eq!(frames[0].payload()["message"]["parts"][0]["text"], "Just a message.");
}

#[tokio::test]
async fn s3_two_readers_see_the_same_frames() {
    let server = launch().start().await;
    let client = server.client();
    let mut first = client.rpc_stream("SendStreamingMessage", message("m1", "stream")).await;
    let task = first.next().await.unwrap();
    let id = &task.payload()["task"]["id"];
    let mut second = client.with("last-event-id", "1").rpc_stream("SubscribeToTask", json!({"id": id})).await;
    let seen = second.next().await.unwrap();
    assert_eq!(seen.raw, task.raw, "the task as of the cursor is what the first reader saw then");
    let (first, second) = tokio::join!(first.rest(), second.rest());
    assert_eq!(first, second);
}

#[tokio::test]
async fn s4_a_stream_closes_at_a_question_and_at_a_credential_that_needs_a_message() {
    let server = launch().start().await;
    let client = server.client();
    for (text, last) in [("ask", "status INPUT_REQUIRED"), ("auth", "status AUTH_REQUIRED")] {
        let frames = client.rpc_stream("SendStreamingMessage", message(text, text)).await.rest().await;
        assert_eq!(kind(frames.last().unwrap()), last);
    }
}

#[tokio::test]
async fn s4_a_stream_stays_open_at_a_credential_that_comes_by_itself() {
    let server = launch().start().await;
    let client = server.client();
    let frames = client.rpc_stream("SendStreamingMessage", message("m1", "resume")).await.rest().await;
    let kinds: Vec<_> = frames.iter().map(kind).collect();
    assert_eq!(
        kinds,
        [
            "task",
            "status WORKING",
            "status AUTH_REQUIRED",
            "status WORKING",
            "create last",
            "status COMPLETED"
        ]
    );
}

#[tokio::test]
async fn s5_the_last_status_of_a_0_3_stream_is_final_and_no_other() {
    let server = launch().start().await;
    let client = server.client();
    for text in ["stream", "ask", "resume"] {
        let params = json!({"message": {"kind": "message", "messageId": text, "role": "user",
            "parts": [{"kind": "text", "text": text}]}});
        let frames = client.rpc_stream("message/stream", params).await.rest().await;
        let finals: Vec<_> = frames.iter().filter_map(|frame| frame.payload()["final"].as_bool()).collect();
        let (last, others) = finals.split_last().unwrap();
        assert!(*last, "{text}");
        assert!(others.iter().all(|it| !it), "{text}");
    }
}

#[tokio::test]
async fn s7_the_fold_of_a_stream_is_the_task_as_stored() {
    let server = launch().start().await;
    let client = server.client();
    for text in ["stream", "artifacts", "fail", "echo x"] {
        let frames = client.rpc_stream("SendStreamingMessage", message(text, text)).await.rest().await;
        let id = &frames[0].payload()["task"]["id"];
        let stored = client.rpc("GetTask", json!({"id": id})).await;
        let (artifacts, status) = fold(&frames);
        assert_eq!(artifacts, stored["result"]["artifacts"], "{text}");
        assert_eq!(status, stored["result"]["status"], "{text}");
    }
}

#[tokio::test]
async fn s8_a_subscriber_gets_the_task_then_the_rest_without_gap_or_repeat() {
    let script = "rules: [{steps: [{say: [x], repeat: 3000, every: 1ms}]}]";
    let server = launch().script(script).start().await;
    let client = server.client();
    let mut first = client.rpc_stream("SendStreamingMessage", message("m1", "go")).await;
    let id = first.next().await.unwrap().payload()["task"]["id"].clone();
    // Each of these joins somewhere in the burst.
    for _ in 0..20 {
        first.next().await.unwrap();
        let mut joined = client.rpc_stream("SubscribeToTask", json!({"id": id})).await;
        let task = joined.next().await.unwrap();
        let seen = task.id.unwrap();
        let parts = &task.payload()["task"]["artifacts"][0]["parts"];
        assert!(parts.as_array().is_none_or(|parts| parts.len() == 1), "{parts}");
        let held = parts[0]["text"].as_str().map_or(0, str::len) as u64;
        assert_eq!(held, seen.saturating_sub(2), "the snapshot holds exactly what happened up to its id");
        for expected in seen + 1..seen + 6 {
            assert_eq!(joined.next().await.unwrap().id, Some(expected));
        }
    }
    client.rpc("CancelTask", json!({"id": id})).await;
}

#[tokio::test]
async fn s8_s9_a_finished_task_refuses_subscribers_in_1_0_and_shows_itself_in_0_3() {
    let server = launch().start().await;
    let client = server.client();
    let done = client.rpc("SendMessage", message("m1", "echo a")).await;
    let id = &done["result"]["task"]["id"];
    let refused = client.rpc("SubscribeToTask", json!({"id": id})).await;
    assert_eq!(refused["error"]["code"], -32004);
    let frames = client.rpc_stream("tasks/resubscribe", json!({"id": id})).await.rest().await;
    assert_eq!(frames.len(), 1);
    assert_eq!(frames[0].payload()["status"]["state"], "completed");
}

#[tokio::test]
async fn s8_a_waiting_task_can_be_subscribed_to_and_shows_what_comes() {
    let server = launch().start().await;
    let client = server.client();
    let asked = client.rpc("SendMessage", message("m1", "ask")).await;
    let id = asked["result"]["task"]["id"].as_str().unwrap();
    let mut stream = client.rpc_stream("SubscribeToTask", json!({"id": id})).await;
    assert_eq!(kind(&stream.next().await.unwrap()), "task");
    client.rpc("SendMessage", message_to(id, "m2", "Ada")).await;
    let kinds: Vec<_> = stream.rest().await.iter().map(kind).collect();
    assert_eq!(kinds, ["status WORKING", "create last", "status COMPLETED"]);
}

#[tokio::test]
async fn a_stream_can_be_taken_up_after_every_one_of_its_events() {
    for launch in [launch(), launch().durable()] {
        let server = launch.start().await;
        let client = server.client();
        let frames = client.rpc_stream("SendStreamingMessage", message("m1", "artifacts")).await.rest().await;
        let id = &frames[0].payload()["task"]["id"];
        for (place, frame) in frames.iter().enumerate().take(frames.len() - 1) {
            let cursor = frame.id.unwrap().to_string();
            let client = client.with("last-event-id", &cursor);
            let again = client.rpc_stream("SubscribeToTask", json!({"id": id})).await.rest().await;
            assert_eq!(again[0].id, frame.id, "the task as of the cursor comes first");
            assert_eq!(again[1..], frames[place + 1..], "then everything after it");
            let (artifacts, _) = fold(&frames[..=place]);
            let shown = &again[0].payload()["task"]["artifacts"];
            assert_eq!(shown.as_array().map_or(0, Vec::len), artifacts.as_array().unwrap().len());
        }
    }
}

#[tokio::test]
async fn a_stream_cut_off_is_taken_up_by_sending_the_same_message_again() {
    let server = launch().durable().start().await;
    let client = server.client();
    let params = message("m1", "stream");
    let mut cut = client.rpc_stream("SendStreamingMessage", params.clone()).await;
    let mut frames = vec![cut.next().await.unwrap(), cut.next().await.unwrap(), cut.next().await.unwrap()];
    drop(cut);
    let resumed = client
        .with("last-event-id", "3")
        .rpc_stream("SendStreamingMessage", params.clone())
        .await
        .rest()
        .await;
    assert_eq!(resumed[0].id, Some(3));
    frames.extend_from_slice(&resumed[1..]);
    // Also when the task is over: who says where it was cut off sends nothing new.
    let client = client.with("last-event-id", "1");
    let whole = client.rpc_stream("SendStreamingMessage", params).await.rest().await;
    assert_eq!(frames, whole);
}

#[tokio::test]
async fn a_cursor_that_is_no_event_is_refused() {
    let server = launch().start().await;
    let client = server.client();
    let asked = client.rpc("SendMessage", message("m1", "ask")).await;
    let id = &asked["result"]["task"]["id"];
    for cursor in ["9999", "abc", "-1"] {
        let refused = client.with("last-event-id", cursor).rpc("SubscribeToTask", json!({"id": id})).await;
        assert_eq!(refused["error"]["code"], -32602, "{cursor}: {refused:#}");
        assert!(refused["error"]["message"].as_str().unwrap().contains("Last-Event-ID"));
    }
}

#[tokio::test]
async fn a_silent_stream_shows_that_it_lives() {
    let server = launch().limits(|limits| limits.heartbeat = Duration::from_secs(1)).start().await;
    let mut stream = server.client().rpc_stream("SendStreamingMessage", message("m1", "slow")).await;
    stream.until(|frame| frame.payload().get("artifactUpdate").is_some()).await;
    for _ in 0..2 {
        assert_eq!(stream.comment().await, "keep-alive");
    }
}

fn kind(frame: &SseFrame) -> String {
    let payload = frame.payload();
    if let Some(update) = payload.get("statusUpdate") {
        let state = update["status"]["state"].as_str().unwrap();
        return format!("status {}", state.trim_start_matches("TASK_STATE_"));
    }
    if let Some(update) = payload.get("artifactUpdate") {
        let kind = if update["append"] == true { "append" } else { "create" };
        return if update["lastChunk"] == true { format!("{kind} last") } else { kind.to_owned() };
    }
    assert!(payload.get("task").is_some(), "{payload:#}");
    "task".to_owned()
}

/// What a client that only sees the stream holds at its end: artifacts and status.
fn fold(frames: &[SseFrame]) -> (Value, Value) {
    let mut artifacts: Vec<Value> = Vec::new();
    let mut status = Value::Null;
    for frame in frames {
        let payload = frame.payload();
        if let Some(update) = payload.get("statusUpdate") {
            status = update["status"].clone();
        }
        let Some(update) = payload.get("artifactUpdate") else { continue };
        let artifact = &update["artifact"];
        let known = artifacts.iter_mut().find(|known| known["artifactId"] == artifact["artifactId"]);
        match known {
            Some(known) if update["append"] == true => {
                for part in artifact["parts"].as_array().unwrap() {
                    append(known["parts"].as_array_mut().unwrap(), part);
                }
            }
            Some(known) => *known = artifact.clone(),
            None => artifacts.push(artifact.clone()),
        }
    }
    (Value::Array(artifacts), status)
}

/// Tasks show a text after a text as one part, if neither says more about itself.
fn append(parts: &mut Vec<Value>, part: &Value) {
    let is_plain = |part: &Value| part.as_object().is_some_and(|members| members.keys().eq(["text"]));
    match parts.last_mut() {
        Some(last) if is_plain(last) && is_plain(part) => {
            last["text"] =
                json!(format!("{}{}", last["text"].as_str().unwrap(), part["text"].as_str().unwrap()));
        }
        _ => parts.push(part.clone()),
    }
}

#[tokio::test]
async fn a_follow_up_message_resumes_after_its_turn_is_over() {
    let script =
        "rules: [{steps: [{ask: Name?}, {say: [Hello, ' you'], every: 1ms}, {ask: Age?}, {say: Old.}]}]";
    let server = launch().script(script).start().await;
    let client = server.client();
    let opened = client.post("/message:send", &message("m-1", "hi")).await.json();
    let task = opened["task"]["id"].as_str().unwrap().to_owned();
    let stream = async |client: &TestClient, id: &str| {
        client.post_stream("/message:stream", &message_to(&task, id, id)).await.rest().await
    };
    let ids =
        |frames: &[SseFrame]| frames.iter().map(|frame| frame.id_text.clone().unwrap()).collect::<Vec<_>>();
    let second = stream(&client, "m-2").await;
    let third = stream(&client, "m-3").await;
    assert!(second.len() > 3 && third.len() > 2, "{second:#?} {third:#?}");
    for (id, whole) in [("m-2", &second), ("m-3", &third)] {
        for (index, cursor) in ids(whole).into_iter().enumerate() {
            let resumed = stream(&client.with("Last-Event-ID", &cursor), id).await;
            assert!(
                resumed[0].data.get("task").is_some(),
                "in 1.0 a stream begins with the task: {resumed:#?}"
            );
            assert_eq!(ids(&resumed[1..]), ids(whole)[index + 1..], "{id} after {cursor}");
        }
    }
    let before = ids(&second).pop().unwrap();
    let resumed = stream(&client.with("Last-Event-ID", &before), "m-3").await;
    assert_eq!(ids(&resumed[1..]), ids(&third)[1..], "a cursor of the turn before");
}
