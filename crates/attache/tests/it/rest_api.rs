//! The REST API of the real binary, as its clients use it.

mod confirming;
mod conversation_keys;
mod reading_on;

use std::fs;

use attache_testkit::model_server::{ModelServer, openai};
use attache_testkit::{SseFrame, SseStream, TestClient};
use serde_json::{Value, json};

use crate::agent_world::{calls, launch_with, says, work};
use crate::support::launch;

const TOUCH: &str = "touch made";

fn model() -> ModelServer {
    ModelServer::with_responses([calls("run_shell_command", json!({"command": TOUCH})), says("Made.")])
}

async fn create(client: &TestClient, body: Value) -> String {
    let created = client.post("/tasks", &body).await;
    assert_eq!(created.status, 201, "{}", created.text());
    created.json()["taskId"].as_str().unwrap().to_owned()
}

fn is_question(frame: &SseFrame) -> bool {
    frame.data["type"] == "tool_call_update" && frame.data.get("options").is_some()
}

/// A task that asks about a call: its id, its stream and the question.
async fn asking_task(client: &TestClient) -> (String, SseStream, Value) {
    let task = create(client, json!({})).await;
    let prompt = json!({"message": "Make it"});
    let mut stream = client.post_stream(&format!("/tasks/{task}/execute"), &prompt).await;
    let question = stream.until(is_question).await.pop().unwrap().data;
    let seen = client.get(&format!("/tasks/{task}")).await.json();
    assert_eq!(
        seen["pendingConfirmations"][0]["toolCallId"], question["toolCallId"],
        "as soon as it is shown"
    );
    (task, stream, question)
}

/// Waits until the task waits for the answer.
async fn pending(client: &TestClient, task: &str) -> Value {
    loop {
        let seen = client.get(&format!("/tasks/{task}")).await.json();
        if seen["status"]["state"] == "TASK_STATE_INPUT_REQUIRED" {
            return seen;
        }
        tokio::task::yield_now().await;
    }
}

fn answer(question: &Value, option: &str) -> Value {
    json!({"toolCallId": question["toolCallId"], "optionId": option})
}

fn statuses(frames: &[SseFrame]) -> Vec<String> {
    let calls = frames.iter().filter(|frame| frame.data["type"] == "tool_call_update");
    let mut statuses: Vec<_> = calls.map(|frame| frame.data["status"].as_str().unwrap().to_owned()).collect();
    statuses.dedup();
    statuses
}

#[tokio::test]
async fn a_command_is_confirmed_while_the_stream_stays_open() {
    let model = model();
    let launch = launch_with(&model);
    let server = launch.start().await;
    let client = server.client();
    let (task, mut stream, question) = asking_task(&client).await;
    assert_eq!(
        (&question["status"], &question["toolName"]),
        (&json!("requested"), &json!("run_shell_command"))
    );
    assert_eq!(
        (&question["details"]["kind"], &question["details"]["command"]),
        (&json!("execute"), &json!(TOUCH))
    );
    let seen = pending(&client, &task).await;
    assert_eq!(
        (&seen["state"], &seen["status"]["state"]),
        (&json!("running"), &json!("TASK_STATE_INPUT_REQUIRED"))
    );
    let open = &seen["pendingConfirmations"][0];
    for member in ["toolCallId", "toolName", "options", "details", "arguments"] {
        assert_eq!(open[member], question[member], "{member}");
    }
    let path = format!("/tasks/{task}/confirmations");
    let refused = client.post(&path, &answer(&question, "nonsense")).await;
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert!(refused.text().contains("proceed_once"), "it says what is right: {}", refused.text());
    let taken = client.post(&path, &answer(&question, "proceed_once")).await;
    assert_eq!(taken.status, 200, "{}", taken.text());
    let expected = json!({"taskId": task, "toolCallId": question["toolCallId"], "optionId": "proceed_once",
        "state": "running"});
    assert_eq!(taken.json(), expected);
    let rest = stream.rest().await;
    assert_eq!(statuses(&rest), ["requested", "executing", "completed"], "{rest:#?}");
    assert_eq!(rest[0].data["answer"]["optionId"], "proceed_once", "{rest:#?}");
    assert_eq!(rest.last().unwrap().data["state"], "completed");
    assert!(work(&launch).join("made").exists());
    let late = client.post(&path, &answer(&question, "cancel")).await;
    assert_eq!(late.status, 400, "{}", late.text());
    assert!(late.text().contains("answered already"), "{}", late.text());
    let seen = client.get(&format!("/tasks/{task}")).await.json();
    assert_eq!((&seen["state"], &seen["pendingConfirmations"]), (&json!("completed"), &json!([])));
}

