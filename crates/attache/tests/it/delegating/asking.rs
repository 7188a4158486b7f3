//! What the other agent asks reaches the person, also after a restart, and the answer goes back.

use attache_testkit::model_server::ModelServer;
use serde_json::{Value, json};

use super::world::{Delegating, asks, done, invoke, peer, peer_tasks, scripted_agent, sent, working};
use crate::agent_world::{answer_text, last_output, reply, says, send, state};
use crate::support::{message, message_to};
use crate::watching::{batch, drop_in, reaches, task};

#[tokio::test]
async fn a_question_of_the_agent_is_answered_by_the_person() {
    let peer = peer().await;
    let model = ModelServer::with_responses([invoke("helper", "ask"), says("Done.")]);
    let world = Delegating::yolo(&model, &[("helper", peer.url())]).await;
    let client = world.server.client();
    let asked = send(&client, "m1", "Ask the helper").await;
    assert_eq!(state(&asked), "TASK_STATE_INPUT_REQUIRED", "{asked:#}");
    let question = asked["status"]["message"]["parts"][0]["text"].as_str().unwrap();
    assert!(
        question.contains("the agent helper asks:") && question.contains("What is your name?"),
        "{question}"
    );
    // The server stops in between.
    let id = asked["id"].as_str().unwrap().to_owned();
    world.server.kill().await;
    let server = world.launch.start().await;
    let client = server.client();
    let asked = reaches(&client, &id, "INPUT_REQUIRED").await;
    let done = reply(&client, "m2", &asked, "Ada").await;
    assert_eq!(answer_text(&done), "Done.", "{done:#}");
    let output = last_output(&model);
    assert!(output.contains("The person answered: Ada") && output.contains("Hello, Ada!"), "{output}");
    let tasks = peer_tasks(&peer).await;
    assert_eq!(tasks.len(), 1, "the answer went to the same task: {tasks:#?}");
    assert_eq!(tasks[0]["status"]["state"], "TASK_STATE_COMPLETED");
}

#[tokio::test]
async fn a_question_that_is_skipped_ends_the_call_and_the_agents_task() {
    let peer = peer().await;
    let model = ModelServer::with_responses([invoke("helper", "ask"), says("Without it.")]);
    let world = Delegating::yolo(&model, &[("helper", peer.url())]).await;
    let client = world.server.client();
    let asked = send(&client, "m1", "Ask the helper").await;
    let open = &asked["status"]["message"]["metadata"]["attache/open-calls"][0];
    let answer = json!({"message": {"messageId": "m2", "taskId": asked["id"], "role": "ROLE_USER", "parts": [
        {"data": {"attache/approval": {"call": open["call"], "choice": "skip"}}},
    ]}});
    let answered = client.rpc("SendMessage", answer).await;
    let done = match answered["result"].get("task") {
        Some(done) => done.clone(),
        None => reply(&client, "m3", &asked, "skip").await,
    };
    assert_eq!(answer_text(&done), "Without it.", "{done:#}");
    let tasks = peer_tasks(&peer).await;
    assert_eq!(tasks[0]["status"]["state"], "TASK_STATE_CANCELED", "{tasks:#?}");
}

#[tokio::test]
async fn a_credential_for_the_agent_is_not_given_to_the_model() {
    let agent = scripted_agent(|request| {
        let is_answer = request.json()["params"]["message"].get("taskId").is_some();
        if is_answer { done("Thanks.") } else { asks("AUTH_REQUIRED", "Your key?") }
    });
    let model = ModelServer::with_responses([invoke("helper", "work"), says("Done.")]);
    let world = Delegating::yolo(&model, &[("helper", &agent.url())]).await;
    let client = world.server.client();
    let asked = send(&client, "m1", "Delegate").await;
    assert_eq!(state(&asked), "TASK_STATE_AUTH_REQUIRED", "{asked:#}");
    let ended = reply(&client, "m2", &asked, "key-123").await;
    assert_eq!(answer_text(&ended), "Done.", "{ended:#}");
    assert_eq!(sent(&agent)[1]["parts"][0]["text"], "key-123");
    let told = model.received()[1].json().to_string();
    assert!(told.contains("(a credential)") && !told.contains("key-123"), "{told}");
}

/// A client that comes later, or only fetches the task, has not seen the stream in which it was asked.
#[tokio::test]
async fn a_question_is_part_of_the_task_while_other_calls_run() {
    let agent = scripted_agent(|request| {
        let request = request.json();
        let message = &request["params"]["message"];
        match (request["method"].as_str(), message["parts"][0]["text"].as_str()) {
            (Some("SubscribeToTask"), _) => done("ok"),
            (_, Some("ask")) => asks("INPUT_REQUIRED", "Which colour?"),
            (_, Some("red")) => done("It is painted."),
            _ => working("half ").hold(),
        }
    });
    let input = |prompt: &str| ("invoke_agent", json!({"agent_name": "helper", "prompt": prompt}));
    let model = ModelServer::with_responses([batch([input("ask"), input("wait")]), says("Done.")]);
    let world = Delegating::yolo(&model, &[("helper", &agent.url())]).await;
    let client = world.server.client();
    let id = drop_in(&client, message("m1", "Ask both")).await["id"].as_str().unwrap().to_owned();
    let is_asked = |task: &Value| task["status"]["message"].to_string().contains("> Which colour?");
    let shown = loop {
        let shown = task(&client, &id).await;
        if is_asked(&shown) {
            break shown;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(state(&shown), "TASK_STATE_WORKING");
    let open = shown["status"]["message"]["metadata"]["attache/open-calls"][0]["call"].as_str().unwrap();
    drop_in(&client, message_to(&id, "m2", &format!("{open}: red"))).await;
    assert!(!is_asked(&task(&client, &id).await));
    agent.release();
    let ended = reaches(&client, &id, "COMPLETED").await;
    assert_eq!(answer_text(&ended), "Done.", "{ended:#}");
}
