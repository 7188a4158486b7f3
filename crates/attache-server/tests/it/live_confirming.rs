//! Calls that the clients of the live endpoint confirm, over HTTP and over sockets.

use attache_testkit::SseFrame;
use attache_testkit::live_session::{approval, asking_session, is_question, message};
use attache_testkit::model_server::ModelServer;
use attache_testkit::model_server::gemini::{calls, says};
use serde_json::{Value, json};

use crate::agent_world::{AgentLaunch, launch_with, work};
use crate::live_pairs::read_until;
use crate::live_socket::{Socket, send, try_connect};

const TOUCH: &str = "touch made";

fn model() -> ModelServer {
    ModelServer::with_responses([calls("run_shell_command", json!({"command": TOUCH})), says("Made.")])
}

fn live(model: &ModelServer) -> AgentLaunch {
    launch_with(model).options(|options| options.live = true)
}

async fn connect(address: &str) -> Socket {
    try_connect(address, "/ws", ("user-agent", "test")).await.unwrap()
}

fn statuses(frames: &[SseFrame]) -> Vec<String> {
    let calls = frames.iter().map(SseFrame::payload).filter(|event| event["kind"] == "TOOL_CALL_UPDATE");
    let mut statuses: Vec<_> = calls.map(|event| event["status"].as_str().unwrap().to_owned()).collect();
    statuses.dedup();
    statuses
}

#[tokio::test]
async fn a_command_is_approved_over_http_and_both_streams_see_the_end() {
    let model = model();
    let launch = live(&model);
    let server = launch.start().await;
    let client = server.client();
    let (task, path, mut prompting, before) = asking_session(&client).await;
    let question = before.iter().map(SseFrame::payload).find(|event| is_question(event)).unwrap();
    assert_eq!(question["status"], "PENDING");
    assert_eq!(question["tool_name"], "run_shell_command");
    assert_eq!(question["taskId"], *task);
    assert_eq!(question["confirmation_request"]["details"]["execute_details"]["command"], TOUCH);
    let answer = approval(&question["tool_call_id"]);
    let mut answering = client.post_stream(&path, &answer).await;
    let (answered, after) = tokio::join!(answering.rest(), prompting.rest());
    for frames in [&answered, &after] {
        assert_eq!(statuses(frames).last().map(String::as_str), Some("SUCCEEDED"), "{frames:#?}");
        let last = frames.last().unwrap().payload();
        assert_eq!((&last["state"], &last["final"]), (&json!("idle"), &json!(true)), "{frames:#?}");
    }
    assert!(work(&launch).join("made").exists());
    let late = client.post(&path, &answer).await;
    assert!(late.json()["error"]["message"].is_string(), "{}", late.text());
}

#[tokio::test]
async fn a_command_is_approved_over_a_socket_that_came_later() {
    let model = model();
    let launch = live(&model);
    let server = launch.start().await;
    let client = server.client();
    let (task, _, mut prompting, _) = asking_session(&client).await;
    let mut socket = connect(server.address()).await;
    let question = read_until(&mut socket, is_question).await;
    assert_eq!(question["confirmation_request"]["details"]["execute_details"]["command"], TOUCH);
    let answer = approval(&question["tool_call_id"]);
    send(&mut socket, &answer).await;
    let end = read_until(&mut socket, |event| event["final"] == true).await;
    assert_eq!((&end["state"], &end["taskId"]), (&json!("idle"), &json!(task)));
    assert_eq!(prompting.rest().await.last().unwrap().payload()["state"], "idle");
    assert!(work(&launch).join("made").exists());
    send(&mut socket, &answer).await;
    read_until(&mut socket, |frame| frame["error"]["message"].is_string()).await;
}

async fn request(socket: &mut Socket, mut frame: Value) -> Value {
    frame["id"] = json!("answer");
    send(socket, &frame).await;
    read_until(socket, |frame| frame["id"] == "answer").await
}

#[tokio::test]
async fn an_answer_without_its_question_is_refused_and_opens_no_session() {
    let model = model();
    let launch = live(&model);
    let server = launch.start().await;
    let client = server.client();
    let (_, _, mut prompting, before) = asking_session(&client).await;
    let question = before.iter().map(SseFrame::payload).find(|event| is_question(event)).unwrap();
    let answer = approval(&question["tool_call_id"]);
    let taken = request(&mut connect(server.address()).await, answer.clone()).await;
    assert!(taken["result"].is_object(), "{taken}");
    prompting.rest().await;
    // None of these sockets has written to a task before.
    let mut late = connect(server.address()).await;
    let refused = request(&mut late, answer.clone()).await;
    let said = refused["error"]["message"].as_str().unwrap();
    assert!(said.contains("was answered already"), "{said}");
    let refused = request(&mut late, approval(&json!("no-such-call"))).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("no-such-call"), "{refused}");
    for (data, field) in [
        (json!({"kind": "TOOL_CALL_CONFIRMATION"}), "tool_call_id"),
        (json!({"x": 1}), "tool_call_id"),
        (
            json!({"kind": "TOOL_CALL_CONFIRMATION", "tool_call_id": 7, "selected_option_id": "cancel"}),
            "tool_call_id",
        ),
        (json!({"kind": "TOOL_CALL_CONFIRMATION", "tool_call_id": "k"}), "selected_option_id"),
        (json!({"choice": "proceed_once"}), "tool_call_id"),
    ] {
        let refused = request(&mut late, message(json!({"data": data}))).await;
        assert!(refused["error"]["message"].as_str().unwrap().contains(field), "{refused}");
    }
    let reserved = client.post("/tasks", &json!({})).await.json()["taskId"].as_str().unwrap().to_owned();
    let refused = client.post(&format!("/tasks/{reserved}/messages/stream"), &answer).await;
    assert_eq!(refused.status, 400, "{}", refused.text());
    let listed = client.get("/tasks").await.json();
    assert_eq!(listed["tasks"].as_array().unwrap().len(), 2, "{listed}");
}

#[tokio::test]
async fn an_answer_at_once_reaches_the_task_that_asks() {
    let rounds = 8;
    let mut responses = Vec::new();
    for _ in 0..rounds {
        responses.extend([calls("run_shell_command", json!({"command": TOUCH})), says("Made.")]);
    }
    let model = ModelServer::with_responses(responses);
    let launch = live(&model);
    let server = launch.start().await;
    let mut watching = connect(server.address()).await;
    for _ in 0..rounds {
        let mut prompting = connect(server.address()).await;
        let begun = request(&mut prompting, message(json!({"text": "Make it"}))).await;
        let task = begun["result"]["taskId"].clone();
        let question = read_until(&mut watching, |event| is_question(event) && event["taskId"] == task).await;
        // This socket has no task of its own, and the task may not wait yet.
        let mut answering = connect(server.address()).await;
        let taken = request(&mut answering, approval(&question["tool_call_id"])).await;
        assert_eq!(taken["result"]["taskId"], task, "{taken}");
        read_until(&mut watching, |event| event["taskId"] == task && event["final"] == true).await;
    }
}
