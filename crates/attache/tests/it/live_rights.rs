//! The file of client tokens, with the real binary: who may prompt, who may approve, and who is named for it.

use attache_testkit::model_server::ModelServer;
use attache_testkit::{ServerLaunch, SseFrame, TestClient};
use serde_json::{Value, json};

use crate::agent_world::{calls, launch_with, says, work};
use crate::support::{launch, message_to};

const TOKENS: &str = "\
# the tokens of the tests
wall: view: wall-0123456789abcdef
editor: prompt: editor-0123456789abcdef
phone: view, approve: phone-0123456789abcdef
";

fn with_tokens(launch: ServerLaunch) -> ServerLaunch {
    let path = launch.write_secret("clients", TOKENS);
    launch.argument("--live").argument("--a2a-token-file").argument(path.display().to_string())
}

fn asking_model() -> ModelServer {
    ModelServer::with_responses([calls("run_shell_command", json!({"command": "touch made"})), says("Made.")])
}

fn client(client: &TestClient, name: &str) -> TestClient {
    client.with("authorization", &format!("Bearer {name}-0123456789abcdef"))
}

fn live(content: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 7, "method": "message/stream", "params": {"message": {"content": content}}})
}

#[tokio::test]
async fn who_may_prompt_cannot_approve_and_the_approval_names_the_client() {
    let model = asking_model();
    let launch = with_tokens(launch_with(&model));
    let server = launch.start().await;
    let (editor, phone, wall) = (
        client(&server.client(), "editor"),
        client(&server.client(), "phone"),
        client(&server.client(), "wall"),
    );
    let task = editor.post("/tasks", &json!({})).await.json()["taskId"].as_str().unwrap().to_owned();
    let path = format!("/tasks/{task}/messages/stream");
    let mut prompting = editor.post_stream(&path, &live(json!({"text": "Make it"}))).await;
    let before = prompting.until(|frame| frame.payload()["state"] == "input-required").await;
    let question =
        before.iter().map(SseFrame::payload).find(|event| event.get("confirmation_request").is_some());
    let call = question.unwrap()["tool_call_id"].clone();
    let answer = live(json!({"data": {
        "kind": "TOOL_CALL_CONFIRMATION", "tool_call_id": call, "selected_option_id": "proceed_once",
    }}));
    for refused in [&editor, &wall] {
        let answered = refused.post(&path, &answer).await;
        assert_eq!((answered.status, &answered.json()["id"]), (403, &json!(7)), "{}", answered.text());
        assert!(answered.text().contains("the right approve"), "{}", answered.text());
        // The same answer in words, over A2A. A client that can do neither might have meant a prompt.
        let right = if std::ptr::eq(refused, &editor) { "the right approve" } else { "the right prompt" };
        let said = refused.rpc("SendMessage", message_to(&task, "yes-1", "yes")).await;
        assert!(said["error"]["message"].as_str().unwrap().contains(right), "{said:#}");
    }
    assert!(!work(&launch).join("made").exists());
    // Approving is not prompting.
    let prompted = phone.post(&path, &live(json!({"text": "something else"}))).await;
    assert_eq!(prompted.json()["error"]["code"], -32602, "{}", prompted.text());
    assert_eq!(phone.post("/tasks", &json!({})).await.status, 403);
    let answered = phone.post_stream(&path, &answer).await.rest().await;
    assert_eq!(answered.last().unwrap().payload()["state"], "idle", "{answered:#?}");
    assert!(work(&launch).join("made").exists());
    let after = prompting.rest().await;
    let told = after.iter().map(SseFrame::payload).find_map(|event| event.get("confirmation_answer"));
    let by = told.unwrap()["by"].as_str().unwrap();
    assert!(by.starts_with("operator (phone)"), "{by}");
    // The turn is over, so the same answer again must not become a prompt.
    let again = phone.post(&path, &answer).await;
    assert!(again.json()["error"].is_object(), "{}", again.text());
    assert!(!server.log().contains("0123456789abcdef"), "{}", server.log());
}

#[tokio::test]
async fn settings_that_approve_in_advance_need_the_right_to_approve() {
    let model = ModelServer::with_responses(Vec::<attache_testkit::model_server::PlannedResponse>::new());
    let launch = with_tokens(launch_with(&model)).settings("client_auto_execute = true\n");
    let server = launch.start().await;
    let editor = client(&server.client(), "editor");
    let settings = json!({"agentSettings": {"kind": "agent-settings", "workspacePath": work(&launch), "autoExecute": true}});
    let created = editor.post("/tasks", &settings).await;
    assert_eq!(created.status, 403, "{}", created.text());
    assert!(created.text().contains("the right approve"), "{}", created.text());
}

#[tokio::test]
async fn a_file_of_tokens_that_is_wrong_stops_the_start() {
    for (text, expected) in [
        (
            "wall: view: wall-0123456789abcdef\nphone: aprove: phone-0123456789abcdef\n",
            "line 2 gives \"phone\" a right",
        ),
        ("", "is empty"),
        ("wall: view: short\n", "at least 16 printable characters"),
    ] {
        let launch = launch().in_memory();
        let path = launch.write_secret("clients", text);
        let launch = launch.argument("--a2a-token-file").argument(path.display().to_string());
        let (code, log) = launch.start_failing().await;
        assert_eq!(code, Some(1), "{log}");
        assert!(log.contains(expected) && !log.contains("0123456789abcdef"), "{log}");
    }
    let launch = launch().in_memory();
    let path = launch.write("clients", TOKENS);
    let launch = launch.argument("--a2a-token-file").argument(path.display().to_string());
    let (_, log) = launch.start_failing().await;
    assert!(log.contains("can be read by other users"), "{log}");
}
