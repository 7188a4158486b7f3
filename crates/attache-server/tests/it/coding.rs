//! The coding agent over A2A, as a client without streams meets it.

use std::fs;

use attache_testkit::agent_client::{answer_text, message_to, reply, send, state};
use attache_testkit::model_requests::last_output;
use attache_testkit::model_server::ModelServer;
use attache_testkit::model_server::gemini::{calls, says};
use serde_json::{Value, json};

use crate::agent_world::{launch_with, start};

#[tokio::test]
async fn the_diff_is_no_artifact_for_clients_that_do_not_ask_for_it() {
    let write = json!({"file_path": "new.txt", "content": "new\n"});
    let model = ModelServer::with_responses([calls("write_file", write), says("Done.")]);
    let launch = launch_with(&model).session(|options| options.output_modes.push("text/x-diff".into()));
    let server = launch.start().await;
    let client = server.client();
    let task = send(&client, "m1", "Write!").await;
    let mut yes = message_to(task["id"].as_str().unwrap(), "m2", "yes");
    // What is shown is fixed when the task opens; a later message changes nothing.
    yes["configuration"] = json!({"acceptedOutputModes": ["text/plain", "text/x-diff"]});
    let frames = client.rpc_stream("SendStreamingMessage", yes).await.rest().await;
    assert!(frames.iter().all(|frame| !frame.raw.contains("changes-1")), "{frames:?}");
    let ids = |task: &Value| {
        let artifacts = task["artifacts"].as_array().unwrap().iter();
        artifacts.map(|artifact| artifact["artifactId"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let get = json!({"id": task["id"]});
    assert_eq!(ids(&client.rpc("GetTask", get.clone()).await["result"]), ["answer-1"]);
    let list = client.rpc("ListTasks", json!({"includeArtifacts": true})).await;
    assert_eq!(ids(&list["result"]["tasks"][0]), ["answer-1"]);
    let knowing = client.with("A2A-Extensions", attache_wire::devtool::URI);
    assert_eq!(ids(&knowing.rpc("GetTask", get).await["result"]), ["answer-1", "changes-1"]);
}

#[tokio::test]
async fn a_file_changed_behind_an_approval_is_not_overwritten() {
    let model = ModelServer::with_responses([
        calls("write_file", json!({"file_path": "hello.txt", "content": "mine\n"})),
        says("Oh."),
    ]);
    let (launch, server) = start(&model).await;
    let path = launch.folder().join("work/hello.txt");
    let task = send(&server.client(), "m1", "Write!").await;
    fs::write(&path, "theirs\n").unwrap();
    let task = reply(&server.client(), "m2", &task, "yes").await;
    assert_eq!(state(&task), "TASK_STATE_COMPLETED");
    assert_eq!(fs::read_to_string(&path).unwrap(), "theirs\n");
}

#[tokio::test]
async fn a_refused_call_does_not_run_and_the_person_speaks_next() {
    let model = ModelServer::with_responses([
        calls("run_shell_command", json!({"command": "touch made"})),
        says("Fine."),
    ]);
    let (launch, server) = start(&model).await;
    let task = send(&server.client(), "m1", "Run!").await;
    let task = reply(&server.client(), "m2", &task, "no").await;
    assert_eq!(state(&task), "TASK_STATE_INPUT_REQUIRED");
    assert_eq!(model.received().len(), 1, "the model is not asked again before the person speaks");
    let task = reply(&server.client(), "m3", &task, "never mind").await;
    assert_eq!((state(&task), answer_text(&task).as_str()), ("TASK_STATE_COMPLETED", "Fine."));
    assert!(!launch.folder().join("work/made").exists());
}

#[tokio::test]
async fn an_answer_that_is_no_answer_is_refused_with_the_choices() {
    let model = ModelServer::with_responses([calls("run_shell_command", json!({"command": "touch made"}))]);
    let (_launch, server) = start(&model).await;
    let task = send(&server.client(), "m1", "Run!").await;
    let refusal = reply(&server.client(), "m2", &task, "perhaps").await;
    assert_eq!(refusal["error"]["code"], -32602);
    assert!(
        refusal["error"]["message"].as_str().unwrap().contains("proceed_once, proceed_always, cancel"),
        "{refusal}"
    );
}

#[tokio::test]
async fn nothing_outside_the_workspace_can_be_touched() {
    let model = ModelServer::with_responses([
        calls("read_file", json!({"file_path": "../outside.txt"})),
        calls("write_file", json!({"file_path": "/etc/attache-outside", "content": "x"})),
        says("I see."),
    ]);
    let (launch, server) = start(&model).await;
    fs::write(launch.folder().join("outside.txt"), "secret").unwrap();
    let task = send(&server.client(), "m1", "Look outside").await;
    assert_eq!(state(&task), "TASK_STATE_COMPLETED");
    let bodies: String = model.received().iter().map(|request| request.json().to_string()).collect();
    assert!(!bodies.contains("secret\""), "what is outside stays there");
    assert!(last_output(&model).contains("workspace"), "{}", last_output(&model));
}

#[tokio::test]
async fn always_is_remembered_for_the_conversation() {
    let touch = |name: &str| calls("run_shell_command", json!({"command": format!("touch {name}")}));
    let model = ModelServer::with_responses([touch("one"), touch("two"), says("Both.")]);
    let (launch, server) = start(&model).await;
    let task = send(&server.client(), "m1", "Run!").await;
    let task = reply(&server.client(), "m2", &task, "always").await;
    assert_eq!(state(&task), "TASK_STATE_COMPLETED", "{task:#}");
    assert!(launch.folder().join("work/two").exists());
}
