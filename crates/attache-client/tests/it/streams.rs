//! Streams that are cut and reconnect.

use std::sync::atomic::{AtomicUsize, Ordering};

use attache_client::{
    ClientError, EventStream, OutgoingMessage, REPLAY, StreamEvent, TaskState, artifact_text,
};
use attache_testkit::model_server::{ModelServer, PlannedResponse, ReceivedRequest, ResponseEnd};
use serde_json::{Value, json};

use crate::{answer, card, connect, task};

fn frame(planned: PlannedResponse, id: u64, item: &Value) -> PlannedResponse {
    planned.bytes(format!("id: {id}\ndata: {}\n\n", json!({"jsonrpc": "2.0", "id": 1, "result": item})))
}

fn stream(items: &[(u64, Value)], ending: ResponseEnd) -> PlannedResponse {
    let planned =
        items.iter().fold(PlannedResponse::stream(), |planned, (id, item)| frame(planned, *id, item));
    planned.ending(ending)
}

fn said(text: &str) -> Value {
    let artifact = json!({"artifactId": "answer-1", "parts": [{"text": text}]});
    json!({"artifactUpdate": {"taskId": "t-1", "contextId": "c-1", "artifact": artifact, "append": true}})
}

fn status(state: &str) -> Value {
    json!({"statusUpdate": {"taskId": "t-1", "contextId": "c-1", "status": {"state": state}}})
}

fn whole(state: &str) -> Value {
    json!({"task": task(state)})
}

async fn begin(server: &ModelServer) -> EventStream {
    connect(server).await.stream(OutgoingMessage::text("m-1", "hi")).await.unwrap()
}

/// The text, and the last state or error.
async fn read(mut events: EventStream) -> (String, Option<TaskState>, Option<ClientError>) {
    let (mut text, mut state) = (String::new(), None);
    while let Some(event) = events.next().await {
        match event {
            Ok(StreamEvent::ArtifactUpdate(update)) => text.push_str(&artifact_text(&update.artifact)),
            Ok(event) => state = event.status().and_then(|status| status.state),
            Err(error) => return (text, state, Some(error)),
        }
    }
    (text, state, None)
}

#[tokio::test]
async fn a_cut_stream_goes_on_where_it_was() {
    let first = stream(&[(1, whole("TASK_STATE_SUBMITTED")), (3, said("one "))], ResponseEnd::Cut);
    let second = stream(&[(3, whole("TASK_STATE_WORKING")), (4, said("two "))], ResponseEnd::Reset);
    let third = stream(
        &[(4, whole("TASK_STATE_WORKING")), (5, said("three")), (6, status("TASK_STATE_COMPLETED"))],
        ResponseEnd::Whole,
    );
    let busy = PlannedResponse::text(503, "text/plain", "starting");
    let server = ModelServer::with_responses([card("JSONRPC", "/"), first, busy, second, third]);
    let (text, state, error) = read(begin(&server).await).await;
    assert_eq!((text.as_str(), state), ("one two three", Some(TaskState::Completed)), "{error:?}");
    let received = server.received();
    let asked: Vec<_> =
        received[2..].iter().map(|request| request.header("last-event-id").unwrap()).collect();
    assert_eq!(asked, ["3", "3", "4"]);
    assert_eq!(received[4].json()["method"], "SubscribeToTask");
}

#[tokio::test]
async fn a_stream_that_ends_in_peace_before_its_task_is_taken_up_again() {
    let first = stream(&[(1, whole("TASK_STATE_WORKING"))], ResponseEnd::Whole);
    let second = stream(
        &[(1, whole("TASK_STATE_WORKING")), (2, status("TASK_STATE_INPUT_REQUIRED"))],
        ResponseEnd::Whole,
    );
    let server = ModelServer::with_responses([card("JSONRPC", "/"), first, second]);
    let (_, state, error) = read(begin(&server).await).await;
    assert_eq!(state, Some(TaskState::InputRequired), "{error:?}");
    assert_eq!(server.received().len(), 3);
}

#[tokio::test]
async fn a_stream_that_cannot_come_back_says_so_after_a_few_tries() {
    let first = stream(&[(1, whole("TASK_STATE_WORKING")), (2, said("one"))], ResponseEnd::Cut);
    let again = || stream(&[(2, whole("TASK_STATE_WORKING"))], ResponseEnd::Cut);
    let server =
        ModelServer::with_responses([card("JSONRPC", "/"), first, again(), again(), again(), again()]);
    let (text, _, error) = read(begin(&server).await).await;
    assert_eq!(text, "one");
    assert!(matches!(error, Some(ClientError::StreamLost { tries: 3, .. })), "{error:?}");
    assert_eq!(server.unused_responses(), 0, "it looks once more at the task, and does not try forever");
}

