//! Single calls, in both bindings.

use attache_client::{
    Client, ClientError, ClientOptions, ListTasks, OutgoingMessage, PushConfig, StreamEvent, TaskState,
};
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use serde_json::json;

use crate::{TOKEN, answer, card, connect, task};

#[tokio::test]
async fn a_call_in_json_rpc_carries_version_and_token_and_gives_the_result() {
    let result = json!({"jsonrpc": "2.0", "id": 1, "result": {"task": task("TASK_STATE_COMPLETED")}});
    let server = ModelServer::with_responses([card("JSONRPC", "/rpc"), answer(200, result)]);
    let client = connect(&server).await;
    let sent = client.send(OutgoingMessage::text("m-1", "hi")).await.unwrap();
    assert!(
        matches!(&sent, StreamEvent::Task(task) if task.status.state == Some(TaskState::Completed)),
        "{sent:?}"
    );
    let received = server.received();
    assert_eq!(received[0].target, "/.well-known/agent-card.json");
    assert_eq!(received[0].header("authorization"), None, "a card is public");
    assert_eq!(received[1].target, "/rpc");
    assert_eq!(received[1].header("a2a-version"), Some("1.0"));
    assert_eq!(received[1].header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));
    let body = received[1].json();
    assert_eq!(body["method"], "SendMessage");
    assert_eq!(body["params"]["message"]["parts"], json!([{"text": "hi"}]));
    assert!(!format!("{client:?}").contains(TOKEN), "a token does not show itself");
}

#[tokio::test]
async fn every_call_names_the_extensions_to_speak_also_when_there_are_none() {
    let speak = vec!["https://a.example/v1".to_owned(), "https://b.example/v0".to_owned()];
    for (extensions, header) in
        [(speak, Some("https://a.example/v1, https://b.example/v0")), (vec![], Some(""))]
    {
        let server = ModelServer::with_responses([
            card("HTTP+JSON", "/"),
            answer(200, task("TASK_STATE_WORKING")),
            PlannedResponse::stream()
                .bytes(format!("data: {}\n\n", json!({"task": task("TASK_STATE_COMPLETED")}))),
        ]);
        let options = ClientOptions { extensions, ..ClientOptions::default() };
        let client = Client::connect(&server.url(), options).await.unwrap();
        client.get("t-1", None).await.unwrap();
        let mut events = client.subscribe("t-1", None).await.unwrap();
        assert!(matches!(events.next().await, Some(Ok(StreamEvent::Task(_)))));
        for received in &server.received()[1..] {
            assert_eq!(received.header("a2a-extensions"), header);
        }
    }
}

#[tokio::test]
async fn a_call_in_http_json_goes_to_its_path() {
    let page = json!({"tasks": [task("TASK_STATE_WORKING")], "nextPageToken": "p2", "totalSize": 7});
    let server = ModelServer::with_responses([
        card("HTTP+JSON", "/"),
        answer(200, page),
        answer(200, task("TASK_STATE_CANCELED")),
    ]);
    let client = connect(&server).await;
    let list = ListTasks { page_size: 2, history_length: Some(0), ..ListTasks::default() };
    let page = client.list(list).await.unwrap();
    assert_eq!((page.tasks.len(), page.next_page_token.as_str(), page.total_size), (1, "p2", 7));
    assert_eq!(client.cancel("t-1").await.unwrap().status.state, Some(TaskState::Canceled));
    let received = server.received();
    assert_eq!(received[1].target, "/tasks?historyLength=0&pageSize=2");
    assert_eq!((received[2].method.as_str(), received[2].target.as_str()), ("POST", "/tasks/t-1:cancel"));
}

