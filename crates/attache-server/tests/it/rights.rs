//! What clients with tokens of their own may do, on every interface.

use attache_domain::{Right, Rights};
use attache_net::Secret;
use attache_server::ClientToken;
use attache_testkit::{HttpResponse, TestClient};
use serde_json::{Value, json};

use crate::grpc::world::{Grpc, Speaks, info};
use crate::world::{Launch, TestServer, launch, message, message_to};

const VIEW: &str = "token-of-the-wall";
const PROMPT: &str = "token-of-the-editor";
const APPROVE: &str = "token-of-the-phone";

fn rights_of(token: &str) -> Rights {
    match token {
        VIEW => Rights::VIEW,
        PROMPT => Rights::VIEW.with(Right::Prompt),
        _ => Rights::VIEW.with(Right::Approve),
    }
}

pub(crate) fn with_clients() -> Launch {
    launch().options(|options| {
        options.live = true;
        let clients = [("wall", VIEW), ("editor", PROMPT), ("phone", APPROVE)].into_iter();
        let client = |(name, token): (&str, &str)| ClientToken {
            name: name.to_owned(),
            rights: rights_of(token),
            token: Secret::new(token),
        };
        options.clients = clients.map(client).collect();
    })
}

fn client(server: &TestServer, token: &str) -> TestClient {
    server.client().with("authorization", &format!("Bearer {token}"))
}

/// What a call needs.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Needs {
    View,
    Prompt,
    /// Sends something, so it needs one of both rights; what it says then needs prompt.
    Send,
}

/// One call of every kind on every interface, to the open task `task` or to the one that is `done`.
fn calls(task: &str, done: &str) -> Vec<(Needs, &'static str, String, Value)> {
    use Needs::*;
    let rpc =
        |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let old = |id: &str| json!({"message": {"messageId": id, "role": "user", "kind": "message", "parts": [{"kind": "text", "text": "echo a"}]}});
    let live = json!({"message": {"content": {"text": "echo a"}}});
    let hook = json!({"taskId": task, "id": "h", "url": "https://192.0.2.1/hook"});
    let path = |start: &str, end: &str| format!("{start}{task}{end}");
    let post = "POST";
    vec![
        (Send, post, "/".into(), rpc("SendMessage", message("r1", "echo a"))),
        (Send, post, "/".into(), rpc("SendStreamingMessage", message("r2", "echo a"))),
        (Send, post, "/".into(), rpc("message/send", old("r3"))),
        (Send, post, "/".into(), rpc("message/stream", old("r4"))),
        (Send, post, "/a2a".into(), rpc("SendMessage", message("r5", "echo a"))),
        (View, post, "/".into(), rpc("GetTask", json!({"id": task}))),
        (View, post, "/".into(), rpc("ListTasks", json!({}))),
        (View, post, "/".into(), rpc("tasks/get", json!({"id": task}))),
        (View, post, "/".into(), rpc("tasks/resubscribe", json!({"id": done}))),
        (Prompt, post, "/".into(), rpc("CancelTask", json!({"id": "nonesuch"}))),
        (Prompt, post, "/".into(), rpc("tasks/cancel", json!({"id": "nonesuch"}))),
        (Prompt, post, "/".into(), rpc("CreateTaskPushNotificationConfig", hook.clone())),
        (Prompt, post, "/".into(), rpc("GetTaskPushNotificationConfig", json!({"taskId": task, "id": "x"}))),
        (Prompt, post, "/".into(), rpc("ListTaskPushNotificationConfigs", json!({"taskId": task}))),
        (
            Prompt,
            post,
            "/".into(),
            rpc("DeleteTaskPushNotificationConfig", json!({"taskId": task, "id": "x"})),
        ),
        (View, post, "/".into(), rpc("commands/get", json!({}))),
        (Prompt, post, "/".into(), rpc("command/execute", json!({"command_path": ["help"]}))),
        (Send, post, "/message:send".into(), message("r6", "echo a")),
        (Send, post, "/message:stream".into(), message("r7", "echo a")),
        (View, "GET", path("/tasks/", ""), Value::Null),
        (Prompt, post, "/tasks/nonesuch:cancel".into(), json!({})),
        (Send, post, "/v1/message:send".into(), old_rest("r8")),
        (View, "GET", path("/v1/tasks/", ""), Value::Null),
        (Prompt, post, "/v1/tasks/nonesuch:cancel".into(), json!({})),
        (Prompt, post, "/tasks".into(), json!({})),
        (View, "GET", path("/tasks/", "/metadata"), Value::Null),
        (View, "GET", "/listCommands".into(), Value::Null),
        (Prompt, post, "/executeCommand".into(), json!({"command": "help"})),
        (Send, post, path("/tasks/", "/messages/stream"), live),
        (Send, post, path("/tasks/", "/execute"), json!({"message": "echo a"})),
        (Prompt, post, "/tasks/nonesuch/cancel".into(), json!({})),
        (View, "GET", "/tasks".into(), Value::Null),
        (View, "GET", "/commands".into(), Value::Null),
        (Prompt, post, "/commands/help/execute".into(), json!({})),
        (View, "GET", "/openapi.json".into(), Value::Null),
        (View, "GET", "/metrics".into(), Value::Null),
    ]
}

