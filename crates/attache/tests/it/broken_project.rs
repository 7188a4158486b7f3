//! A project whose own settings or rules are broken: conversations go on, more strictly, and say so.

use std::fs;

use attache_testkit::TestClient;
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use serde_json::json;

use crate::agent_world::{calls, launch_with, says, work, write};
use crate::operations::until_logged;
use crate::support::message;

/// Each kind of file that a project has for settings and rules, with content that cannot be used.
const BROKEN: [(&str, &str); 5] = [
    (".gemini/settings.json", "}{ garbage \u{0} \u{1b}[31m"),
    (".gemini/settings.json", "{\"tools\": {\"allowed\": 7}}"),
    (".gemini/settings.json", "[]"),
    (".gemini/config.yaml", "a: [1, 2\n\tb: }"),
    (".gemini/policies/rules.toml", "[[rule]]\ntoolName = 5\n"),
];

fn touch() -> PlannedResponse {
    calls("run_shell_command", json!({"command": "touch made", "description": "Makes it"}))
}

/// All that a client sees of a conversation until it is over or waits.
async fn streamed(client: &TestClient, id: &str, text: &str) -> String {
    let mut stream = client.rpc_stream("SendStreamingMessage", message(id, text)).await;
    stream.rest().await.into_iter().map(|frame| frame.raw).collect()
}

#[tokio::test]
async fn garbage_in_a_project_s_settings_does_not_stop_conversations() {
    for (path, content) in BROKEN {
        // Allowed for everybody who trusts the folder, so that the difference can be seen.
        let model = ModelServer::with_responses([says("Hello."), touch(), says("Fine.")]);
        let launch = launch_with(&model).argument("--approval-mode").argument("yolo");
        let server = launch.start().await;
        let client = server.client();
        assert!(!streamed(&client, "m1", "Hello!").await.contains("broken"));
        write(&launch, &format!("work/{path}"), content);
        let told = streamed(&client, "m2", "Make it!").await;
        assert!(told.contains("TASK_STATE_INPUT_REQUIRED"), "{path}: {content:?}: {told}");
        assert!(!work(&launch).join("made").exists());
        let name = path.rsplit('/').next().unwrap();
        assert!(told.contains("a file of the project is broken") && told.contains(name), "{told}");
        until_logged(&server, |log| log.contains("a file of the project is broken")).await;
        // Mended, the folder is trusted again.
        fs::remove_file(work(&launch).join(path)).unwrap();
        assert!(!streamed(&client, "m3", "And now?").await.contains("broken"));
    }
}

#[tokio::test]
async fn a_server_starts_beside_a_broken_project_and_not_beside_a_broken_user_file() {
    let model = ModelServer::with_responses([says("Hello.")]);
    let launch = launch_with(&model);
    write(&launch, "work/.gemini/settings.json", "}{");
    let server = launch.start().await;
    let told = streamed(&server.client(), "m1", "Hello!").await;
    assert!(told.contains("TASK_STATE_COMPLETED"), "{told}");
    assert!(told.contains("a file of the project is broken"), "{told}");
    write(&launch, ".gemini/settings.json", "}{");
    let (code, told) = launch.start_failing().await;
    assert!(code.is_some_and(|code| code != 0), "{told}");
    assert!(told.contains("settings.json"), "{told}");
}
