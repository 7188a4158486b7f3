//! `kill -9` at named points of a delegation: no message is sent twice, and none is lost.

use attache_testkit::model_server::{ModelServer, PlannedResponse, ReceivedRequest};
use serde_json::json;

use super::world::{
    invoke, json_response, peer, peer_tasks, result, scripted_agent, sent, working, yolo_launch,
};
use crate::agent_world::{answer_text, last_output, reply, says, state};
use crate::support::{launch, message};
use crate::watching::{drop_in, reaches};

fn next_answer(received: &ReceivedRequest) -> PlannedResponse {
    match received.json()["contents"].to_string().contains("functionResponse") {
        false => invoke("helper", "stream"),
        true => says("Done."),
    }
}

/// With an agent that recognises repeated messages the call goes on by itself.
async fn check(point: &str) {
    let peer = peer().await;
    let model = ModelServer::with_handler(next_answer);
    let launch = yolo_launch(&model, &[("helper", peer.url())]);
    let server = launch.start_until(point).await;
    let opened = drop_in(&server.client(), message("m1", "Delegate!")).await;
    let id = opened["id"].as_str().unwrap();
    server.wait_for_exit().await;
    let server = launch.start().await;
    let done = reaches(&server.client(), id, "COMPLETED").await;
    assert_eq!(answer_text(&done), "Done.", "{point}");
    let tasks = peer_tasks(&peer).await;
    assert_eq!(tasks.len(), 1, "{point}: {tasks:#?}");
    let output = last_output(&model);
    assert_eq!(output.matches("one two three four five").count(), 1, "{point}: {output}");
    assert_eq!(output.matches("one").count(), 1, "{point}: {output}");
}

#[tokio::test]
async fn before_anything_is_saved() {
    check("call-durable").await;
}

#[tokio::test]
async fn when_the_message_is_about_to_be_sent() {
    check("delegation-saved").await;
}

#[tokio::test]
async fn when_the_message_was_sent_and_its_task_is_not_known() {
    check("delegation-sent").await;
}

#[tokio::test]
async fn when_the_task_is_known() {
    check("delegation-task-saved").await;
}

#[tokio::test]
async fn when_the_agent_is_done() {
    check("call-ended").await;
}

#[tokio::test]
async fn until_the_end_is_durable() {
    check("call-end-recorded").await;
}

#[tokio::test]
async fn an_agent_that_is_killed_during_a_call_goes_on_with_it() {
    let script = "rules:\n  - steps:\n      - say: 'Half '\n      - wait: 300ms\n      - say: done\n";
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let agent = launch().durable().script(script).argument("--port").argument(port.to_string());
    let peer = agent.start().await;
    let model = ModelServer::with_handler(next_answer);
    let world = yolo_launch(&model, &[("helper", peer.url())]);
    let server = world.start().await;
    let opened = drop_in(&server.client(), message("m1", "Delegate!")).await;
    while peer_tasks(&peer).await.is_empty() {
        tokio::task::yield_now().await;
    }
    peer.kill().await;
    let peer = agent.start().await;
    reaches(&server.client(), opened["id"].as_str().unwrap(), "COMPLETED").await;
    assert!(last_output(&model).contains("Half done"), "{}", last_output(&model));
    assert_eq!(peer_tasks(&peer).await.len(), 1);
}

/// An agent that takes every message for a new one, and does not tell which it has received.
#[tokio::test]
async fn a_person_is_asked_where_it_cannot_be_known_whether_the_message_arrived() {
    let agent = scripted_agent(|request| match request.json()["method"].as_str() {
        Some("ListTasks") => json_response(&json!({"error": {"code": -32601, "message": "no"}})),
        Some("SendStreamingMessage") => super::world::done("ran"),
        _ => result(&json!({})),
    });
    let model = ModelServer::with_handler(next_answer);
    let launch = yolo_launch(&model, &[("helper", &agent.url())]);
    let server = launch.start_until("delegation-saved").await;
    let opened = drop_in(&server.client(), message("m1", "Delegate!")).await;
    let id = opened["id"].as_str().unwrap();
    server.wait_for_exit().await;
    let server = launch.start().await;
    let client = server.client();
    let asked = reaches(&client, id, "INPUT_REQUIRED").await;
    let question = asked["status"]["message"]["parts"][0]["text"].as_str().unwrap();
    assert!(question.contains("not known whether it took effect"), "{question}");
    assert_eq!(sent(&agent).len(), 0);
    let done = reply(&client, "m2", &asked, "run_again").await;
    assert_eq!((state(&done), sent(&agent).len()), ("TASK_STATE_COMPLETED", 1), "{done:#}");
}

/// The task is known, so nothing is sent again to any agent.
#[tokio::test]
async fn a_task_of_any_agent_is_taken_up_again() {
    let agent = scripted_agent(|request| match request.json()["method"].as_str() {
        Some("SendStreamingMessage") => working("half ").hold(),
        Some("SubscribeToTask") => super::world::done("more"),
        Some("GetTask") => result(&json!({
            "id": "t-1", "contextId": "c-1", "status": {"state": "TASK_STATE_COMPLETED"},
            "artifacts": [{"artifactId": "a", "parts": [{"text": "half done"}]}],
        })),
        other => panic!("{other:?}"),
    });
    let model = ModelServer::with_handler(next_answer);
    let launch = yolo_launch(&model, &[("helper", &agent.url())]);
    let server = launch.start_until("delegation-task-saved").await;
    let opened = drop_in(&server.client(), message("m1", "Delegate!")).await;
    server.wait_for_exit().await;
    let server = launch.start().await;
    reaches(&server.client(), opened["id"].as_str().unwrap(), "COMPLETED").await;
    assert_eq!(sent(&agent).len(), 1);
    assert!(last_output(&model).contains("half done"), "{}", last_output(&model));
}
