//! Agents that are not quite right: they are read, and what they get wrong is reported.

use attache_client::{ClientError, OutgoingMessage, StreamEvent, TaskState, artifact_text};
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use serde_json::{Value, json};

use crate::{answer, card, connect, task};

fn whole(state: &str) -> Value {
    json!({"task": task(state)})
}

fn said(text: &str) -> Value {
    let artifact = json!({"artifactId": "answer-1", "parts": [{"text": text}]});
    json!({"artifactUpdate": {"taskId": "t-1", "contextId": "c-1", "artifact": artifact, "append": true}})
}

fn done() -> Value {
    let status = json!({"state": "TASK_STATE_COMPLETED"});
    json!({"statusUpdate": {"taskId": "t-1", "contextId": "c-1", "status": status}})
}

/// Events as they are written one after the other, each with what ends it.
fn events(items: &[Value]) -> String {
    items.iter().map(|item| format!("data: {}\n\n", json!({"result": item}))).collect()
}

/// The text and the last state that come of a message, and the error.
async fn talk(responses: Vec<PlannedResponse>) -> (String, Option<TaskState>, Option<ClientError>) {
    let server = ModelServer::with_responses([vec![card("JSONRPC", "/")], responses].concat());
    let (mut text, mut state) = (String::new(), None);
    let mut stream = match connect(&server).await.stream(OutgoingMessage::text("m-1", "hi")).await {
        Ok(stream) => stream,
        Err(error) => return (text, state, Some(error)),
    };
    while let Some(event) = stream.next().await {
        match event {
            Ok(StreamEvent::ArtifactUpdate(update)) => text.push_str(&artifact_text(&update.artifact)),
            Ok(event) => state = event.status().and_then(|status| status.state),
            Err(error) => return (text, state, Some(error)),
        }
    }
    assert_eq!(server.unused_responses(), 0);
    (text, state, None)
}

#[tokio::test]
async fn a_last_event_without_a_blank_line_counts_and_a_piece_of_one_does_not() {
    let items = [whole("TASK_STATE_WORKING"), said("hello"), done()];
    let body = events(&items);
    let planned = PlannedResponse::stream().bytes(body.trim_end().to_owned());
    assert_eq!(talk(vec![planned]).await.1, Some(TaskState::Completed));

    let cut = PlannedResponse::stream().bytes(body[..body.len() - 20].to_owned());
    let rest = PlannedResponse::stream().bytes(events(&[whole("TASK_STATE_WORKING"), done()]));
    let (text, state, error) = talk(vec![cut, rest]).await;
    assert_eq!((text.as_str(), state), ("hello", Some(TaskState::Completed)), "{error:?}");

    // Its number may not have come: then the event comes again.
    let numbered = |id: u64, item: &Value| format!("data: {}\nid: {id}\n\n", json!({"result": item}));
    let body = numbered(1, &whole("TASK_STATE_WORKING")) + &numbered(2, &said("one "));
    let cut = PlannedResponse::stream().bytes(body[..body.len() - "id: 2\n\n".len()].to_owned());
    let rest = [whole("TASK_STATE_WORKING"), said("one "), done()];
    let rest: String = rest.iter().zip(1..).map(|(item, id)| numbered(id, item)).collect();
    let (text, state, error) = talk(vec![cut, PlannedResponse::stream().bytes(rest)]).await;
    assert_eq!((text.as_str(), state), ("one ", Some(TaskState::Completed)), "{error:?}");
}

#[tokio::test]
async fn one_response_instead_of_a_stream_is_its_first_event() {
    let (_, state, error) = talk(vec![answer(200, json!({"result": whole("TASK_STATE_COMPLETED")}))]).await;
    assert_eq!(state, Some(TaskState::Completed), "{error:?}");
    let working = answer(200, json!({"result": whole("TASK_STATE_WORKING")}));
    let no_subscription = answer(200, json!({"error": {"code": -32601, "message": "no such method"}}));
    let ended = answer(200, json!({"result": task("TASK_STATE_FAILED")}));
    let (_, state, error) = talk(vec![working, no_subscription.clone(), no_subscription, ended]).await;
    assert_eq!(state, Some(TaskState::Failed), "{error:?}");
}