#[tokio::test]
async fn a_refusal_keeps_its_code_and_its_message() {
    let details = json!([{"reason": "TASK_NOT_FOUND"}]);
    let rpc = json!({"error": {"code": -32001, "message": "no such task", "data": details}});
    let rest = json!({"error": {"code": 404, "message": "no such task", "details": details}});
    for (binding, status, body, expected) in [("JSONRPC", 200, rpc, -32001), ("HTTP+JSON", 404, rest, 404)] {
        let server = ModelServer::with_responses([card(binding, "/"), answer(status, body)]);
        let error = connect(&server).await.get("t-1", None).await.unwrap_err();
        assert!(error.is_not_found() && !error.is_finished(), "{error:?}");
        assert_eq!(error.to_string(), "no such task");
        assert!(matches!(error, ClientError::Refused(ref refused) if refused.code == expected), "{error:?}");
    }
}

#[tokio::test]
async fn a_wrong_token_is_told_apart() {
    for binding in ["JSONRPC", "HTTP+JSON"] {
        let body = json!({"error": {"code": -32600, "message": "who are you?"}});
        let server = ModelServer::with_responses([card(binding, "/"), answer(401, body)]);
        let error = connect(&server).await.get("t-1", None).await.unwrap_err();
        assert!(matches!(error, ClientError::Unauthenticated { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn what_is_no_a2a_is_said_to_be_none() {
    let server = ModelServer::with_responses([
        card("JSONRPC", "/"),
        PlannedResponse::text(502, "text/html", "<h1>Bad gateway</h1>"),
        answer(200, json!({"result": {"neither": "task nor message"}})),
        answer(200, json!([])),
    ]);
    let client = connect(&server).await;
    let error = client.get("t-1", None).await.unwrap_err();
    assert!(matches!(&error, ClientError::Status { status: 502, .. }) && error.is_transient(), "{error:?}");
    for _ in 0..2 {
        let error = client.get("t-1", None).await.unwrap_err();
        assert!(matches!(error, ClientError::Malformed { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn an_answer_has_a_largest_size() {
    let server =
        ModelServer::with_responses([card("JSONRPC", "/"), answer(200, json!({"result": "x".repeat(99)}))]);
    let options = ClientOptions { max_response_bytes: 50, ..ClientOptions::default() };
    let client = Client::connect(&server.url(), options).await.unwrap();
    let error = client.get("t-1", None).await.unwrap_err();
    assert_eq!(error.to_string(), "the answer is larger than 50 bytes");
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_given_up() {
    let server = ModelServer::with_responses([card("JSONRPC", "/"), PlannedResponse::stream().hold()]);
    let deadline = Some(std::time::Duration::from_millis(50));
    let options = ClientOptions { deadline, ..ClientOptions::default() };
    let client = Client::connect(&server.url(), options).await.unwrap();
    let error = client.get("t-1", None).await.unwrap_err();
    assert!(matches!(error, ClientError::Deadline { .. }), "{error:?}");
}

#[tokio::test]
async fn push_configurations_are_created_read_listed_and_deleted() {
    let stored = json!({"taskId": "t-1", "id": "p-1", "url": "https://hook.example"});
    let server = ModelServer::with_responses([
        card("HTTP+JSON", "/"),
        answer(200, stored.clone()),
        answer(200, stored.clone()),
        answer(200, json!({"configs": [stored]})),
        PlannedResponse::text(204, "application/json", ""),
    ]);
    let client = connect(&server).await;
    let config = PushConfig {
        id: "p-1".into(),
        url: "https://hook.example".into(),
        token: None,
        authentication: None,
    };
    assert_eq!(client.create_push_config("t-1", config.clone()).await.unwrap().config, config);
    assert_eq!(client.push_config("t-1", "p-1").await.unwrap().task.as_str(), "t-1");
    assert_eq!(client.push_configs("t-1", "").await.unwrap().configs.len(), 1);
    client.delete_push_config("t-1", "p-1").await.unwrap();
    let asked: Vec<_> =
        server.received()[1..].iter().map(|it| format!("{} {}", it.method, it.target)).collect();
    let below = "/tasks/t-1/pushNotificationConfigs";
    assert_eq!(
        asked,
        [
            format!("POST {below}"),
            format!("GET {below}/p-1"),
            format!("GET {below}"),
            format!("DELETE {below}/p-1")
        ]
    );
}
