//! Tools that a client of the live endpoint brings into a session, with the real binary.

use attache_testkit::model_server::{ModelServer, PlannedResponse};
use attache_testkit::{SseFrame, TestClient, WAIT_TIMEOUT};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::agent_world::{calls, last_output, launch_with, says};
use crate::{mcp, mcp_connecting};

struct LiveClient(WebSocketStream<TcpStream>);

impl LiveClient {
    async fn connect(address: &str, name: &str) -> Self {
        let mut request = format!("ws://{address}/ws").into_client_request().unwrap();
        request.headers_mut().insert("user-agent", name.parse().unwrap());
        let connection = TcpStream::connect(address).await.unwrap();
        Self(client_async(request, connection).await.unwrap().0)
    }

    async fn send(&mut self, message: Value) {
        self.0.send(Frame::text(message.to_string())).await.unwrap();
    }

    async fn until(&mut self, enough: impl Fn(&Value) -> bool) -> Value {
        let mut seen = Vec::new();
        let reading = async {
            loop {
                let frame = self.0.next().await.unwrap().unwrap();
                let Frame::Text(text) = frame else { continue };
                let event: Value = serde_json::from_str(&text).unwrap();
                if enough(&event) {
                    return event;
                }
                seen.push(event);
            }
        };
        let found = tokio::time::timeout(WAIT_TIMEOUT, reading).await;
        found.unwrap_or_else(|_| panic!("it does not come: {seen:#?}"))
    }

    /// The response to a request.
    async fn call(&mut self, method: &str, params: Value) -> Value {
        self.send(json!({"jsonrpc": "2.0", "id": "call", "method": method, "params": params})).await;
        self.until(|frame| frame["id"] == "call").await
    }

    async fn prompt(&mut self, task: &str, text: &str) {
        let params = json!({"taskId": task, "message": {"content": {"text": text}}});
        self.send(json!({"jsonrpc": "2.0", "method": "message/stream", "params": params})).await;
    }

    /// Waits for the question about a call of this tool and agrees to it.
    async fn approve(&mut self, tool: &str) -> Value {
        self.answer(tool, "proceed_once").await
    }

    async fn answer(&mut self, tool: &str, option: &str) -> Value {
        let question = self
            .until(|event| event["tool_name"] == tool && event.get("confirmation_request").is_some())
            .await;
        let data = json!({
            "kind": "TOOL_CALL_CONFIRMATION", "tool_call_id": question["tool_call_id"], "selected_option_id": option,
        });
        let params = json!({"taskId": question["taskId"], "message": {"content": {"data": data}}});
        self.send(json!({"jsonrpc": "2.0", "method": "message/stream", "params": params})).await;
        question
    }

    async fn tools_change(&mut self) -> Value {
        self.until(|event| event["kind"] == "TOOLS_CHANGE").await["servers"].clone()
    }

    async fn settled(&mut self) -> Value {
        self.until(|event| event["final"] == true).await
    }
}

async fn session(client: &TestClient) -> String {
    client.post("/tasks", &json!({})).await.json()["taskId"].as_str().unwrap().to_owned()
}

fn told_tools(model: &ModelServer) -> String {
    model.received().last().unwrap().json()["tools"].to_string()
}

fn notes_at(url: &str) -> Value {
    json!({"notes": {"httpUrl": url}})
}

