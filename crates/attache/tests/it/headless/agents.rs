//! Agent files in a run without a person.

use std::fs;

use attache_testkit::model_server::{ModelServer, PlannedResponse};
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
async fn a_missing_sign_in_names_the_command_and_opens_nothing() {
    let agent = ModelServer::with_handler(|request| {
        let base = format!("http://{}", request.header("host").unwrap());
        let flow = json!({"authorizationUrl": format!("{base}/auth"), "tokenUrl": format!("{base}/token")});
        let card = json!({"name": "a", "supportedInterfaces": [{"url": "/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
            "securitySchemes": {"o": {"oauth2SecurityScheme": {"flows": {"authorizationCode": flow}}}},
            "securityRequirements": [{"schemes": {"o": {}}}]});
        PlannedResponse::text(200, "application/json", &card.to_string())
    });
    let call = calls("invoke_agent", json!({"agent_name": "helper", "prompt": "work"}));
    let model = ModelServer::with_responses([call, says("It is not signed in.")]);
    let mut run = Run::with(&model, &["-p", "Delegate", "--yolo"]);
    write_agent(&run, r#"{"experimental": {"enableAgents": true}}"#);
    let file = format!(
        "---\nkind: remote\nname: helper\nagent_card_url: {}/card\nauth:\n  type: oauth2\n  client_id: c\n---\n",
        agent.url()
    );
    fs::write(run.launch.folder().join(".gemini/agents/helper.md"), file).unwrap();
    let ended = run.end().await;
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let told = model.received()[1].json().to_string();
    assert!(told.contains("run `attache agents auth helper`") && !told.contains("redirect_uri"), "{told}");
    assert!(agent.received().iter().all(|request| request.method == "GET"), "no task was sent");
}