fn old_rest(id: &str) -> Value {
    json!({"message": {"messageId": id, "role": "ROLE_USER", "content": [{"text": "echo a"}]}})
}

async fn make(client: &TestClient, verb: &str, path: &str, body: &Value) -> HttpResponse {
    match verb {
        "GET" => client.get(path).await,
        _ => client.post(path, body).await,
    }
}

#[tokio::test]
async fn a_client_that_answers_a_confirmation_is_told_that_it_may_not_approve() {
    let server = with_clients().start().await;
    let opened = client(&server, PROMPT).rpc("SendMessage", message("first", "ask")).await;
    let path = format!("/tasks/{}/messages/stream", opened["result"]["task"]["id"].as_str().unwrap());
    let data =
        json!({"kind": "TOOL_CALL_CONFIRMATION", "tool_call_id": "k", "selected_option_id": "proceed_once"});
    let answer = json!({"message": {"content": {"data": data}}});
    let refused = client(&server, VIEW).post(&path, &answer).await;
    assert_eq!(refused.status, 403, "{}", refused.text());
    assert!(refused.text().contains("does not have the right approve"), "{}", refused.text());
}

#[tokio::test]
async fn each_call_at_each_door_needs_its_right() {
    let server = with_clients().start().await;
    let opened = async |id: &str, text: &str| {
        let sent = client(&server, PROMPT).rpc("SendMessage", message(id, text)).await;
        sent["result"]["task"]["id"].as_str().unwrap().to_owned()
    };
    // One waits for input, so that a message may follow, and nothing is asked about.
    let (task, done) = (opened("first", "ask").await, opened("second", "echo a").await);
    for token in [VIEW, APPROVE, PROMPT] {
        let rights = rights_of(token);
        for (needs, verb, path, body) in calls(&task, &done) {
            let answer = make(&client(&server, token), verb, &path, &body).await;
            let allowed = needs == Needs::View || rights.prompt;
            let what =
                format!("{rights:?} {needs:?} {verb} {path} {body}: {} {}", answer.status, answer.text());
            assert_eq!(answer.status == 403, !allowed, "{what}");
            assert_ne!(answer.status, 401, "{what}");
            if !allowed {
                assert!(answer.text().contains("does not have the right prompt"), "{what}");
                assert!(!answer.text().contains(token), "{what}");
            }
        }
    }
}

#[tokio::test]
async fn a_confirmation_of_the_rest_api_needs_the_right_to_approve() {
    let server = with_clients().start().await;
    let task = client(&server, PROMPT).post("/tasks", &json!({})).await.json()["taskId"].clone();
    let path = format!("/tasks/{}/confirmations", task.as_str().unwrap());
    let refused =
        client(&server, VIEW).post(&path, &json!({"toolCallId": "k", "optionId": "proceed_once"})).await;
    assert_eq!(refused.status, 403, "{}", refused.text());
    assert!(refused.text().contains("does not have the right approve"), "{}", refused.text());
}

