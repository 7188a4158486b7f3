//! Agents of 0.3, and those that do not speak what their card says.

use attache_client::{
    Client, ClientError, ClientOptions, OutgoingMessage, PushConfig, StreamEvent, TaskState, Version,
};
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use serde_json::json;

use crate::{answer, card, connect, task};

fn task_0_3() -> serde_json::Value {
    json!({"kind": "task", "id": "t-1", "contextId": "c-1", "status": {"state": "completed"}})
}

#[tokio::test]
async fn an_agent_of_0_3_is_called_in_its_own_words() {
    let card = json!({
        "protocolVersion": "0.3.0", "name": "old", "url": "/a2a", "preferredTransport": "JSONRPC",
        "capabilities": {"streaming": true},
    });
    let server = ModelServer::with_responses([
        answer(200, card),
        answer(200, json!({"jsonrpc": "2.0", "id": 1, "result": task_0_3()})),
    ]);
    let client = connect(&server).await;
    let sent = client.send(OutgoingMessage::text("m-1", "hi")).await.unwrap();
    assert_eq!(sent.status().unwrap().state, Some(TaskState::Completed));
    let received = server.received();
    let body = received[1].json();
    assert_eq!((body["method"].as_str(), received[1].target.as_str()), (Some("message/send"), "/a2a"));
    assert_eq!(body["params"]["message"]["kind"], "message");
    assert_eq!(body["params"]["message"]["parts"], json!([{"kind": "text", "text": "hi"}]));
    assert_eq!(received[1].header("a2a-version"), Some("0.3"));
    assert_eq!(received[1].header("x-a2a-extensions"), Some(""));
    let error = client.list(Default::default()).await.unwrap_err();
    assert!(error.to_string().contains("A2A 0.3 has no request for"), "{error}");
}