#[tokio::test]
async fn a_client_of_a2a_may_answer_and_the_stream_shows_it() {
    let model = model();
    let launch = launch_with(&model);
    let server = launch.start().await;
    let client = server.client();
    let (task, mut stream, question) = asking_task(&client).await;
    pending(&client, &task).await;
    let message = json!({"messageId": "m-1", "taskId": task, "role": "ROLE_USER", "parts": [
        {"data": {"call": question["toolCallId"], "choice": "cancel"}}]});
    let sent = client.rpc("SendMessage", json!({ "message": message })).await;
    assert!(sent.get("error").is_none(), "{sent:#}");
    let rest = stream.rest().await;
    assert_eq!(rest[0].data["answer"]["optionId"], "cancel", "{rest:#?}");
    assert_eq!(statuses(&rest).last().map(String::as_str), Some("error"), "{rest:#?}");
    let late = client.post(&format!("/tasks/{task}/confirmations"), &answer(&question, "proceed_once")).await;
    assert_eq!(late.status, 400, "{}", late.text());
    assert!(!work(&launch).join("made").exists());
}

#[tokio::test]
async fn an_edit_is_confirmed_with_other_content() {
    let write = calls("write_file", json!({"file_path": "new.txt", "content": "theirs\n"}));
    let model = ModelServer::with_responses([write, says("Written.")]);
    let launch = launch_with(&model);
    let server = launch.start().await;
    let client = server.client();
    let (task, mut stream, question) = asking_task(&client).await;
    assert_eq!(
        (&question["details"]["kind"], &question["details"]["newContent"]),
        (&json!("edit"), &json!("theirs\n"))
    );
    pending(&client, &task).await;
    let mut answer = answer(&question, "proceed_once");
    answer["newContent"] = json!("ours\n");
    let taken = client.post(&format!("/tasks/{task}/confirmations"), &answer).await;
    assert_eq!(taken.status, 200, "{}", taken.text());
    assert_eq!(stream.rest().await.last().unwrap().data["state"], "completed");
    assert_eq!(fs::read_to_string(work(&launch).join("new.txt")).unwrap(), "ours\n");
}