#[tokio::test]
async fn a_task_that_is_gone_when_the_stream_comes_back_is_an_error() {
    let first = stream(&[(1, whole("TASK_STATE_WORKING"))], ResponseEnd::Cut);
    let gone = answer(200, json!({"error": {"code": -32001, "message": "there is no task t-1"}}));
    let server = ModelServer::with_responses([card("JSONRPC", "/"), first, gone]);
    let (_, _, error) = read(begin(&server).await).await;
    assert!(error.as_ref().is_some_and(ClientError::is_not_found), "{error:?}");
}

#[tokio::test]
async fn an_error_in_a_stream_ends_it() {
    let oh = "event: error\ndata: {\"error\":{\"code\":-32603,\"message\":\"oh\"}}\n\n";
    let broken = frame(PlannedResponse::stream(), 1, &whole("TASK_STATE_WORKING")).bytes(oh);
    let server = ModelServer::with_responses([card("JSONRPC", "/"), broken]);
    let (_, _, error) = read(begin(&server).await).await;
    assert_eq!(error.map(|error| error.to_string()).as_deref(), Some("oh"));
}

#[tokio::test]
async fn a_stream_that_a_server_ends_for_its_length_is_taken_up_again() {
    let info = json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "DEADLINE_EXCEEDED"});
    let error = json!({"error": {"code": -32603, "message": "too long", "data": [info]}});
    let first = frame(PlannedResponse::stream(), 1, &whole("TASK_STATE_WORKING"));
    let second = stream(&[(2, status("TASK_STATE_COMPLETED"))], ResponseEnd::Whole);
    let server = ModelServer::with_responses([
        card("JSONRPC", "/"),
        first.bytes(format!("data: {error}\n\n")),
        second,
    ]);
    let (_, state, error) = read(begin(&server).await).await;
    assert_eq!(state, Some(TaskState::Completed), "{error:?}");
}

#[tokio::test]
async fn a_refusal_in_the_place_of_the_first_event_is_one_of_the_message() {
    let refused =
        PlannedResponse::stream().bytes("data: {\"error\":{\"code\":-32602,\"message\":\"oh\"}}\n\n").hold();
    let server = ModelServer::with_responses([card("JSONRPC", "/"), refused]);
    let error = connect(&server).await.stream(OutgoingMessage::text("m-1", "hi")).await.unwrap_err();
    assert!(matches!(&error, ClientError::Refused(_)), "{error:?}");
}

