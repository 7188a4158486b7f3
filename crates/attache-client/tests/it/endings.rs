//! When a stream ends, and whose events it shows.

use std::time::{Duration, Instant};

use attache_client::{ClientError, EventStream, OutgoingMessage, StreamEvent, TaskState, artifact_text};
use attache_testkit::model_server::{ModelServer, PlannedResponse, ResponseEnd};
use serde_json::{Value, json};

use crate::{answer, card, connect, task};

fn frame(planned: PlannedResponse, item: &Value) -> PlannedResponse {
    planned.bytes(format!("data: {}\n\n", json!({"jsonrpc": "2.0", "id": 1, "result": item})))
}

fn events(items: &[Value]) -> PlannedResponse {
    items.iter().fold(PlannedResponse::stream(), frame)
}

fn status_of(task: &str, state: &str) -> Value {
    json!({"statusUpdate": {"taskId": task, "contextId": "c-1", "status": {"state": state}}})
}

fn status(state: &str) -> Value {
    status_of("t-1", state)
}

fn said_by(task: &str, text: &str) -> Value {
    let artifact = json!({"artifactId": "answer-1", "parts": [{"text": text}]});
    json!({"artifactUpdate": {"taskId": task, "contextId": "c-1", "artifact": artifact, "append": true}})
}

fn whole(state: &str) -> Value {
    json!({"task": task(state)})
}

async fn begin(server: &ModelServer) -> EventStream {
    connect(server).await.stream(OutgoingMessage::text("m-1", "hi")).await.unwrap()
}

/// The text, the last state, and the error if there was one.
async fn read(mut events: EventStream) -> (String, Option<TaskState>, Option<ClientError>) {
    let (mut text, mut state) = (String::new(), None);
    while let Some(event) = events.next().await {
        match event {
            Ok(StreamEvent::ArtifactUpdate(update)) => text.push_str(&artifact_text(&update.artifact)),
            Ok(event) => state = event.status().and_then(|status| status.state).or(state),
            Err(error) => return (text, state, Some(error)),
        }
    }
    (text, state, None)
}

#[tokio::test]
async fn a_task_that_ends_ends_its_stream_although_the_connection_stays_open() {
    let items = [whole("TASK_STATE_WORKING"), said_by("t-1", "one"), status("TASK_STATE_COMPLETED")];
    let late = [said_by("t-1", "late"), status("TASK_STATE_WORKING")];
    let held = late.iter().fold(events(&items), frame).hold();
    let server = ModelServer::with_responses([card("JSONRPC", "/"), held]);
    let (text, state, error) = read(begin(&server).await).await;
    assert_eq!((text.as_str(), state), ("one", Some(TaskState::Completed)), "{error:?}");
}