#[tokio::test]
async fn a_confirmation_survives_a_restart() {
    let model = model();
    let launch = launch_with(&model);
    let server = launch.start().await;
    let client = server.client();
    let (task, stream, question) = asking_task(&client).await;
    pending(&client, &task).await;
    drop(stream);
    server.kill().await;
    let server = launch.start().await;
    let client = server.client();
    let seen = pending(&client, &task).await;
    assert_eq!(seen["pendingConfirmations"][0]["toolCallId"], question["toolCallId"]);
    let taken =
        client.post(&format!("/tasks/{task}/confirmations"), &answer(&question, "proceed_once")).await;
    assert_eq!(taken.status, 200, "{}", taken.text());
    loop {
        let seen = client.get(&format!("/tasks/{task}")).await.json();
        if seen["state"] == "completed" {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert!(work(&launch).join("made").exists());
}

#[tokio::test]
async fn the_workspace_root_counts_within_the_allowed_roots_and_errors_name_it() {
    let read = calls("read_file", json!({"file_path": "here.txt"}));
    let model = ModelServer::with_responses([read, says("Read.")]);
    let launch = launch_with(&model);
    let other = launch.folder().join("other");
    fs::create_dir_all(&other).unwrap();
    fs::write(other.join("here.txt"), "in the other folder\n").unwrap();
    let settings = format!("allowed_roots = [{:?}]\n", other.display().to_string());
    let launch = launch.settings(&settings);
    let server = launch.start().await;
    let client = server.client();
    let task = create(&client, json!({"agentSettings": {"workspaceRoot": other}})).await;
    let frames =
        client.post_stream(&format!("/tasks/{task}/execute"), &json!({"message": "Read"})).await.rest().await;
    assert_eq!(frames.last().unwrap().data["state"], "completed", "{frames:#?}");
    assert!(crate::agent_world::last_output(&model).contains("in the other folder"));
    for (settings, field) in [
        (json!({"workspaceRoot": "/no/such/folder"}), "agentSettings.workspaceRoot"),
        (json!({"workspaceRoot": launch.folder()}), "agentSettings.workspaceRoot"),
        (json!({"model": "nonsense:x"}), "agentSettings.model"),
        (json!({"approvalMode": "nonsense"}), "agentSettings.approvalMode"),
    ] {
        let refused = client.post("/tasks", &json!({ "agentSettings": settings })).await;
        assert_eq!(refused.status, 400, "{settings}: {}", refused.text());
        let violation = refused.json()["error"]["details"][1]["fieldViolations"][0]["field"].clone();
        assert_eq!(violation, field, "{}", refused.text());
    }
}

/// A key of a client, which is nowhere but in requests to the model.
const KEY: &str = "sk-of-a-client-77";

fn keys_received(model: &ModelServer) -> Vec<String> {
    let key = |request: &attache_testkit::model_server::ReceivedRequest| {
        request.header("x-goog-api-key").unwrap_or_default().to_owned()
    };
    model.received().iter().map(key).collect()
}

#[tokio::test]
async fn a_key_reaches_the_model_and_nothing_else() {
    let environment = calls("run_shell_command", json!({"command": "env > environment"}));
    let model = ModelServer::with_responses([environment, says("Done."), says("Hello.")]);
    let launch = launch_with(&model).argument("--log").argument("debug");
    let server = launch.start().await;
    let client = server.client();
    let refused = client.post("/tasks", &json!({"agentSettings": {"apiKey": [KEY]}})).await;
    assert_eq!((refused.status, refused.text().contains(KEY)), (400, false), "{}", refused.text());
    let task = create(&client, json!({"agentSettings": {"apiKey": KEY}})).await;
    let mut stream = client.post_stream(&format!("/tasks/{task}/execute"), &json!({"message": "Go"})).await;
    let question = stream.until(is_question).await.pop().unwrap().data;
    pending(&client, &task).await;
    client.post(&format!("/tasks/{task}/confirmations"), &answer(&question, "proceed_once")).await;
    assert_eq!(stream.rest().await.last().unwrap().data["state"], "completed");
    let without = create(&client, json!({})).await;
    client.post_stream(&format!("/tasks/{without}/execute"), &json!({"message": "Hi"})).await.rest().await;
    assert_eq!(keys_received(&model), [KEY, KEY, "key-for-tests"], "only its own task uses it");
    assert!(work(&launch).join("environment").exists());
    let seen = client.get(&format!("/tasks/{task}")).await.text();
    assert!(!seen.contains(KEY), "{seen}");
    assert!(!server.log().contains(KEY), "{}", server.log());
    assert_eq!(server.terminate().await, Some(0));
    assert_eq!(files_with(launch.folder(), KEY), Vec::<std::path::PathBuf>::new());
}

/// The files below `folder` that hold `text`.
fn files_with(folder: &std::path::Path, text: &str) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
        } else if let Ok(bytes) = fs::read(&path)
            && bytes.windows(text.len()).any(|window| window == text.as_bytes())
        {
            found.push(path);
        }
    }
    found
}

#[tokio::test]
async fn after_a_restart_a_task_asks_for_its_key_again() {
    let model = ModelServer::with_responses([says("One."), says("Two.")]);
    let launch = launch_with(&model);
    let server = launch.start().await;
    let client = server.client();
    let task = create(&client, json!({"agentSettings": {"apiKey": KEY}})).await;
    let path = format!("/tasks/{task}/execute");
    let frames = client.post_stream(&path, &json!({"message": "One"})).await.rest().await;
    assert_eq!(frames.last().unwrap().data["state"], "completed", "{frames:#?}");
    server.kill().await;
    let server = launch.start().await;
    let client = server.client();
    let frames = client.post_stream(&path, &json!({"message": "Two"})).await.rest().await;
    let last = &frames.last().unwrap().data;
    assert_eq!(last["state"], "error", "{frames:#?}");
    assert!(last["error"].as_str().unwrap().contains("agentSettings.apiKey is needed again"), "{last}");
    let seen = client.get(&format!("/tasks/{task}")).await.json();
    assert_eq!(
        (&seen["state"], &seen["status"]["state"]),
        (&json!("error"), &json!("TASK_STATE_AUTH_REQUIRED"))
    );
    let body = json!({"message": "Two", "agentSettings": {"apiKey": KEY}});
    let frames = client.post_stream(&path, &body).await.rest().await;
    assert_eq!(frames.last().unwrap().data["state"], "completed", "{frames:#?}");
    assert_eq!(keys_received(&model), [KEY, KEY]);
}

