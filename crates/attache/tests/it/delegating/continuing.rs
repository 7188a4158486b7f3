//! A conversation with an agent belongs to the conversation that it was begun in, and survives a restart.

use std::process::Output;

use attache_testkit::model_server::ModelServer;
use serde_json::json;
use tokio::process::Command;

use super::world::{Delegating, done, invoke, scripted_agent, sent};
use crate::agent_world::{says, send};
use crate::watching::message_in;

#[tokio::test]
async fn the_next_prompt_goes_on_with_the_agents_context_also_after_a_restart() {
    let agent = scripted_agent(|_| done("ok"));
    let answers = || [invoke("helper", "again"), says("Good.")];
    let model = ModelServer::with_responses(answers().into_iter().chain(answers()).chain(answers()));
    let world = Delegating::yolo(&model, &[("helper", &agent.url())]).await;
    let first = send(&world.server.client(), "m1", "One").await;
    world.server.kill().await;
    let server = world.launch.start().await;
    let client = server.client();
    client.rpc("SendMessage", message_in(&first["contextId"], "m2", "Two")).await;
    send(&client, "m3", "Another conversation").await;
    let contexts: Vec<_> = sent(&agent).iter().map(|message| message.get("contextId").cloned()).collect();
    assert_eq!(contexts, [None, Some(json!("c-1")), None]);
    let ids: Vec<_> = sent(&agent).iter().map(|message| message["messageId"].clone()).collect();
    assert!(ids[0] != ids[1] && ids[1] != ids[2], "{ids:?}");
}

/// `attache agents reset` with these arguments, for the server at `url`.
async fn reset(url: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_attache"));
    command
        .args(["agents", "reset"])
        .args(arguments)
        .env_clear()
        .env("ATTACHE_SERVER", url)
        .kill_on_drop(true);
    command.output().await.unwrap()
}

#[tokio::test]
async fn a_conversation_forgets_its_exchange_with_an_agent_from_the_command_line() {
    let agent = scripted_agent(|_| done("ok"));
    let answers = || [invoke("helper", "again"), says("Good.")];
    let model = ModelServer::with_responses((0..3).flat_map(|_| answers()));
    let world = Delegating::yolo(&model, &[("helper", &agent.url())]).await;
    let client = world.server.client();
    let first = send(&client, "m1", "One").await;
    let (task, context) = (first["id"].as_str().unwrap(), first["contextId"].as_str().unwrap());
    for (id, place) in [("m2", ["--context", &context[..20]]), ("m3", ["--session", &task[..20]])] {
        let ended = reset(world.server.url(), &[&["helper"], &place[..]].concat()).await;
        let said =
            format!("{}{}", String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
        assert!(ended.status.success() && said.contains("helper"), "{said}");
        client.rpc("SendMessage", message_in(&first["contextId"], id, "Again")).await;
    }
    let contexts: Vec<_> = sent(&agent).iter().map(|message| message.get("contextId").cloned()).collect();
    assert_eq!(contexts, [None, None, None]);
    let unknown = reset(world.server.url(), &["missing", "--context", context]).await;
    assert_eq!(unknown.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("\"missing\" not found"), "{unknown:?}");
}

#[tokio::test]
async fn a_task_that_asks_takes_no_reset() {
    let agent = scripted_agent(|_| done("ok"));
    let model = ModelServer::with_responses([invoke("helper", "work"), says("Good.")]);
    let world = Delegating::start(&model, &[("helper", &agent.url())]).await;
    let asked = send(&world.server.client(), "m1", "One").await;
    let ended = reset(world.server.url(), &["helper", "--task", asked["id"].as_str().unwrap()]).await;
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(said.contains("takes no command before it is answered"), "{said}");
}

#[tokio::test]
async fn a_reset_says_what_is_missing() {
    for (arguments, code, words) in [
        (&["helper"][..], 2, "attache tasks list"),
        (&["helper", "--context", "c"], 1, "start a server with `attache serve`"),
    ] {
        let ended = reset("http://127.0.0.1:9", arguments).await;
        assert_eq!(ended.status.code(), Some(code), "{ended:?}");
        assert!(String::from_utf8_lossy(&ended.stderr).contains(words), "{ended:?}");
    }
}
