//! An agent that is switched off while conversations run.

use attache_testkit::model_server::ModelServer;

use super::world::{Delegating, done, invoke, peer, peer_tasks, scripted_agent, sent};
use crate::agent_world::{last_output, reply, says, send, write};
use crate::watching::message_in;

const DISABLED: &str =
    r#"{"experimental": {"enableAgents": true}, "agents": {"overrides": {"helper": {"enabled": false}}}}"#;

#[tokio::test]
async fn an_agent_that_is_disabled_in_the_settings_is_not_asked_by_a_running_conversation() {
    let agent = scripted_agent(|_| done("ok"));
    let answers = || [invoke("helper", "work"), says("Good.")];
    let model = ModelServer::with_responses(answers().into_iter().chain(answers()));
    let world = Delegating::yolo(&model, &[("helper", &agent.url())]).await;
    let client = world.server.client();
    let first = send(&client, "m1", "One").await;
    assert_eq!(sent(&agent).len(), 1);
    write(&world.launch, ".gemini/settings.json", DISABLED);
    client.rpc("SendMessage", message_in(&first["contextId"], "m2", "Two")).await;
    assert_eq!(sent(&agent).len(), 1, "nothing more is sent");
    let output = last_output(&model);
    assert!(output.contains("the agent helper is not asked: it is disabled in "), "{output}");
}

#[tokio::test]
async fn an_agent_that_is_disabled_while_a_person_is_asked_is_not_asked_either() {
    let agent = scripted_agent(|_| done("ok"));
    let model = ModelServer::with_responses([invoke("helper", "work"), says("Good.")]);
    let world = Delegating::start(&model, &[("helper", &agent.url())]).await;
    let client = world.server.client();
    let asked = send(&client, "m1", "One").await;
    write(&world.launch, ".gemini/settings.json", DISABLED);
    reply(&client, "m2", &asked, "yes").await;
    assert_eq!(sent(&agent).len(), 0);
    let output = last_output(&model);
    assert!(output.contains("the agent helper is not asked: it is disabled in "), "{output}");
}

#[tokio::test]
async fn an_agent_that_is_disabled_while_it_asks_gets_no_answer_and_its_task_is_cancelled() {
    let peer = peer().await;
    let model = ModelServer::with_responses([invoke("helper", "ask"), says("Good.")]);
    let world = Delegating::yolo(&model, &[("helper", peer.url())]).await;
    let client = world.server.client();
    let asked = send(&client, "m1", "One").await;
    write(&world.launch, ".gemini/settings.json", DISABLED);
    reply(&client, "m2", &asked, "Ada").await;
    let output = last_output(&model);
    assert!(output.contains("What is your name?") && output.contains("it is disabled in "), "{output}");
    assert_eq!(peer_tasks(&peer).await[0]["status"]["state"], "TASK_STATE_CANCELED");
}