#[tokio::test]
async fn each_grpc_call_needs_its_right() {
    let server = with_clients().start().await;
    for speaks in Speaks::BOTH {
        let as_client = async |token: &str| {
            Grpc::to(server.url(), speaks).await.with("authorization", &format!("Bearer {token}"))
        };
        let task = as_client(PROMPT).await.task_of(speaks.text("g", "echo a")).await;
        for token in [VIEW, APPROVE] {
            let grpc = as_client(token).await;
            grpc.call("GetTask", speaks.task(&task)).await.unwrap();
            for (method, params) in
                [("SendMessage", speaks.text("h", "echo a")), ("CancelTask", speaks.task(&task))]
            {
                let refused = grpc.call(method, params).await.unwrap_err();
                assert_eq!(refused.code(), tonic::Code::PermissionDenied, "{refused}");
                assert_eq!(info(&refused).metadata["right"], "prompt", "{refused}");
            }
            let refused = grpc.stream("SendStreamingMessage", speaks.text("i", "echo a")).await;
            assert_eq!(refused.err().unwrap().code(), tonic::Code::PermissionDenied);
        }
    }
}

#[tokio::test]
async fn with_tokens_of_clients_every_call_needs_one() {
    let server = with_clients().start().await;
    assert_eq!(server.client().get("/tasks").await.status, 401, "also of a process of the same user");
    for value in
        ["Bearer wrong", "Basic token-of-the-wall", "token-of-the-wall", "Bearer ", "Bearer token-of-the-wal"]
    {
        assert_eq!(server.client().with("authorization", value).get("/tasks").await.status, 401, "{value}");
    }
    let query = format!("/tasks?token={VIEW}&access_token={VIEW}");
    assert_eq!(server.client().get(&query).await.status, 401);
    assert_eq!(server.client().with("cookie", &format!("token={VIEW}")).get("/tasks").await.status, 401);
    assert_eq!(client(&server, VIEW).get("/tasks").await.status, 200);
    assert_eq!(server.client().get("/health").await.status, 200);
}

#[tokio::test]
async fn the_server_s_own_token_has_all_rights_beside_those_of_clients() {
    let server = with_clients().token("own-token").start().await;
    let own = client(&server, "own-token");
    assert!(own.rpc("SendMessage", message("m", "echo a")).await["result"]["task"].is_object());
    assert_eq!(client(&server, VIEW).post("/tasks", &json!({})).await.status, 403);
    assert_eq!(server.client().get("/tasks").await.status, 401);
}

#[tokio::test]
async fn clients_share_the_tasks_of_their_owner() {
    let server = with_clients().start().await;
    let sent = client(&server, PROMPT).rpc("SendMessage", message("m", "input")).await;
    let task = sent["result"]["task"]["id"].as_str().unwrap();
    let seen = client(&server, VIEW).rpc("GetTask", json!({"id": task})).await;
    assert_eq!(seen["result"]["id"], task);
    let refused = client(&server, APPROVE).rpc("SendMessage", message_to(task, "n", "e4")).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("the right prompt"), "{refused:#}");
    let moved = client(&server, PROMPT).rpc("SendMessage", message_to(task, "o", "e4")).await;
    assert!(moved["result"]["task"].is_object(), "{moved:#}");
}

#[tokio::test]
async fn a_page_may_read_which_right_is_missing() {
    let launch =
        with_clients().options(|options| options.allowed_origins = vec!["https://app.example".into()]);
    let server = launch.start().await;
    let page = client(&server, VIEW).with("origin", "https://app.example");
    let answer = page.post("/tasks", &json!({})).await;
    assert_eq!(answer.status, 403);
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://app.example"));
}
