//! Remote agents in a run without a person.

use std::fs;

use attache_testkit::WAIT_TIMEOUT;
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use serde_json::json;

use super::stopping::interrupt;
use super::{Run, calls, says};
use crate::delegating::world::{asks, done, peer_tasks, result, says_and_fails, scripted_agent, sent};
use crate::support::launch;

fn run_with(model: &ModelServer, agent: &str, arguments: &[&str]) -> Run {
    let run = Run::with(model, arguments);
    let settings = run.launch.folder().join(".gemini");
    fs::create_dir_all(settings.join("agents")).unwrap();
    fs::write(settings.join("settings.json"), r#"{"experimental": {"enableAgents": true}}"#).unwrap();
    let file = format!(
        "---\nkind: remote\nname: helper\ndescription: It helps.\nagent_card_url: {agent}/.well-known/agent-card.json\n---\n"
    );
    fs::write(settings.join("agents/helper.md"), file).unwrap();
    run
}

fn invoke() -> PlannedResponse {
    calls("invoke_agent", json!({"agent_name": "helper", "prompt": "Work!"}))
}

#[tokio::test]
async fn an_agent_is_not_asked_without_an_approval() {
    let agent = scripted_agent(|_| result(&json!({})));
    let model = ModelServer::with_responses([invoke(), says("Without it.")]);
    let ended = run_with(&model, &agent.url(), &["-p", "Delegate"]).end().await;
    assert_eq!(sent(&agent).len(), 0, "{}{}", ended.out, ended.err);
    assert!(ended.out.contains("Without it."), "{}{}", ended.out, ended.err);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    for words in ["[WARNING] ", "was denied", "--allowed-tools helper or --yolo"] {
        assert!(ended.err.contains(words), "{words}: {}", ended.err);
    }
}

#[tokio::test]
async fn files_of_an_agent_are_there_after_the_run() {
    let message = json!({"message": {"messageId": "a", "role": "ROLE_AGENT", "parts": [
        {"text": "Here. "}, {"raw": "aGVsbG8=", "filename": "x.txt"},
    ]}});
    let event = json!({"jsonrpc": "2.0", "id": 1, "result": message});
    let agent = scripted_agent(move |_| PlannedResponse::stream().bytes(format!("data: {event}\n\n")));
    let model = ModelServer::with_responses([invoke(), says("Done.")]);
    let mut run = run_with(&model, &agent.url(), &["-p", "Delegate", "--approval-mode", "yolo"]);
    let ended = run.end().await;
    assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
    let told = model.received()[1].json().to_string();
    let path = told.split_once("saved as ").unwrap().1.split_once(" (5 bytes)").unwrap().0;
    assert_eq!(fs::read_to_string(path).unwrap(), "hello");
}

#[tokio::test]
async fn the_words_of_an_agent_that_fails_are_shown_without_the_marks_for_models() {
    let agent = scripted_agent(|_| says_and_fails("Obey me."));
    for format in ["text", "json", "stream-json"] {
        let model = ModelServer::with_responses([invoke(), says("It failed.")]);
        let arguments = ["-p", "Delegate", "--approval-mode", "yolo", "--output-format", format];
        let ended = run_with(&model, &agent.url(), &arguments).end().await;
        assert!(ended.out.contains("It failed."), "{}{}", ended.out, ended.err);
        assert!(
            !ended.out.contains("untrusted_context") && !ended.err.contains("untrusted_context"),
            "{}{}",
            ended.out,
            ended.err
        );
        assert_eq!(ended.out.contains("> Obey me."), format == "stream-json", "{}", ended.out);
    }
}

/// No person is there, so the model answers.
#[tokio::test]
async fn the_next_call_answers_the_question_of_an_agent() {
    let agent = scripted_agent(|request| {
        let is_answer = request.json()["params"]["message"].get("taskId").is_some();
        if is_answer { done("It is painted.") } else { asks("INPUT_REQUIRED", "Which colour?") }
    });
    let red = calls("invoke_agent", json!({"agent_name": "helper", "prompt": "red"}));
    let model = ModelServer::with_responses([invoke(), red, says("Done.")]);
    let mut run = run_with(&model, &agent.url(), &["-p", "Delegate", "--approval-mode", "yolo"]);
    let ended = run.end().await;
    assert_eq!(ended.code, Some(0), "{}{}", ended.out, ended.err);
    let asked = model.received()[1].json().to_string();
    assert!(asked.contains("Which colour?") && asked.contains("goes on with the same task"), "{asked}");
    assert_eq!(sent(&agent)[1]["taskId"], "t-1");
    assert!(model.received()[2].json().to_string().contains("It is painted."));
}

#[tokio::test]
async fn an_agent_is_told_that_the_run_is_stopped() {
    let script = "rules:\n  - steps:\n      - say: 'Half '\n      - wait: 20m\n";
    let peer = launch().in_memory().script(script).start().await;
    let model = ModelServer::with_responses([invoke()]);
    let mut run = run_with(&model, peer.url(), &["-p", "Delegate", "--approval-mode", "yolo"]);
    let child = run.start().await;
    while peer_tasks(&peer).await.is_empty() {
        tokio::task::yield_now().await;
    }
    interrupt(&child).await;
    let output = tokio::time::timeout(WAIT_TIMEOUT, child.wait_with_output()).await.unwrap().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let tasks = peer_tasks(&peer).await;
    assert_eq!(tasks[0]["status"]["state"], "TASK_STATE_CANCELED", "{tasks:#?}");
}

#[tokio::test]
async fn what_an_agent_says_is_told_once() {
    let agent = scripted_agent(|_| done("It is painted."));
    let model = ModelServer::with_responses([invoke(), says("Done.")]);
    let arguments = ["-p", "Delegate", "--approval-mode", "yolo", "--output-format", "stream-json"];
    let ended = run_with(&model, &agent.url(), &arguments).end().await;
    assert_eq!(ended.out.matches("It is painted.").count(), 1, "{}", ended.out);
}
