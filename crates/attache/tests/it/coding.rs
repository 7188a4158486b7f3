//! The coding agent whole: the real binary, a scripted Gemini server, real files and commands, over A2A.

use std::fs;

use attache_testkit::model_server::ModelServer;
use serde_json::json;

use crate::agent_world::{
    answer_text, calls, last_output, launch_with, reply, says, send, settled, start, state,
};
use crate::support::message;
use crate::watching::eventually;

#[tokio::test]
async fn a_question_is_answered_by_the_model() {
    let model = ModelServer::with_responses([says("All is well."), says("Seen.")]);
    let (_launch, server) = start(&model).await;
    let task = send(&server.client(), "m1", "How are you?").await;
    assert_eq!((state(&task), answer_text(&task).as_str()), ("TASK_STATE_COMPLETED", "All is well."));
    let request = &model.received()[0];
    assert_eq!(request.header("x-goog-api-key"), Some("key-for-tests"));
    let body = request.json();
    assert_eq!(body["contents"].as_array().unwrap().len(), 1);
    let parts = &body["contents"][0]["parts"];
    let opening = parts[0]["text"].as_str().unwrap();
    assert!(opening.contains("hello.txt"), "the model knows what is in the workspace: {opening}");
    assert_eq!(parts[1], json!({"text": "How are you?"}));
    let names: Vec<_> = body["tools"][0]["functionDeclarations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].clone())
        .collect();
    for name in
        ["read_file", "write_file", "replace", "list_directory", "glob", "grep_search", "run_shell_command"]
    {
        assert!(names.contains(&json!(name)), "{name} in {names:?}");
    }
    assert!(!server.log().contains("key-for-tests"), "keys are never logged");
    // JSON of any kind and source files are text to the model.
    let mut params = message("m2", "Look");
    let more = json!([
        {"data": {"turn": 7}, "mediaType": "application/vnd.ag2.history+json"},
        {"raw": "eyJraW5kIjogImxkIn0=", "mediaType": "application/ld+json", "filename": "a.json"},
        {"raw": "cHJpbnQoMSk=", "mediaType": "text/x-python", "filename": "one.py"},
    ]);
    params["message"]["parts"].as_array_mut().unwrap().extend(more.as_array().unwrap().clone());
    let answer = server.client().rpc("SendMessage", params).await;
    assert_eq!(state(&answer["result"]["task"]), "TASK_STATE_COMPLETED");
    let body = model.received()[1].json();
    let parts = body["contents"][0]["parts"].as_array().unwrap();
    let told: String = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    for text in [r#"{"turn":7}"#, r#"{"kind": "ld"}"#, "print(1)"] {
        assert!(told.contains(text), "{text} in {told}");
    }
}

#[tokio::test]
async fn an_edit_waits_for_approval_and_is_published_as_a_diff() {
    let edit = json!({"file_path": "hello.txt", "instruction": "greet the moon", "old_string": "world", "new_string": "moon"});
    let model = ModelServer::with_responses([calls("replace", edit), says("Done.")]);
    let (launch, server) = start(&model).await;
    let path = launch.folder().join("work/hello.txt");
    let mut greet = message("m1", "Greet the moon");
    greet["configuration"] = json!({"acceptedOutputModes": ["text/plain", "text/x-diff"]});
    let task = server.client().rpc("SendMessage", greet).await["result"]["task"].clone();
    assert_eq!(state(&task), "TASK_STATE_INPUT_REQUIRED");
    let question = task["status"]["message"]["parts"][0]["text"].as_str().unwrap();
    assert!(question.contains("-Hello, world.\n+Hello, moon."), "{question}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "Hello, world.\nSecond line.\n");
    let task = reply(&server.client(), "m2", &task, "yes").await;
    assert_eq!(state(&task), "TASK_STATE_COMPLETED");
    assert_eq!(fs::read_to_string(&path).unwrap(), "Hello, moon.\nSecond line.\n");
    let artifacts = task["artifacts"].as_array().unwrap();
    let diff = artifacts.iter().find(|artifact| artifact["artifactId"] == "changes-1").unwrap();
    let text = diff["parts"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("--- a/hello.txt\n+++ b/hello.txt\n"), "{text}");
}

#[tokio::test]
async fn a_command_runs_after_approval_and_sees_no_secret() {
    let command = json!({"command": "touch made; env | grep -c -e GEMINI_API_KEY -e key-for-tests; true"});
    let model = ModelServer::with_responses([calls("run_shell_command", command), says("Ran.")]);
    let (launch, server) = start(&model).await;
    let task = send(&server.client(), "m1", "Run!").await;
    assert_eq!(state(&task), "TASK_STATE_INPUT_REQUIRED");
    assert!(!launch.folder().join("work/made").exists());
    let task = reply(&server.client(), "m2", &task, "yes").await;
    assert_eq!(state(&task), "TASK_STATE_COMPLETED");
    assert!(launch.folder().join("work/made").exists());
    assert!(last_output(&model).contains("Output: 0"), "{}", last_output(&model));
}

#[tokio::test]
async fn an_approval_survives_kill_9() {
    let model = ModelServer::with_responses([
        calls("run_shell_command", json!({"command": "touch made"})),
        says("Made."),
    ]);
    let (launch, server) = start(&model).await;
    let task = send(&server.client(), "m1", "Run!").await;
    assert_eq!(state(&task), "TASK_STATE_INPUT_REQUIRED");
    server.kill().await;
    let server = launch.start().await;
    let task = reply(&server.client(), "m2", &task, "yes").await;
    assert_eq!(state(&task), "TASK_STATE_COMPLETED", "{task:#}");
    assert!(launch.folder().join("work/made").exists());
}

#[tokio::test]
async fn a_command_under_way_at_kill_9_is_not_run_again() {
    let command = json!({"command": "echo once >> runs; sleep 30"});
    let model = ModelServer::with_responses([calls("run_shell_command", command), says("I looked.")]);
    let launch = launch_with(&model).argument("--approval-mode").argument("yolo");
    let server = launch.start().await;
    let mut stream = server.client().rpc_stream("SendStreamingMessage", message("m1", "Run!")).await;
    let first = stream.next().await.unwrap();
    let id = first.payload()["task"]["id"].clone();
    let runs = launch.folder().join("work/runs");
    // The file is there before its line is.
    eventually("the command", || fs::read_to_string(&runs).is_ok_and(|text| text == "once\n")).await;
    server.kill().await;
    let server = launch.start().await;
    let client = server.client();
    let task = settled(&client, id.as_str().unwrap()).await;
    assert_eq!(state(&task), "TASK_STATE_INPUT_REQUIRED", "somebody who can look is asked: {task:#}");
    let question = task["status"]["message"]["parts"][0]["text"].as_str().unwrap();
    assert!(question.contains("not known whether it took effect"), "{question}");
    let task = reply(&client, "m2", &task, "skip").await;
    assert_eq!(state(&task), "TASK_STATE_COMPLETED", "{task:#}");
    assert_eq!(fs::read_to_string(&runs).unwrap(), "once\n");
    assert!(last_output(&model).contains("not known whether"), "{}", last_output(&model));
}