#[tokio::test]
async fn a_client_brings_tools_that_all_see_and_that_go_with_it() {
    let notes = mcp_connecting::notes();
    let url = format!("{}/mcp", notes.url());
    let model =
        ModelServer::with_responses([calls("mcp_notes_list", json!({})), says("Done."), says("Gone.")]);
    let server = launch_with(&model).argument("--live").start().await;
    let task = session(&server.client()).await;
    let mut editor = LiveClient::connect(server.address(), "editor").await;
    let mut phone = LiveClient::connect(server.address(), "phone").await;
    let registered =
        editor.call("tools/register", json!({"taskId": task, "mcpServers": notes_at(&url)})).await;
    assert_eq!(
        (&registered["result"]["taskId"], &registered["result"]["names"]),
        (&json!(task), &json!(["notes"]))
    );
    let shown = json!([{"name": "notes", "address": format!("{}/mcp", notes.url()), "by": "editor"}]);
    assert_eq!(phone.tools_change().await, shown);
    let mut late = LiveClient::connect(server.address(), "late").await;
    assert_eq!(late.tools_change().await, shown);
    let path = format!("/tasks/{task}/messages/stream");
    let mut stream = server.client().stream("GET", &path, b"").await;
    let is_tools = |frame: &SseFrame| frame.payload()["kind"] == "TOOLS_CHANGE";
    assert_eq!(stream.until(is_tools).await.pop().unwrap().data["servers"], shown, "on a stream, too");
    editor.prompt(&task, "Look!").await;
    // Nothing is sent to the address before a person agrees, and the tool is asked about as any other.
    assert!(notes.received().is_empty());
    phone.approve("connect_mcp_server").await;
    let question = phone.approve("mcp_notes_list").await;
    assert!(question["confirmation_request"]["details"]["mcp_details"].is_object(), "{question:#}");
    assert_eq!(phone.settled().await["state"], "idle");
    assert!(last_output(&model).contains("one note"), "{}", last_output(&model));
    let metadata = server.client().get(&format!("/tasks/{task}/metadata")).await.json();
    let listed = &metadata["metadata"]["mcpServers"][0];
    assert_eq!(
        (&listed["name"], &listed["status"]),
        (&json!("notes"), &json!("connected, brought by editor"))
    );
    drop(editor);
    assert_eq!(phone.tools_change().await, json!([]));
    assert_eq!(stream.until(is_tools).await.pop().unwrap().data["servers"], json!([]));
    phone.prompt(&task, "And now?").await;
    assert_eq!(phone.settled().await["state"], "idle");
    assert!(!told_tools(&model).contains("mcp_notes_list"), "{}", told_tools(&model));
}

#[tokio::test]
async fn the_questions_about_its_tools_go_with_the_client() {
    let notes = mcp_connecting::notes();
    let uses = || calls("mcp_notes_list", json!({}));
    let model = ModelServer::with_responses([says("Without."), uses(), says("Refused."), says("On.")]);
    let server = launch_with(&model).argument("--live").start().await;
    let task = session(&server.client()).await;
    let mut phone = LiveClient::connect(server.address(), "phone").await;
    let brought = json!({"taskId": task, "mcpServers": notes_at(&format!("{}/mcp", notes.url()))});
    let asks = |event: &Value| event.get("confirmation_request").is_some();
    for (tool, goes_on_with) in [("connect_mcp_server", "Look!"), ("mcp_notes_list", "Look again!")] {
        let mut editor = LiveClient::connect(server.address(), "editor").await;
        assert!(editor.call("tools/register", brought.clone()).await["result"].is_object());
        phone.prompt(&task, goes_on_with).await;
        if tool == "mcp_notes_list" {
            phone.approve("connect_mcp_server").await;
        }
        let question = phone.until(asks).await;
        assert_eq!(question["tool_name"], tool);
        drop(editor);
        let answer = phone.until(|event| event.get("confirmation_answer").is_some()).await;
        assert_eq!(answer["confirmation_answer"]["selected_option_id"], "cancel", "{answer:#}");
        assert_eq!(phone.settled().await["state"], "idle", "{tool}");
    }
}

#[tokio::test]
async fn an_address_that_may_hold_a_secret_is_refused() {
    let model = ModelServer::with_responses(Vec::<PlannedResponse>::new());
    let server = launch_with(&model).argument("--live").start().await;
    let task = session(&server.client()).await;
    let mut editor = LiveClient::connect(server.address(), "editor").await;
    for address in ["http://127.0.0.1:9/mcp?key=secret", "http://u:secret@127.0.0.1:9/mcp"] {
        let brought = json!({"taskId": task, "mcpServers": notes_at(address)});
        let refused = editor.call("tools/register", brought).await["error"]["message"].to_string();
        assert!(refused.contains("without user, query") && !refused.contains("secret"), "{refused}");
    }
}

