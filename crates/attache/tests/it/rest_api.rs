//! The REST API of the real binary, where settings of clients take part. `attache-server` tests the rest.

mod conversation_keys;

use std::fs;

use attache_testkit::model_server::{ModelServer, openai};
use attache_testkit::rest_tasks::{answer, create, is_question, pending};
use serde_json::json;

use crate::agent_world::{calls, launch_with, says, work};

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
    let task = create(&client, &json!({"agentSettings": {"workspaceRoot": other}})).await;
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
    let task = create(&client, &json!({"agentSettings": {"apiKey": KEY}})).await;
    let mut stream = client.post_stream(&format!("/tasks/{task}/execute"), &json!({"message": "Go"})).await;
    let question = stream.until(is_question).await.pop().unwrap().data;
    pending(&client, &task).await;
    client.post(&format!("/tasks/{task}/confirmations"), &answer(&question, "proceed_once")).await;
    assert_eq!(stream.rest().await.last().unwrap().data["state"], "completed");
    let without = create(&client, &json!({})).await;
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
    let task = create(&client, &json!({"agentSettings": {"apiKey": KEY}})).await;
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
    let task = create(&client, &json!({"agentSettings": {"apiKey": KEY}})).await;
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
