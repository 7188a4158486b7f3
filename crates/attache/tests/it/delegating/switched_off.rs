//! Agents that are switched off, or gone, when the server starts again: what they do already is cancelled, or people read that
//! it is not.

use attache_testkit::model_server::ModelServer;
use attache_testkit::{ServerLaunch, ServerProcess};
use serde_json::json;
use tokio::task::JoinSet;

use super::cancelling::{peer_state, reaches_state, slow_peer, until_working};
use super::switching::DISABLED;
use super::world::{invoke, yolo_launch};
use crate::agent_world::{answer_text, last_output, says, write};
use crate::watching::{open, reaches, task};

/// A task is cancelled, and the server is killed before it tells the agent. After `change` it starts again.
async fn cancelled(
    peer: &ServerProcess,
    change: impl FnOnce(&ServerLaunch),
) -> (ServerLaunch, ServerProcess, String) {
    let model = ModelServer::with_responses([invoke("helper", "work")]);
    let launch = yolo_launch(&model, &[("helper", peer.url())]);
    let server = launch.start_until("calls-abandoned").await;
    let client = server.client();
    let (id, _stream) = open(&client, "m1", "Delegate").await;
    until_working(peer).await;
    let mut cancel = JoinSet::new();
    let params = json!({ "id": id });
    cancel.spawn(async move { client.rpc("CancelTask", params).await });
    server.wait_for_exit().await;
    let _ = cancel.join_next().await;
    change(&launch);
    let server = launch.start().await;
    (launch, server, id)
}

#[tokio::test]
async fn an_agent_that_is_switched_off_still_gets_the_cancel_of_what_it_does() {
    for settings in [DISABLED, "{}"] {
        let peer = slow_peer().await;
        let _started = cancelled(&peer, |launch| write(launch, ".gemini/settings.json", settings)).await;
        reaches_state(&peer, "TASK_STATE_CANCELED").await;
    }
}

#[tokio::test]
async fn people_read_in_the_task_that_an_agent_without_a_file_is_not_told() {
    let peer = slow_peer().await;
    let remove = |launch: &ServerLaunch| {
        std::fs::remove_file(launch.folder().join(".gemini/agents/helper.md")).unwrap()
    };
    let (_launch, server, id) = cancelled(&peer, remove).await;
    let client = server.client();
    let told = loop {
        let now = task(&client, &id).await;
        match now["status"]["message"]["parts"][0]["text"].as_str() {
            Some(text) => break (now["status"]["state"].clone(), text.to_owned()),
            None => tokio::task::yield_now().await,
        }
    };
    assert_eq!(told.0, "TASK_STATE_CANCELED");
    let expected =
        format!("The agent helper at {} was not told that its call is over, and may still work", peer.url());
    assert!(told.1.starts_with(&expected) && told.1.contains("there is no agent \"helper\""), "{}", told.1);
    assert_ne!(peer_state(&peer).await, "TASK_STATE_CANCELED");
    // It is not tried again.
    server.terminate().await;
}

#[tokio::test]
async fn a_call_to_an_agent_that_was_switched_off_meanwhile_ends_and_the_agents_task_is_cancelled() {
    for (settings, why) in [(DISABLED, "it is disabled in "), ("{}", "it is switched off")] {
        let peer = slow_peer().await;
        let model = ModelServer::with_responses([invoke("helper", "work"), says("Without it then.")]);
        let launch = yolo_launch(&model, &[("helper", peer.url())]);
        let server = launch.start().await;
        let (id, _stream) = open(&server.client(), "m1", "Delegate").await;
        until_working(&peer).await;
        server.kill().await;
        write(&launch, ".gemini/settings.json", settings);
        let server = launch.start().await;
        let done = reaches(&server.client(), &id, "COMPLETED").await;
        assert_eq!(answer_text(&done), "Without it then.");
        let output = last_output(&model);
        assert!(output.contains("the agent helper is not asked: ") && output.contains(why), "{output}");
        assert_eq!(peer_state(&peer).await, "TASK_STATE_CANCELED");
    }
}
