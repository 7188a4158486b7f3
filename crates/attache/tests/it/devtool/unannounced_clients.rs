//! Settings beside the message, as clients of Gemini CLI's server send them.

use attache_testkit::model_server::ModelServer;
use attache_testkit::pairs::{Ask, Pair};
use serde_json::json;

use crate::agent_world::{calls, last_output, launch_with, says, write};

#[tokio::test]
async fn settings_beside_the_message_are_requests_and_refused_by_their_place() {
    let model = ModelServer::with_responses([
        calls("read_file", json!({"file_path": "readme.txt"})),
        says("Read."),
        says("never"),
    ]);
    let launch = launch_with(&model);
    write(&launch, "work/inner/readme.txt", "I am inside.");
    let server = launch.start().await;
    let workspace = launch.folder().join("work/inner");
    let request = |id: &str, path: &str| {
        let mut params = Pair::Rpc03.text(id, "Read!");
        params["metadata"] = json!({"coderAgent": {"kind": "agent-settings", "workspacePath": path}});
        Ask::Send(params)
    };
    let task = Pair::Rpc03.result(&server.client(), &request("m1", workspace.to_str().expect("UTF-8"))).await;
    assert_eq!(task["status"]["state"], "input-required", "the task stays open: {task:#}");
    assert!(last_output(&model).contains("I am inside."));
    let refused = Pair::Rpc03.call(&server.client(), &request("m2", "/")).await.answer.json();
    let told = refused["error"].to_string();
    assert!(told.contains("metadata.coderAgent.workspacePath"), "{told}");
    assert!(!told.contains("message.metadata"), "{told}");
}
