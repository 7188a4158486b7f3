//! A cancel reaches the other agent, whichever way it comes.

use attache_testkit::ServerProcess;
use attache_testkit::model_server::ModelServer;
use serde_json::json;
use tokio::task::JoinSet;

use super::world::{Delegating, invoke, peer_tasks, yolo_launch};
use crate::agent_world::{answer_text, last_output, says};
use crate::support::launch;
use crate::watching::{open, reaches};

const SCRIPT: &str = "rules:
  - steps:
      - say: 'Half '
      - wait: 20m
";

pub(super) async fn slow_peer() -> ServerProcess {
    launch().in_memory().script(SCRIPT).start().await
}

pub(super) async fn peer_state(peer: &ServerProcess) -> String {
    let tasks = peer_tasks(peer).await;
    assert_eq!(tasks.len(), 1, "{tasks:#?}");
    tasks[0]["status"]["state"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_cancelled_task_cancels_what_it_delegated() {
    let peer = slow_peer().await;
    let model = ModelServer::with_responses([invoke("helper", "work")]);
    let world = Delegating::yolo(&model, &[("helper", peer.url())]).await;
    let client = world.server.client();
    let (id, _stream) = open(&client, "m1", "Delegate").await;
    until_working(&peer).await;
    client.rpc("CancelTask", json!({"id": id})).await;
    reaches_state(&peer, "TASK_STATE_CANCELED").await;
    assert_eq!(peer_state(&peer).await, "TASK_STATE_CANCELED");
}

/// The server is killed after the task is canceled, and before the agent is told.
#[tokio::test]
async fn a_cancel_reaches_the_agent_also_after_a_crash() {
    let peer = slow_peer().await;
    let model = ModelServer::with_responses([invoke("helper", "work")]);
    let launch = yolo_launch(&model, &[("helper", peer.url())]);
    let server = launch.start_until("calls-abandoned").await;
    let client = server.client();
    let (id, _stream) = open(&client, "m1", "Delegate").await;
    until_working(&peer).await;
    let mut cancel = JoinSet::new();
    cancel.spawn(async move { client.rpc("CancelTask", json!({"id": id})).await });
    server.wait_for_exit().await;
    // The response may be lost.
    let _ = cancel.join_next().await;
    assert_ne!(peer_state(&peer).await, "TASK_STATE_CANCELED");
    let _server = launch.start().await;
    reaches_state(&peer, "TASK_STATE_CANCELED").await;
}

#[tokio::test]
async fn one_call_is_cancelled_and_the_turn_goes_on() {
    let peer = slow_peer().await;
    let model = ModelServer::with_responses([invoke("helper", "work"), says("Without it then.")]);
    let world = Delegating::yolo(&model, &[("helper", peer.url())]).await;
    let client = world.server.client().with("A2A-Extensions", "");
    let (id, mut stream) = open(&client, "m1", "Delegate").await;
    until_working(&peer).await;
    let wrong = json!({"id": id, "metadata": {"attache/call": "no-such-call"}});
    let refused = client.rpc("CancelTask", wrong).await;
    let named = refused["error"]["message"].as_str().unwrap().to_owned();
    let call = named.rsplit_once("under way are: ").unwrap_or_else(|| panic!("{named}")).1;
    let call = call.trim_end_matches(['.', ')']).to_owned();
    client.rpc("CancelTask", json!({"id": id, "metadata": {"attache/call": call}})).await;
    reaches_state(&peer, "TASK_STATE_CANCELED").await;
    stream.rest().await;
    let done = reaches(&client, &id, "COMPLETED").await;
    assert_eq!(answer_text(&done), "Without it then.");
    let output = last_output(&model);
    assert!(output.contains("cancelled") && output.contains("Half "), "{output}");
}

#[tokio::test]
async fn a_server_that_stops_lets_the_agent_go_on_and_takes_it_up_again() {
    let script = "rules:\n  - steps:\n      - say: 'Half '\n      - wait: 1500ms\n      - say: done\n";
    let peer = launch().in_memory().script(script).start().await;
    let model = ModelServer::with_responses([invoke("helper", "work"), says("It is done.")]);
    let world = Delegating::yolo(&model, &[("helper", peer.url())]).await;
    let (id, _stream) = open(&world.server.client(), "m1", "Delegate").await;
    until_working(&peer).await;
    world.server.terminate().await;
    assert_ne!(peer_state(&peer).await, "TASK_STATE_CANCELED");
    let server = world.launch.start().await;
    let done = reaches(&server.client(), &id, "COMPLETED").await;
    assert_eq!(answer_text(&done), "It is done.");
    assert!(last_output(&model).contains("Half done"), "{}", last_output(&model));
    assert_eq!(peer_tasks(&peer).await.len(), 1);
}

/// The agent has a task for us and has said something.
pub(super) async fn until_working(peer: &ServerProcess) {
    loop {
        let tasks = peer_tasks(peer).await;
        if tasks.first().is_some_and(|task| task["artifacts"].to_string().contains("Half")) {
            return;
        }
        tokio::task::yield_now().await;
    }
}

pub(super) async fn reaches_state(peer: &ServerProcess, wanted: &str) {
    let reached = async {
        while peer_state(peer).await != wanted {
            tokio::task::yield_now().await;
        }
    };
    let in_time = tokio::time::timeout(attache_testkit::WAIT_TIMEOUT, reached).await;
    assert!(in_time.is_ok(), "the agent's task is {}", peer_state(peer).await);
}
