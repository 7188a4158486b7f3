//! Agent files in a run without a person.

use std::fs;

use attache_testkit::model_server::ModelServer;
use serde_json::json;

use super::{Run, calls, says};

const FILE: &str = "---\nkind: remote\nname: helper\nagent_card_url: http://127.0.0.1:9/card\n---\n";

fn write_agent(run: &Run, settings: &str) {
    let gemini = run.launch.folder().join(".gemini");
    fs::create_dir_all(gemini.join("agents")).unwrap();
    fs::write(gemini.join("agents/helper.md"), FILE).unwrap();
    fs::write(gemini.join("settings.json"), settings).unwrap();
}

#[tokio::test]
async fn an_agent_file_is_mentioned_once_while_agents_are_switched_off() {
    let model = ModelServer::with_responses([says("Hello.")]);
    let mut run = Run::with(&model, &["-p", "Hi"]);
    write_agent(&run, "{}");
    let ended = run.end().await;
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), "Hello.\n"), "{}", ended.err);
    let notice = "An agent file is not used, because agents are switched off";
    assert_eq!(ended.err.matches(notice).count(), 1, "{}", ended.err);
    assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
}

#[tokio::test]
async fn nobody_can_agree_to_a_delegation() {
    let call = calls("invoke_agent", json!({"agent_name": "helper", "prompt": "work"}));
    let model = ModelServer::with_responses([call, says("I may not.")]);
    let mut run = Run::with(&model, &["-p", "Delegate"]);
    write_agent(&run, r#"{"experimental": {"enableAgents": true}}"#);
    let ended = run.end().await;
    assert_eq!((ended.code, ended.out.as_str()), (Some(0), "I may not.\n"), "{}", ended.err);
    assert!(ended.err.contains("[WARNING] ") && ended.err.contains("was denied"), "{}", ended.err);
}