#[tokio::test]
async fn a_server_of_the_same_name_elsewhere_is_asked_about_anew() {
    let (one, other) = (mcp_connecting::notes(), mcp_connecting::notes());
    let uses = || calls("mcp_notes_list", json!({}));
    let model = ModelServer::with_responses([uses(), uses(), says("One."), uses(), says("Other.")]);
    let server = launch_with(&model).argument("--live").start().await;
    let task = session(&server.client()).await;
    let mut phone = LiveClient::connect(server.address(), "phone").await;
    let mut editor = LiveClient::connect(server.address(), "editor").await;
    let brought = |notes: &ModelServer| json!({"taskId": task, "mcpServers": notes_at(&notes.url())});
    assert!(editor.call("tools/register", brought(&one)).await["result"].is_object());
    phone.prompt(&task, "Look!").await;
    phone.approve("connect_mcp_server").await;
    // The second call runs unasked.
    phone.answer("mcp_notes_list", "proceed_always_server").await;
    assert_eq!(phone.settled().await["state"], "idle");
    drop(editor);
    while phone.tools_change().await != json!([]) {}
    let mut stranger = LiveClient::connect(server.address(), "stranger").await;
    assert!(stranger.call("tools/register", brought(&other)).await["result"].is_object());
    phone.prompt(&task, "Look again!").await;
    phone.approve("connect_mcp_server").await;
    phone.approve("mcp_notes_list").await;
    assert_eq!(phone.settled().await["state"], "idle");
    assert!(other.received().iter().any(|request| request.json()["method"] == "tools/call"));
}

#[tokio::test]
async fn a_call_that_runs_when_its_client_goes_ends_with_an_error() {
    let notes = ModelServer::with_handler(|received| {
        let request = received.json();
        let result = match request["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": request["params"]["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "notes", "version": "1"},
            }),
            Some("tools/list") => json!({"tools": [{"name": "list", "inputSchema": {"type": "object"}}]}),
            Some("tools/call") => return PlannedResponse::stream().hold(),
            _ => {
                return PlannedResponse::text(
                    if received.method == "POST" { 202 } else { 405 },
                    "text/plain",
                    "",
                );
            }
        };
        let response = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
        PlannedResponse::text(200, "application/json", &response.to_string())
    });
    let model = ModelServer::with_responses([calls("mcp_notes_list", json!({})), says("Then not.")]);
    let server = launch_with(&model).argument("--live").start().await;
    let task = session(&server.client()).await;
    let mut editor = LiveClient::connect(server.address(), "editor").await;
    let mut phone = LiveClient::connect(server.address(), "phone").await;
    let brought = json!({"taskId": task, "mcpServers": notes_at(&notes.url())});
    assert!(editor.call("tools/register", brought).await["result"].is_object());
    phone.prompt(&task, "Look!").await;
    phone.approve("connect_mcp_server").await;
    phone.approve("mcp_notes_list").await;
    phone.until(|event| event["status"] == "EXECUTING" && event["tool_name"] == "mcp_notes_list").await;
    let is_called = || notes.received().iter().any(|request| request.json()["method"] == "tools/call");
    while !is_called() {
        tokio::task::yield_now().await;
    }
    drop(editor);
    let failed = phone.until(|event| event["status"] == "FAILED").await;
    assert!(failed.to_string().contains("taken away"), "{failed:#}");
    assert_eq!(phone.settled().await["state"], "idle");
    assert!(last_output(&model).contains("taken away"), "{}", last_output(&model));
}

