//! How `attache call` ends early: by Ctrl-C, by `--timeout`, by files that are too large.

use std::process::Stdio;

use attache_testkit::WAIT_TIMEOUT;
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use serde_json::json;
use tokio::process::Command;
use tokio::time::timeout;

use crate::call_command::{Ended, call};

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

#[tokio::test]
async fn a_time_limit_counts_for_the_card_and_for_every_request() {
    for (shows_card, arguments, words) in [
        (false, ["hi"].as_slice(), "[the time is over; the agent's card has not come]"),
        (true, SINGLE_REQUESTS[0], "[the time is over; the agent has not answered]"),
        (true, &["hi"], "[the time is over; the agent has named no task, and may have received the message]"),
    ] {
        let agent = silent_agent(shows_card);
        let ended = call(&[&[agent.url().as_str()], arguments, &["--timeout", "1"]].concat()).await;
        assert_eq!((ended.code, ended.out.as_str()), (Some(124), ""), "{}", ended.err);
        assert!(ended.err.contains(words), "{words}: {}", ended.err);
    }
}

#[tokio::test]
async fn a_card_in_a_file_has_a_largest_size() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("card.json");
    std::fs::write(&path, format!("{{\"name\": \"{}\"}}", "x".repeat(1 << 20))).unwrap();
    let ended = call(&["agent", "hi", "--card", path.to_str().unwrap()]).await;
    assert!(ended.code == Some(1) && ended.err.contains("card.json is larger than 1 MiB"), "{}", ended.err);
}

#[tokio::test]
async fn what_an_agent_offers_is_told_with_advice_that_fits() {
    let card = |url: &str, binding: &str| {
        let interface = json!({"url": url, "protocolBinding": binding, "protocolVersion": "1.0"});
        let card = json!({"name": "agent", "supportedInterfaces": [interface]});
        PlannedResponse::text(200, "application/json", &card.to_string())
    };
    let agent = ModelServer::with_responses([
        card("/", "SOAP"),
        card("/", "JSONRPC"),
        card("unix:/run/agent.sock", "JSONRPC"),
    ]);
    let url = agent.url();
    let ended = call(&[&url, "hi"]).await;
    assert!(ended.err.contains("it offers SOAP 1.0") && !ended.err.contains("--binding"), "{}", ended.err);
    let ended = call(&[&url, "hi", "--binding", "grpc"]).await;
    assert!(ended.err.contains("hint: leave out --binding"), "{}", ended.err);
    let ended = call(&[&url, "hi"]).await;
    assert!(ended.err.contains("its card names unix:/run/agent.sock"), "{}", ended.err);
}

#[tokio::test]
async fn json_writes_out_what_would_steer_a_terminal() {
    let interface = json!({"url": "/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"});
    let card = json!({"name": "\u{9b}2J\u{7f}\u{202e}", "supportedInterfaces": [interface],
        "capabilities": {"extendedAgentCard": true}});
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": card});
    let json = |value: &serde_json::Value| PlannedResponse::text(200, "application/json", &value.to_string());
    let agent = ModelServer::with_responses([json(&card), json(&answer)]);
    let ended = call(&[&agent.url(), "--extended-card"]).await;
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(ended.out.contains(r"\u009b2J\u007f\u202e"), "{:?}", ended.out);
    assert!(!ended.out.contains(['\u{9b}', '\u{7f}', '\u{202e}']), "{:?}", ended.out);
}
