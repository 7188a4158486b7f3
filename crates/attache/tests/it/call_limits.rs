//! How `attache call` ends by Ctrl-C. Its other limits are tested in `attache-cli`.

use std::process::Stdio;

use attache_testkit::WAIT_TIMEOUT;
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use serde_json::json;
use tokio::process::Command;
use tokio::time::timeout;

use crate::call_command::Ended;

/// An agent that shows its card and then says nothing. `shows_card`: otherwise it says nothing at all.
fn silent_agent(shows_card: bool) -> ModelServer {
    let interface = json!({"url": "/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"});
    let capabilities = json!({"extendedAgentCard": true, "pushNotifications": true});
    let card = json!({"name": "silent", "supportedInterfaces": [interface], "capabilities": capabilities});
    ModelServer::with_handler(move |request| match request.method.as_str() {
        "GET" if shows_card => PlannedResponse::text(200, "application/json", &card.to_string()),
        _ => PlannedResponse::stream().hold(),
    })
}

/// Ends a call with Ctrl-C once the agent has got `requests`.
async fn interrupted(agent: &ModelServer, arguments: &[&str], requests: usize) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_attache"));
    command.arg("call").arg(agent.url()).args(arguments).env_clear().kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let ending = async {
        while agent.received().len() < requests {
            tokio::task::yield_now().await;
        }
        let id = child.id().unwrap().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().await.unwrap().success());
        child.wait_with_output().await.unwrap()
    };
    let output = timeout(WAIT_TIMEOUT, ending).await.expect("it ends in time");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    Ended { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

const SINGLE_REQUESTS: [&[&str]; 6] = [
    &["--task", "t-1"],
    &["--list"],
    &["--task", "t-1", "--cancel"],
    &["--extended-card"],
    &["--task", "t-1", "--push", "https://hook.example"],
    &["--task", "t-1", "--list-pushes"],
];

#[tokio::test]
async fn a_person_can_stop_every_request() {
    for arguments in SINGLE_REQUESTS.into_iter().chain([["hi"].as_slice()]) {
        let ended = interrupted(&silent_agent(true), arguments, 2).await;
        assert_eq!(ended.code, Some(130), "{arguments:?}: {}", ended.err);
    }
    let ended = interrupted(&silent_agent(false), &["hi"], 1).await;
    assert_eq!(ended.code, Some(130), "while the card is read: {}", ended.err);
}
