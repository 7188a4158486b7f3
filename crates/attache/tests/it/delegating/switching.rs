//! An agent that is switched off, or whose acceptance is revoked, while conversations run.

use attache_testkit::model_server::ModelServer;

use super::world::{Delegating, done, invoke, peer, peer_tasks, scripted_agent, sent, switch_on};
use crate::agent_world::{last_output, launch_with, reply, says, send, trust, trust_command, write};
use crate::watching::message_in;

pub(super) const DISABLED: &str =
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

/// In the mode yolo, where no person is asked.
#[tokio::test]
async fn an_agent_of_a_project_is_called_only_while_its_file_is_accepted() {
    let agent = scripted_agent(|_| done("ok"));
    let file = |description: &str| {
        let url = agent.url();
        format!(
            "---\nname: helper\ndescription: {description}\nagent_card_url: {url}/.well-known/agent-card.json\n---\n"
        )
    };
    let answers = || [invoke("helper", "work"), says("Good.")];
    for revokes in [true, false] {
        let model = ModelServer::with_responses((0..3).flat_map(|_| answers()));
        let launch = launch_with(&model).argument("--approval-mode").argument("yolo");
        switch_on(&launch);
        write(&launch, "work/.gemini/agents/helper.md", &file("It helps."));
        trust(&launch);
        let server = launch.start().await;
        let client = server.client();
        let before = sent(&agent).len();
        let first = send(&client, "m1", "One").await;
        assert_eq!(sent(&agent).len(), before + 1, "{}", last_output(&model));
        match revokes {
            true => _ = trust_command(&launch, "--revoke"),
            false => write(&launch, "work/.gemini/agents/helper.md", &file("It was changed.")),
        }
        client.rpc("SendMessage", message_in(&first["contextId"], "m2", "Two")).await;
        assert_eq!(sent(&agent).len(), before + 1, "nothing more is sent");
        let output = last_output(&model);
        assert!(
            output.contains(
                "the agent helper is not asked: its file in the project is gone or not accepted any more"
            ),
            "{output}"
        );
        trust(&launch);
        client.rpc("SendMessage", message_in(&first["contextId"], "m3", "Three")).await;
        assert_eq!(sent(&agent).len(), before + 2, "{}", last_output(&model));
    }
}
