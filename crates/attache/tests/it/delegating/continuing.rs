//! A conversation with an agent belongs to the conversation that it was begun in, and survives a restart.

use attache_testkit::model_server::ModelServer;
use serde_json::json;

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