#[tokio::test]
async fn what_cannot_be_brought_is_refused_with_the_reason() {
    let model = ModelServer::with_responses([says("Hi.")]);
    let launch = launch_with(&model).argument("--live");
    let server = launch.start().await;
    let task = session(&server.client()).await;
    let mut editor = LiveClient::connect(server.address(), "editor").await;
    let mut phone = LiveClient::connect(server.address(), "phone").await;
    let url = "http://127.0.0.1:9/mcp";
    let taken = json!({"taskId": task, "mcpServers": notes_at(url)});
    assert!(editor.call("tools/register", taken.clone()).await["result"].is_object());
    for (params, expected) in [
        (json!({"mcpServers": notes_at(url)}), "taskId is required"),
        (json!({"taskId": "nonesuch", "mcpServers": notes_at(url)}), "not found"),
        (taken, "editor has brought a server of this name already"),
        (json!({"taskId": task, "mcpServers": {"a_b": {"httpUrl": url}}}), "letters, digits and dashes"),
        (
            json!({"taskId": task, "mcpServers": {"a b": {"httpUrl": url}}}),
            "up to 32 letters, digits and dashes",
        ),
        (json!({"taskId": task, "mcpServers": {"": {"httpUrl": url}}}), "letters, digits and dashes"),
        (
            json!({"taskId": task, "mcpServers": {"a": {"command": "touch", "args": ["made"]}}}),
            "must be reached by a url",
        ),
        (
            json!({"taskId": task, "mcpServers": {"a": {"httpUrl": url, "headers": {"X": "y"}}}}),
            "headers would be kept",
        ),
        (json!({"taskId": task, "mcpServers": {"a": 7}}), "mcpServers"),
        (json!({"taskId": task}), "mcpServers is required"),
    ] {
        let answered = phone.call("tools/register", params.clone()).await;
        let message = answered["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(expected), "{params}: {answered:#}");
    }
    let both = json!({"taskId": task, "mcpServers": {"first": {"httpUrl": url}, "notes": {"httpUrl": url}}});
    assert!(phone.call("tools/register", both).await["error"].is_object());
    let metadata = server.client().get(&format!("/tasks/{task}/metadata")).await.json();
    let names: Vec<_> =
        metadata["metadata"]["mcpServers"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["notes"], "all of a request or none: {metadata:#}");
    let unknown = phone.call("tools/unregister", json!({"names": ["notes"]})).await;
    assert!(unknown["error"]["message"].as_str().unwrap().contains("has not brought"), "{unknown:#}");
    let taken = editor.call("tools/unregister", json!({"names": ["notes"]})).await;
    assert_eq!(taken["result"]["names"], json!(["notes"]), "{taken:#}");
    assert!(
        phone.call("tools/register", json!({"taskId": task, "mcpServers": notes_at(url)})).await["result"]
            .is_object()
    );
}

#[tokio::test]
async fn bringing_tools_needs_the_right_to_prompt() {
    let model = ModelServer::with_responses([says("Hi.")]);
    let launch = launch_with(&model).argument("--live");
    let path = launch
        .write_secret("clients", "editor: prompt: editor-0123456789\nphone: approve: phone-0123456789\n");
    let launch = launch.argument("--a2a-token-file").argument(path.display().to_string());
    let server = launch.start().await;
    let task = session(&server.client().with("authorization", "Bearer editor-0123456789")).await;
    for (name, allowed) in [("editor", true), ("phone", false)] {
        let mut request = format!("ws://{}/ws", server.address()).into_client_request().unwrap();
        let token = format!("Bearer {name}-0123456789");
        request.headers_mut().insert("authorization", token.parse().unwrap());
        let connection = TcpStream::connect(server.address()).await.unwrap();
        let mut client = LiveClient(client_async(request, connection).await.unwrap().0);
        let brought = json!({"taskId": task, "mcpServers": {name: {"httpUrl": "http://127.0.0.1:9/mcp"}}});
        let answered = client.call("tools/register", brought).await;
        assert_eq!(answered.get("result").is_some(), allowed, "{answered:#}");
        if !allowed {
            assert!(
                answered["error"]["message"].as_str().unwrap().contains("the right prompt"),
                "{answered:#}"
            );
        }
    }
}

#[tokio::test]
async fn a_server_of_the_official_sdk_is_brought_and_used() {
    let Some(notes) = mcp::notes() else { return };
    let (_child, url) = mcp::listening(&notes).await;
    let add = calls("mcp_mine_add", json!({"a": 40, "b": 2}));
    let model = ModelServer::with_responses([add, says("42.")]);
    let server = launch_with(&model).argument("--live").start().await;
    let task = session(&server.client()).await;
    let mut editor = LiveClient::connect(server.address(), "editor").await;
    let brought = json!({"taskId": task, "mcpServers": {"mine": {"httpUrl": url}}});
    assert!(editor.call("tools/register", brought).await["result"].is_object());
    editor.prompt(&task, "Add!").await;
    editor.approve("connect_mcp_server").await;
    editor.approve("mcp_mine_add").await;
    assert_eq!(editor.settled().await["state"], "idle");
    assert!(last_output(&model).contains("42"), "{}", last_output(&model));
}