#[tokio::test]
async fn a_key_goes_to_no_other_provider_than_the_one_it_was_given_for() {
    let gemini = ModelServer::with_responses([says("One."), says("Three.")]);
    let openai_answer = openai::answer([openai::chunk().text("Two.").finish("stop"), openai::usage(1, 1)]);
    let other = ModelServer::with_responses([openai_answer]);
    let launch = launch_with(&gemini)
        .variable("OPENAI_API_KEY", "openai-key-for-tests")
        .variable("OPENAI_BASE_URL", &other.url());
    let server = launch.start().await;
    let client = server.client();
    let task = create(&client, json!({"agentSettings": {"apiKey": KEY}})).await;
    let path = format!("/tasks/{task}/execute");
    for model in [None, Some("openai:gpt-x"), Some("gemini-2.5-pro")] {
        let body = json!({"message": "Go", "agentSettings": {"model": model}});
        let frames = client.post_stream(&path, &body).await.rest().await;
        assert_eq!(frames.last().unwrap().data["state"], "completed", "{model:?}: {frames:#?}");
    }
    assert_eq!(keys_received(&gemini), [KEY, KEY]);
    let received = other.received();
    let keys: Vec<_> = received.iter().map(|request| request.header("authorization")).collect();
    assert_eq!(keys, [Some("Bearer openai-key-for-tests")], "the operator's");
}

const LONG: &str = "rules: [{steps: [{say: [x], repeat: 60, every: 20ms}]}]";

#[tokio::test]
async fn a_stream_that_a_crash_cut_off_is_read_on_without_a_gap_or_a_repeat() {
    let launch = launch().durable().script(LONG);
    let server = launch.start().await;
    let client = server.client();
    let task = create(&client, json!({})).await;
    let path = format!("/tasks/{task}/execute");
    let body = json!({"message": "Go", "messageId": "m-1"});
    let mut stream = client.post_stream(&path, &body).await;
    let mut seen = Vec::new();
    while seen.len() < 12 {
        seen.push(stream.next().await.unwrap());
    }
    server.kill().await;
    let server = launch.start().await;
    let client = server.client();
    let cursor = seen.last().unwrap().id_text.clone().unwrap();
    let resumed = client.with("Last-Event-ID", &cursor);
    seen.extend(resumed.post_stream(&path, &body).await.rest().await);
    let text: String = seen.iter().filter_map(|frame| frame.data["text"].as_str()).collect();
    assert_eq!(text, "x".repeat(60));
    let ended = seen.iter().filter(|frame| frame.data["state"] == "completed").count();
    assert_eq!(ended, 1, "{seen:#?}");
    let settled = resumed.post_stream(&path, &body).await.rest().await;
    let ids = |frames: &[SseFrame]| frames.iter().map(|frame| frame.id_text.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&settled), ids(&seen[12..]), "also when it is settled");
    let whole = client.post_stream(&path, &body).await.rest().await;
    assert_eq!(ids(&whole), ids(&seen), "without a cursor from the beginning");
}

#[tokio::test]
async fn a_command_that_asks_shows_its_question_and_goes_on_with_the_answer() {
    let model = model();
    let launch = launch_with(&model);
    let server = launch.start().await;
    let client = server.client();
    let asked = client.post("/commands/memory%20add/execute", &json!({"args": ["we", "test"]})).await.json();
    assert_eq!((&asked["success"], &asked["state"]), (&json!(false), &json!("running")), "{asked}");
    let task = asked["taskId"].as_str().unwrap();
    let question = &asked["pendingConfirmations"][0];
    let path = format!("/tasks/{task}/confirmations");
    let taken = client.post(&path, &answer(question, "proceed_once")).await;
    assert_eq!(taken.status, 200, "{}", taken.text());
    loop {
        let seen = client.get(&format!("/tasks/{task}")).await.json();
        if seen["state"] != "running" {
            assert_eq!(seen["state"], "completed", "{seen}");
            break;
        }
        tokio::task::yield_now().await;
    }
}