#[tokio::test]
async fn a_message_ends_the_stream() {
    let message =
        json!({"message": {"messageId": "a-1", "role": "ROLE_AGENT", "parts": [{"text": "hello"}]}});
    let held = events(&[message, whole("TASK_STATE_WORKING")]).hold();
    let server = ModelServer::with_responses([card("JSONRPC", "/"), held]);
    let mut stream = begin(&server).await;
    assert!(matches!(stream.next().await, Some(Ok(StreamEvent::Message(_)))));
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn a_question_ends_the_stream_soon_after() {
    let items = [whole("TASK_STATE_WORKING"), status("TASK_STATE_INPUT_REQUIRED"), said_by("t-1", "a part")];
    let server = ModelServer::with_responses([card("JSONRPC", "/"), events(&items).hold()]);
    let begun = Instant::now();
    let (text, state, error) = read(begin(&server).await).await;
    assert_eq!((text.as_str(), state), ("a part", Some(TaskState::InputRequired)), "{error:?}");
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn events_without_end_after_a_question_give_no_more_time() {
    let mut planned = events(&[whole("TASK_STATE_WORKING"), status("TASK_STATE_AUTH_REQUIRED")]);
    for _ in 0..2000 {
        planned = frame(planned, &said_by("t-1", "x")).pause(Duration::from_millis(10));
    }
    let server = ModelServer::with_responses([card("JSONRPC", "/"), planned]);
    let (text, state, error) = read(begin(&server).await).await;
    assert_eq!(state, Some(TaskState::AuthRequired), "{error:?}");
    assert!(text.len() < 1000, "{}", text.len());
}

#[tokio::test]
async fn a_task_that_goes_on_by_itself_after_a_question_is_followed() {
    let first = events(&[whole("TASK_STATE_WORKING"), status("TASK_STATE_AUTH_REQUIRED")]);
    let then = [status("TASK_STATE_WORKING"), said_by("t-1", "done"), status("TASK_STATE_COMPLETED")];
    let server = ModelServer::with_responses([card("JSONRPC", "/"), then.iter().fold(first, frame).hold()]);
    let (text, state, error) = read(begin(&server).await).await;
    assert_eq!((text.as_str(), state), ("done", Some(TaskState::Completed)), "{error:?}");
}

#[tokio::test]
async fn an_answer_is_followed_although_the_response_begins_with_the_old_question() {
    let planned = events(&[whole("TASK_STATE_INPUT_REQUIRED")]).pause(Duration::from_millis(1500));
    let items = [status("TASK_STATE_WORKING"), said_by("t-1", "done"), status("TASK_STATE_COMPLETED")];
    let planned = items.iter().fold(planned, frame).hold();
    let server = ModelServer::with_responses([card("JSONRPC", "/"), planned]);
    let message = OutgoingMessage::text("m-2", "blue").to_task("t-1");
    let stream = connect(&server).await.stream(message).await.unwrap();
    let (text, state, error) = read(stream).await;
    assert_eq!((text.as_str(), state), ("done", Some(TaskState::Completed)), "{error:?}");
}

#[tokio::test]
async fn events_of_another_task_are_dropped() {
    let items = [
        whole("TASK_STATE_WORKING"),
        said_by("t-1", "mine "),
        said_by("VICTIM", "theirs "),
        status_of("VICTIM", "TASK_STATE_FAILED"),
        json!({"task": {"id": "VICTIM", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}}),
        said_by("t-1", "mine"),
        status("TASK_STATE_COMPLETED"),
    ];
    let server = ModelServer::with_responses([card("JSONRPC", "/"), events(&items)]);
    let (text, state, error) = read(begin(&server).await).await;
    assert_eq!((text.as_str(), state), ("mine mine", Some(TaskState::Completed)), "{error:?}");
}

#[tokio::test]
async fn an_answer_about_another_task_is_an_error() {
    let other = json!({"id": "VICTIM", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}});
    let to_task = || OutgoingMessage::text("m-1", "hi").to_task("t-1");
    let streamed = events(&[json!({ "task": other })]);
    let result = |result: Value| answer(200, json!({ "result": result }));
    let server = ModelServer::with_responses([
        card("JSONRPC", "/"),
        streamed.clone(),
        streamed,
        result(json!({ "task": other })),
        result(other.clone()),
        result(other),
    ]);
    let client = connect(&server).await;
    let errors = [
        read(client.stream(to_task()).await.unwrap()).await.2.unwrap(),
        read(client.subscribe("t-1", None).await.unwrap()).await.2.unwrap(),
        client.send(to_task()).await.unwrap_err(),
        client.get("t-1", None).await.unwrap_err(),
        client.cancel("t-1").await.unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(&error, ClientError::OtherTask { named, .. } if named == "VICTIM"), "{error:?}");
    }
}

#[tokio::test]
async fn a_final_update_in_an_unknown_state_ends_the_stream() {
    let unknown = json!({"statusUpdate": {"taskId": "t-1", "status": {"state": "paused"}, "final": true}});
    let held = events(&[whole("TASK_STATE_WORKING"), said_by("t-1", "one"), unknown]).hold();
    let server = ModelServer::with_responses([card("JSONRPC", "/"), held]);
    let (text, state, error) = read(begin(&server).await).await;
    assert_eq!((text.as_str(), state), ("one", Some(TaskState::Working)), "{error:?}");
    assert!(error.is_none(), "{error:?}");
}

#[tokio::test]
async fn a_state_in_the_spelling_of_another_version_ends_the_stream() {
    for spelled in ["completed", "TASK_STATE_CANCELLED", "Failed"] {
        let held = events(&[whole("TASK_STATE_WORKING"), status(spelled)]).hold();
        let server = ModelServer::with_responses([card("JSONRPC", "/"), held]);
        let (_, state, error) = read(begin(&server).await).await;
        assert!(state.is_some_and(TaskState::is_terminal) && error.is_none(), "{spelled}: {error:?}");
    }
}

#[tokio::test]
async fn a_subscription_that_stays_silent_ends_when_the_fetched_task_has_ended() {
    let result = |result: Value| answer(200, json!({ "result": result }));
    let cut = events(&[whole("TASK_STATE_SUBMITTED"), said_by("t-1", "one")]).ending(ResponseEnd::Cut);
    let silent = PlannedResponse::stream().hold();
    let (working, failed) = (task("TASK_STATE_WORKING"), task("TASK_STATE_FAILED"));
    let server =
        ModelServer::with_responses([card("JSONRPC", "/"), cut, silent, result(working), result(failed)]);
    let (text, state, error) = read(begin(&server).await).await;
    assert_eq!((text.as_str(), state), ("one", Some(TaskState::Failed)), "{error:?}");
    assert_eq!(server.unused_responses(), 0);
}
