//! The mode `confined`: who can choose it, and where it is refused.

use attache_testkit::model_server::ModelServer;
use attache_testkit::{ServerLaunch, TestClient};
use serde_json::{Value, json};

use super::runs;
use crate::agent_world::{launch_with, says, send, state, trust, work, write};
use crate::support::message;

/// What the mode lets a command do, and what it does not.
fn model() -> ModelServer {
    ModelServer::with_responses([runs("mkdir made; touch made/it"), says("Done.")])
}

#[track_caller]
fn check(launch: &ServerLaunch, task: &Value) {
    assert_eq!(state(task), "TASK_STATE_COMPLETED", "{task:#}");
    assert!(work(launch).join("made/it").exists());
}

async fn request(client: &TestClient, id: &str) -> Value {
    let mut params = message(id, "Work!");
    params["message"]["metadata"] = json!({"attache": {"approvalMode": "confined"}});
    client.rpc("SendMessage", params).await
}

#[tokio::test]
async fn the_operator_chooses_it_by_a_setting() {
    let model = model();
    let launch = launch_with(&model).settings("approval_mode = \"confined\"\n");
    let server = launch.start().await;
    check(&launch, &send(&server.client(), "m1", "Work!").await);
}

#[tokio::test]
async fn a_project_chooses_it_once_that_was_accepted() {
    let model = model();
    let launch = launch_with(&model);
    write(&launch, "work/.gemini/settings.json", "{\"general\": {\"defaultApprovalMode\": \"confined\"}}");
    let told = trust(&launch);
    assert!(told.contains("files are changed and confined commands run unasked"), "{told}");
    let server = launch.start().await;
    check(&launch, &send(&server.client(), "m1", "Work!").await);
}

#[tokio::test]
async fn a_client_gets_it_where_the_operator_allows_that() {
    let model = model();
    let launch = launch_with(&model).settings("client_auto_execute = true\n");
    let server = launch.start().await;
    let answer = request(&server.client(), "m1").await;
    check(&launch, &answer["result"]["task"]);
}

#[tokio::test]
async fn a_client_is_refused_without_the_operator_without_trust_and_on_a_weak_kernel() {
    let off = "client_auto_execute = true\n[confinement]\nenabled = false\n";
    for (settings, trusts, expected) in [
        ("", true, "more careful one, which is all this server allows"),
        ("client_auto_execute = true\n", false, "more careful one, which is all this server allows"),
        (off, true, "confined cannot be had on this system: confinement is switched off"),
    ] {
        let model = model();
        let launch = launch_with(&model).settings(settings);
        let launch = if trusts { launch } else { launch.without_trust() };
        let server = launch.start().await;
        let answer = request(&server.client(), "m1").await;
        assert_eq!(answer["error"]["code"], -32602, "{answer:#}");
        assert!(answer["error"].to_string().contains(expected), "{settings:?}: {answer:#}");
        assert!(model.received().is_empty() && !work(&launch).join("made").exists());
    }
}