#[tokio::test]
async fn a_version_that_is_refused_is_left_for_the_other_one_and_that_is_remembered() {
    for refusal in [
        json!({"error": {"code": -32601, "message": "Method not found"}}),
        json!({"error": {"code": -32009, "message": "use 0.3", "data": [{"reason": "VERSION_NOT_SUPPORTED"}]}}),
    ] {
        let result = || answer(200, json!({"jsonrpc": "2.0", "id": 1, "result": task_0_3()}));
        let server =
            ModelServer::with_responses([card("JSONRPC", "/"), answer(200, refusal), result(), result()]);
        let client = connect(&server).await;
        client.get("t-1", None).await.unwrap();
        client.get("t-1", None).await.unwrap();
        let methods: Vec<_> = server.received()[1..]
            .iter()
            .map(|it| it.json()["method"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(methods, ["GetTask", "tasks/get", "tasks/get"]);
        assert_eq!(client.protocol().version(), Version::V0_3);
    }
}

#[tokio::test]
async fn a_version_that_is_refused_by_the_first_event_of_a_stream_is_left_for_the_other_one() {
    let about_version = json!({"code": -32009, "message": "use 0.3"});
    let about_method = json!({"code": -32601, "message": "Method not found"});
    for (error, is_whole) in [(&about_version, true), (&about_version, false), (&about_method, false)] {
        let refusal = format!("data: {}\n\n", json!({"jsonrpc": "2.0", "id": 1, "error": error}));
        // A stream of known length, and one that stays open after the refusal.
        let refusal = match is_whole {
            true => PlannedResponse::text(200, "text/event-stream", &refusal),
            false => PlannedResponse::stream().bytes(refusal).hold(),
        };
        let done = || {
            let event = json!({"jsonrpc": "2.0", "id": 1, "result": task_0_3()});
            PlannedResponse::stream().bytes(format!("data: {event}\n\n"))
        };
        let server = ModelServer::with_responses([card("JSONRPC", "/"), refusal, done(), done()]);
        let client = connect(&server).await;
        for id in ["m-1", "m-2"] {
            let mut events = client.stream(OutgoingMessage::text(id, "hi")).await.unwrap();
            let event = events.next().await.unwrap().unwrap();
            assert_eq!(event.status().unwrap().state, Some(TaskState::Completed));
        }
        let methods: Vec<_> = server.received()[1..]
            .iter()
            .map(|it| it.json()["method"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(methods, ["SendStreamingMessage", "message/stream", "message/stream"]);
        assert_eq!(client.protocol().version(), Version::V0_3);
    }
}

#[tokio::test]
async fn over_http_json_a_version_is_refused_by_the_first_event_too() {
    let info =
        json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "VERSION_NOT_SUPPORTED"});
    let error = json!({"error": {"code": 400, "message": "use 0.3", "details": [info]}});
    let refusal = PlannedResponse::stream().bytes(format!("data: {error}\n\n")).hold();
    let done = json!({"task": task("TASK_STATE_COMPLETED")});
    let done = PlannedResponse::stream().bytes(format!("data: {done}\n\n"));
    let server = ModelServer::with_responses([card("HTTP+JSON", "/"), refusal, done]);
    let client = connect(&server).await;
    client.stream(OutgoingMessage::text("m-1", "hi")).await.unwrap();
    let targets: Vec<_> = server.received()[1..].iter().map(|it| it.target.clone()).collect();
    assert_eq!(targets, ["/message:stream", "/v1/message:stream"]);
    assert_eq!(client.protocol().version(), Version::V0_3);
}

#[tokio::test]
async fn a_refusal_that_both_versions_share_is_about_the_call() {
    let refused = || answer(200, json!({"error": {"code": -32601, "message": "no pushes here"}}));
    let server = ModelServer::with_responses([card("JSONRPC", "/"), refused(), refused()]);
    let client = connect(&server).await;
    let error = client.push_configs("t-1", "").await.unwrap_err();
    assert!(matches!(&error, ClientError::Refused(_)), "{error:?}");
    assert_eq!(client.protocol().version(), Version::V1_0);
}

#[tokio::test]
async fn a_version_that_the_caller_wants_has_no_other() {
    let refused = answer(200, json!({"error": {"code": -32601, "message": "Method not found"}}));
    let server = ModelServer::with_responses([card("JSONRPC", "/"), refused]);
    let options = ClientOptions { version: Some(Version::V1_0), ..ClientOptions::default() };
    let client = Client::connect(&server.url(), options).await.unwrap();
    client.get("t-1", None).await.unwrap_err();
    assert_eq!(server.received().len(), 2);
}

#[tokio::test]
async fn routes_that_are_not_there_are_looked_for_in_the_other_version() {
    let server = ModelServer::with_responses([
        card("HTTP+JSON", "/base"),
        PlannedResponse::text(404, "text/plain", "no such page"),
        answer(200, json!({"task": task("TASK_STATE_COMPLETED")})),
    ]);
    let client = connect(&server).await;
    let sent = client.send(OutgoingMessage::text("m-1", "hi")).await.unwrap();
    assert!(matches!(sent, StreamEvent::Task(_)), "{sent:?}");
    let targets: Vec<_> = server.received()[1..].iter().map(|it| it.target.clone()).collect();
    assert_eq!(targets, ["/base/message:send", "/base/v1/message:send"]);
}

#[tokio::test]
async fn a_push_configuration_is_offered_in_both_forms_of_0_3() {
    let card = json!({
        "protocolVersion": "0.3.0", "url": "/", "preferredTransport": "HTTP+JSON", "capabilities": {},
    });
    let refused = json!({"code": -32602, "message": "pushNotificationConfig is missing"});
    let name = "tasks/t-1/pushNotificationConfigs/p-1";
    let stored =
        json!({"name": name, "pushNotificationConfig": {"id": "p-1", "url": "https://hook.example"}});
    let server = ModelServer::with_responses([answer(200, card), answer(400, refused), answer(200, stored)]);
    let client = connect(&server).await;
    let url = "https://hook.example".to_owned();
    let config = PushConfig { id: "p-1".into(), url, token: None, authentication: None };
    let created = client.create_push_config("t-1", config.clone()).await.unwrap();
    assert_eq!((created.task.as_str(), created.config), ("t-1", config));
    let received = server.received();
    assert_eq!(received[1].json()["config"]["name"], name);
    assert_eq!(received[2].json()["name"], name);
}

/// An agent over HTTP+JSON of 0.3 that serves subscriptions with one verb.
fn subscriptions_with(verb: &'static str) -> ModelServer {
    ModelServer::with_handler(move |request| {
        let done =
            json!({"task": {"id": "t-1", "contextId": "c-1", "status": {"state": "TASK_STATE_COMPLETED"}}});
        match (request.method.as_str(), request.target.as_str()) {
            ("GET", target) if target.contains("well-known") => card("HTTP+JSON", "/"),
            (method, "/tasks/t-1:subscribe") if method == verb => {
                PlannedResponse::stream().bytes(format!("data: {done}\n\n"))
            }
            _ => PlannedResponse::text(405, "text/plain", "not here"),
        }
    })
}

#[tokio::test]
async fn a_subscription_that_is_refused_with_post_is_made_with_get_and_that_is_remembered() {
    let server = subscriptions_with("GET");
    let client = connect(&server).await;
    for _ in 0..2 {
        let mut events = client.subscribe("t-1", Some("7")).await.unwrap();
        assert!(matches!(events.next().await, Some(Ok(StreamEvent::Task(_)))));
    }
    let received = server.received();
    let methods: Vec<_> = received[1..].iter().map(|it| it.method.as_str()).collect();
    assert_eq!(methods, ["POST", "GET", "GET"]);
    assert_eq!(received[2].header("last-event-id"), Some("7"));
    let server = subscriptions_with("POST");
    connect(&server).await.subscribe("t-1", None).await.unwrap();
    assert_eq!(server.received().len(), 2);
}