#[tokio::test]
async fn a_bare_message_is_a_whole_stream() {
    let message =
        json!({"message": {"messageId": "a-1", "role": "ROLE_AGENT", "parts": [{"text": "hello"}]}});
    let planned = PlannedResponse::stream().bytes(format!("data: {message}\n\n"));
    let server = ModelServer::with_responses([card("HTTP+JSON", "/"), planned]);
    let mut events = begin(&server).await;
    let event = events.next().await.unwrap().unwrap();
    assert!(matches!(&event, StreamEvent::Message(message) if message.text() == "hello"), "{event:?}");
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn a_subscription_begins_where_it_is_told() {
    let events =
        stream(&[(0, whole("TASK_STATE_SUBMITTED")), (1, status("TASK_STATE_FAILED"))], ResponseEnd::Whole);
    let server = ModelServer::with_responses([card("JSONRPC", "/"), events]);
    let events = connect(&server).await.subscribe("t-1", Some("0")).await.unwrap();
    assert_eq!(read(events).await.1, Some(TaskState::Failed));
    assert_eq!(server.received()[1].header("last-event-id"), Some("0"));
}

#[tokio::test]
async fn a_task_that_ended_while_the_stream_was_cut_is_fetched() {
    let first = stream(&[(1, whole("TASK_STATE_WORKING")), (2, said("one"))], ResponseEnd::Cut);
    let over = answer(200, json!({"error": {"code": -32004, "message": "it is over"}}));
    let fetched = answer(200, json!({"result": task("TASK_STATE_COMPLETED")}));
    let server = ModelServer::with_responses([card("JSONRPC", "/"), first, over, fetched]);
    let (text, state, error) = read(begin(&server).await).await;
    assert_eq!((text.as_str(), state), ("one", Some(TaskState::Completed)), "{error:?}");
    let methods: Vec<_> =
        server.received()[1..].iter().map(|it| it.json()["method"].as_str().unwrap().to_owned()).collect();
    assert_eq!(methods, ["SendStreamingMessage", "SubscribeToTask", "GetTask"], "nothing is sent twice");
}

/// A cut stream of an agent that refuses subscriptions, and then what the task's fetches get.
fn cut_without_subscriptions(fetched: impl IntoIterator<Item = PlannedResponse>) -> ModelServer {
    let first = stream(&[(1, whole("TASK_STATE_WORKING"))], ResponseEnd::Cut);
    let refused = answer(200, json!({"error": {"code": -32004, "message": "no subscriptions here"}}));
    ModelServer::with_responses([card("JSONRPC", "/"), first, refused].into_iter().chain(fetched))
}

#[tokio::test]
async fn a_fetch_that_fails_on_the_way_after_a_cut_is_tried_again() {
    let busy = |status| PlannedResponse::text(status, "text/plain", "not now");
    let broken = PlannedResponse::text(200, "application/json", "{").ending(ResponseEnd::Reset);
    let done = answer(200, json!({"result": task("TASK_STATE_COMPLETED")}));
    let server = cut_without_subscriptions([busy(500), broken, busy(502), done]);
    let (_, state, error) = read(begin(&server).await).await;
    assert_eq!(state, Some(TaskState::Completed), "{error:?}");
}

#[tokio::test]
async fn a_connection_that_stays_lost_after_a_cut_is_told_from_a_refusal() {
    let busy = || PlannedResponse::text(500, "text/plain", "not now");
    let server = cut_without_subscriptions([busy(), busy(), busy(), busy()]);
    let error = read(begin(&server).await).await.2.unwrap();
    assert!(matches!(&error, ClientError::StreamLost { tries: 3, .. }), "{error:?}");
    assert!(error.is_lost_connection() && error.to_string().contains("HTTP status 500"), "{error}");
    let gone = answer(200, json!({"error": {"code": -32001, "message": "there is no task t-1"}}));
    let error = read(begin(&cut_without_subscriptions([busy(), gone])).await).await.2.unwrap();
    assert!(error.is_not_found() && !error.is_lost_connection(), "{error:?}");
}

#[tokio::test]
async fn a_message_is_sent_again_only_to_an_agent_that_recognises_it() {
    let lost = || PlannedResponse::stream().ending(ResponseEnd::Cut);
    let server = ModelServer::with_responses([card("JSONRPC", "/"), lost()]);
    let (_, _, error) = read(begin(&server).await).await;
    assert!(matches!(error, Some(ClientError::StreamLost { tries: 0, .. })), "{error:?}");
    assert_eq!(server.received().len(), 2);

    let replay = json!({
        "supportedInterfaces": [{"url": "/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "capabilities": {"streaming": true, "extensions": [{"uri": REPLAY}]},
    });
    let done = stream(&[(1, whole("TASK_STATE_COMPLETED"))], ResponseEnd::Whole);
    let server = ModelServer::with_responses([answer(200, replay), lost(), done]);
    let (_, state, error) = read(begin(&server).await).await;
    assert_eq!(state, Some(TaskState::Completed), "{error:?}");
    let received = server.received();
    assert_eq!(received[2].header("last-event-id"), Some("0"), "it says that it resumes");
    assert_eq!(received[1].json(), received[2].json(), "the same message");
}

#[tokio::test]
async fn an_agent_without_streams_is_asked_until_its_task_settles() {
    let still = json!({
        "supportedInterfaces": [{"url": "/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "capabilities": {"streaming": false},
    });
    let result = |result: Value| answer(200, json!({ "result": result }));
    let server = ModelServer::with_responses([
        answer(200, still),
        result(whole("TASK_STATE_WORKING")),
        result(task("TASK_STATE_WORKING")),
        result(task("TASK_STATE_COMPLETED")),
    ]);
    let mut events = begin(&server).await;
    let mut states = Vec::new();
    while let Some(event) = events.next().await {
        states.push(event.unwrap().status().unwrap().state.unwrap());
    }
    assert_eq!(states, [TaskState::Working, TaskState::Completed], "what is not new is not told");
    assert_eq!(server.received()[1].json()["method"], "SendMessage");
}

#[tokio::test]
async fn a_subscription_that_is_refused_by_an_event_gives_the_task() {
    let refused =
        PlannedResponse::stream().bytes("data: {\"error\":{\"code\":-32004,\"message\":\"it is over\"}}\n\n");
    let fetched = answer(200, json!({"result": task("TASK_STATE_COMPLETED")}));
    let server = ModelServer::with_responses([card("JSONRPC", "/"), refused, fetched]);
    let events = connect(&server).await.subscribe("t-1", None).await.unwrap();
    assert_eq!(read(events).await.1, Some(TaskState::Completed));
}

/// An agent without event ids: its subscriptions give `given(n)` and end.
fn unnumbered(given: fn(usize) -> Vec<Value>, polled: fn(usize) -> Value) -> ModelServer {
    let counts = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let stream = |items: Vec<Value>| {
        items.iter().fold(PlannedResponse::stream(), |planned, item| {
            planned.bytes(format!("data: {}\n\n", json!({"jsonrpc": "2.0", "id": 1, "result": item})))
        })
    };
    ModelServer::with_handler(move |request| {
        if request.target.contains("well-known") {
            return card("JSONRPC", "/");
        }
        match request.json()["method"].as_str().unwrap() {
            "GetTask" => answer(200, json!({"result": polled(counts[0].fetch_add(1, Ordering::Relaxed))})),
            "SubscribeToTask" => stream(given(counts[1].fetch_add(1, Ordering::Relaxed))),
            _ => stream(vec![whole("TASK_STATE_WORKING")]),
        }
    })
}

/// Its subscriptions begin with the next event, so earlier events are lost.
#[tokio::test]
async fn events_that_were_lost_in_a_cut_come_with_the_whole_task() {
    let given = |_| vec![said("two "), said("three"), status("TASK_STATE_COMPLETED")];
    // An agent that stores what it gives to a second reader twice, and one that does not.
    let doubled: fn(usize) -> Value = |_| ended(&["one ", "two ", "two ", "three", "three"]);
    let single: fn(usize) -> Value = |_| ended(&["one ", "two ", "three"]);
    for fetched in [doubled, single] {
        let server = unnumbered(given, fetched);
        let mut events = begin(&server).await;
        let mut last = None;
        while let Some(event) = events.next().await {
            last = Some(event.unwrap());
        }
        let Some(StreamEvent::Task(task)) = last else { panic!("{last:#?}") };
        assert_eq!(task.status.state, Some(TaskState::Completed));
        assert_eq!(artifact_text(&task.artifacts[0]), "one two three");
        assert_eq!(count(&server, "GetTask"), 1);
    }
}

fn ended(pieces: &[&str]) -> Value {
    let parts: Vec<Value> = pieces.iter().map(|text| json!({ "text": text })).collect();
    let mut ended = task("TASK_STATE_COMPLETED");
    ended["artifacts"] = json!([{"artifactId": "answer-1", "parts": parts}]);
    ended
}

fn count(server: &ModelServer, method: &str) -> usize {
    let of_method = |it: &&ReceivedRequest| !it.body.is_empty() && it.json()["method"] == method;
    server.received().iter().filter(of_method).count()
}

#[tokio::test]
async fn an_agent_whose_subscriptions_only_show_the_task_is_polled() {
    let timed = |number: usize| {
        let mut shown = whole("TASK_STATE_WORKING");
        shown["task"]["status"]["timestamp"] = json!(format!("2026-01-01T00:00:{number:02}Z"));
        vec![shown]
    };
    let polled = |number: usize| task(if number < 3 { "TASK_STATE_WORKING" } else { "TASK_STATE_COMPLETED" });
    let silent: fn(usize) -> Vec<Value> = |_| vec![status("TASK_STATE_WORKING")];
    for given in [timed, silent] {
        let server = unnumbered(given, polled);
        let (_, state, error) = read(begin(&server).await).await;
        assert_eq!(state, Some(TaskState::Completed), "{error:?}");
        assert!(count(&server, "SubscribeToTask") <= 4, "{}", count(&server, "SubscribeToTask"));
        assert_eq!(count(&server, "GetTask"), 4);
    }
}

#[tokio::test]
async fn an_agent_whose_subscriptions_end_at_once_is_asked_less_and_less_often() {
    let server = unnumbered(|_| vec![said("again ")], |_| task("TASK_STATE_WORKING"));
    let reading = read(begin(&server).await);
    tokio::time::timeout(std::time::Duration::from_secs(2), reading).await.unwrap_err();
    let asked = count(&server, "SubscribeToTask");
    assert!((2..=7).contains(&asked), "{asked}");
}