#[tokio::test]
async fn the_content_type_of_a_stream_is_read_as_http_says() {
    let body = events(&[whole("TASK_STATE_WORKING"), done()]);
    for (status, kind) in [(200, "Text/Event-Stream; Charset=UTF-8"), (201, "text/event-stream")] {
        let (_, state, error) = talk(vec![PlannedResponse::text(status, kind, &body)]).await;
        assert_eq!(state, Some(TaskState::Completed), "{error:?}");
    }
    let (_, _, error) = talk(vec![PlannedResponse::text(200, "text/html", "<p>Welcome")]).await;
    let error = error.unwrap().to_string();
    assert!(error.contains("it is text/html, and has to be text/event-stream"), "{error}");
}

#[tokio::test]
async fn an_event_that_is_not_known_is_left_out_unless_there_is_no_other() {
    let later = json!({"weather": {"sun": true}});
    let body = events(&[whole("TASK_STATE_WORKING"), later.clone(), said("hello"), done()]);
    let (text, state, error) = talk(vec![PlannedResponse::stream().bytes(body)]).await;
    assert_eq!((text.as_str(), state), ("hello", Some(TaskState::Completed)), "{error:?}");
    let (_, _, error) = talk(vec![PlannedResponse::stream().bytes(events(&[later]))]).await;
    assert!(matches!(error, Some(ClientError::Malformed { .. })), "{error:?}");
}

#[tokio::test]
async fn what_is_no_event_is_left_out_and_the_whole_task_is_fetched_at_the_end() {
    let mut whole_task = task("TASK_STATE_COMPLETED");
    whole_task["artifacts"] = json!([{"artifactId": "answer-1", "parts": [{"text": "hello world"}]}]);
    let begin = events(&[whole("TASK_STATE_WORKING")]);
    for odd in
        ["event: ping\ndata: {}", "data: [DONE]", "data: {\"result\": {\"artifactUp", "data: 2024-01-01"]
    {
        let body = format!("{begin}data: \n\n{odd}\n\n{}", events(&[said("hello"), done()]));
        let fetched = answer(200, json!({ "result": whole_task }));
        let stream = PlannedResponse::stream().bytes(body);
        let server = ModelServer::with_responses([card("JSONRPC", "/"), stream, fetched]);
        let mut stream = connect(&server).await.stream(OutgoingMessage::text("m-1", "hi")).await.unwrap();
        let mut last = None;
        while let Some(event) = stream.next().await {
            last = Some(event.unwrap_or_else(|error| panic!("{odd}: {error}")));
        }
        let Some(StreamEvent::Task(task)) = last else { panic!("{odd}: {last:?}") };
        assert_eq!(artifact_text(&task.artifacts[0]), "hello world", "{odd}");
    }
    let body = format!("{begin}data: \n\n{}", events(&[said("hello"), done()]));
    let (text, state, error) = talk(vec![PlannedResponse::stream().bytes(body)]).await;
    assert_eq!((text.as_str(), state), ("hello", Some(TaskState::Completed)), "{error:?}");
    let endless = begin + &"data: x\n\n".repeat(2000);
    let (_, _, error) = talk(vec![PlannedResponse::stream().bytes(endless)]).await;
    assert!(matches!(error, Some(ClientError::Malformed { .. })), "{error:?}");
}

#[tokio::test]
async fn a_stream_without_an_event_says_what_became_of_the_message() {
    let (_, _, error) = talk(vec![PlannedResponse::stream()]).await;
    let error = error.unwrap().to_string();
    assert!(error.starts_with("the stream broke off before its first event (it ended early)"), "{error}");
    assert!(error.contains("the message may have arrived, and is not sent again"), "{error}");
}
