//! How `attache call` ends early: by `--timeout`, by files that are too large.

use attache_testkit::model_server::{ModelServer, PlannedResponse};
use serde_json::json;

use super::call::call;

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

#[test]
fn a_time_limit_counts_for_the_card_and_for_every_request() {
    for (shows_card, arguments, words) in [
        (false, ["hi"].as_slice(), "[the time is over; the agent's card has not come]"),
        (true, &["--task", "t-1"], "[the time is over; the agent has not answered]"),
        (true, &["hi"], "[the time is over; the agent has named no task, and may have received the message]"),
    ] {
        let agent = silent_agent(shows_card);
        let ended = call(&[&[agent.url().as_str()], arguments, &["--timeout", "1"]].concat());
        assert_eq!((ended.code, ended.out.as_str()), (124, ""), "{}", ended.err);
        assert!(ended.err.contains(words), "{words}: {}", ended.err);
    }
}

#[test]
fn a_card_in_a_file_has_a_largest_size() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("card.json");
    std::fs::write(&path, format!("{{\"name\": \"{}\"}}", "x".repeat(1 << 20))).unwrap();
    let ended = call(&["agent", "hi", "--card", path.to_str().unwrap()]);
    assert!(ended.code == 1 && ended.err.contains("card.json is larger than 1 MiB"), "{}", ended.err);
}

#[test]
fn what_an_agent_offers_is_told_with_advice_that_fits() {
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
    let ended = call(&[&url, "hi"]);
    assert!(ended.err.contains("it offers SOAP 1.0") && !ended.err.contains("--binding"), "{}", ended.err);
    let ended = call(&[&url, "hi", "--binding", "grpc"]);
    assert!(ended.err.contains("hint: leave out --binding"), "{}", ended.err);
    let ended = call(&[&url, "hi"]);
    assert!(ended.err.contains("its card names unix:/run/agent.sock"), "{}", ended.err);
}

#[test]
fn json_writes_out_what_would_steer_a_terminal() {
    let interface = json!({"url": "/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"});
    let card = json!({"name": "\u{9b}2J\u{7f}\u{202e}", "supportedInterfaces": [interface],
        "capabilities": {"extendedAgentCard": true}});
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": card});
    let json = |value: &serde_json::Value| PlannedResponse::text(200, "application/json", &value.to_string());
    let agent = ModelServer::with_responses([json(&card), json(&answer)]);
    let ended = call(&[&agent.url(), "--extended-card"]);
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(ended.out.contains(r"\u009b2J\u007f\u202e"), "{:?}", ended.out);
    assert!(!ended.out.contains(['\u{9b}', '\u{7f}', '\u{202e}']), "{:?}", ended.out);
}
