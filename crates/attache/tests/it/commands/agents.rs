//! `/agents` over A2A: what is listed, what asks first, and what stays shut.

use std::fs;

use attache_testkit::{ServerLaunch, ServerProcess};
use serde_json::{Value, json};

use super::world::World;
use crate::agent_world::{calls, last_output, says, work, write};
use crate::delegating::world::{done, scripted_agent, sent};
use crate::support::{SCRIPT, launch};

const ON: &str = r#"{"experimental": {"enableAgents": true}}"#;

fn agent(name: &str, url: &str) -> String {
    format!(
        "---\nkind: remote\nname: {name}\ndescription: It helps.\nagent_card_url: {url}/.well-known/agent-card.json\n---\n"
    )
}

/// The user's settings and agent.
fn with_agents(launch: ServerLaunch, url: &str) -> ServerLaunch {
    write(&launch, ".gemini/settings.json", ON);
    write(&launch, ".gemini/agents/helper.md", &agent("helper", url));
    write(&launch, ".gemini/agents/far.md", &agent("far", "http://127.0.0.1:1"));
    write(&launch, ".gemini/agents/bad.md", "no front matter");
    launch
}

async fn peer() -> ServerProcess {
    launch().in_memory().script(SCRIPT).start().await
}

fn entry<'a>(data: &'a Value, name: &str) -> &'a Value {
    let entries = data["agents"].as_array().unwrap();
    entries.iter().find(|entry| entry["name"] == name).unwrap_or_else(|| panic!("{name} in {data:#}"))
}

#[tokio::test]
async fn agents_are_listed_tested_and_read_again() {
    let peer = peer().await;
    let world = World::with([], |launch| with_agents(launch, peer.url())).await;
    let told = world.line_in("c", "/agents").await;
    let text = told.text();
    assert!(text.contains("- cli_help (Help on attache): ") && text.contains("[built-in, ready]"), "{text}");
    assert!(text.contains("- helper: It helps. [remote, "), "{text}");
    assert!(text.contains("Failed to load agent from ") && text.contains("bad.md"), "{text}");
    assert_eq!(entry(told.data(), "cli_help")["kind"], "built-in");
    let tested = world.line_in("c", "/agents test helper").await;
    assert_eq!(
        (&tested.data()["agent"]["status"], tested.state()),
        (&json!("ready"), "completed"),
        "{}",
        tested.text()
    );
    assert!(tested.data()["agent"]["latencyMs"].is_u64(), "{:#}", tested.data());
    let failed = world.line_in("c", "/agents test far").await;
    assert_eq!(failed.data()["agent"]["status"], "failed");
    assert!(failed.data()["agent"]["error"].as_str().unwrap().contains("127.0.0.1:1"), "{:#}", failed.data());
    // What was found out stays in the list.
    let told = world.line_in("c", "/agents list").await;
    assert_eq!(entry(told.data(), "helper")["status"], "ready");
    assert_eq!(entry(told.data(), "far")["status"], "failed");
    write(&world.launch, ".gemini/agents/new.md", &agent("new", peer.url()));
    let changed = agent("helper", peer.url()).replace("It helps.", "It helps more.");
    write(&world.launch, ".gemini/agents/helper.md", &changed);
    let told = world.line_in("c", "/agents refresh").await;
    let reload = &told.data()["reload"];
    assert_eq!((&reload["remote"], &reload["local"]), (&json!(3), &json!(0)), "{reload:#}");
    assert_eq!((&reload["new"], &reload["updated"]), (&json!(["new"]), &json!(["helper"])), "{reload:#}");
    let errors = reload["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(
        told.text().starts_with("Agents reloaded: 3 (0 local, 3 remote).\n- New: new\n- Updated: helper\n"),
        "{}",
        told.text()
    );
    fs::remove_file(world.launch.folder().join(".gemini/agents/new.md")).unwrap();
    let told = world.line_in("c", "/agents reload").await;
    assert_eq!(told.data()["reload"]["deleted"], json!(["new"]));
    let shown = world.line_in("c", "/agents show helper").await;
    assert!(shown.text().contains("- description: It helps more."), "{}", shown.text());
    assert!(world.model.received().is_empty());
}

#[tokio::test]
async fn an_agent_is_disabled_once_a_person_agrees() {
    let peer = peer().await;
    let world = World::with([], |launch| with_agents(launch, peer.url())).await;
    write(
        &world.launch,
        "work/.gemini/settings.json",
        "{\n  // ours, with a key\n  \"x-key\": \"sk-secret-123\"\n}\n",
    );
    let asked = world.line_in("c", "/agents disable helper").await;
    assert_eq!((asked.status(), asked.state()), ("AWAITING_ACTION_CONFIRMATION", "input-required"));
    assert_eq!(asked.asked()["tool_name"], "configure_agent");
    let question = asked.asked().to_string();
    assert!(question.contains("agents.overrides.helper.enabled to false"), "{question}");
    assert!(!question.contains("sk-secret"), "what a settings file holds is not recorded: {question}");
    let refused = world.answer(&asked, "cancel").await;
    assert!(refused.text().starts_with("Nothing was changed: "), "{}", refused.text());
    assert!(!world.file(".gemini/settings.json").unwrap().contains("overrides"));
    let asked = world.line_in("c", "/agents disable helper").await;
    let told = world.answer(&asked, "proceed_once").await;
    assert_eq!((told.state(), &told.data()["changed"]), ("completed", &json!(true)), "{}", told.text());
    assert!(told.text().starts_with("Agent \"helper\" is disabled now"), "{}", told.text());
    let text = world.file(".gemini/settings.json").unwrap();
    assert!(text.contains("// ours, with a key") && text.contains("\"enabled\": false"), "{text}");
    let told = world.line_in("c", "/agents").await;
    assert_eq!(entry(told.data(), "helper")["enabled"], false, "{:#}", told.data());
    let again = world.line_in("c", "/agents disable helper").await;
    assert_eq!(again.text(), "Agent \"helper\" is already disabled.");
    let asked = world.line_in("c", "/agents enable helper").await;
    let told = world.answer(&asked, "proceed_once").await;
    assert!(told.text().starts_with("Agent \"helper\" is enabled now"), "{}", told.text());
    let again = world.line_in("c", "/agents enable helper").await;
    assert_eq!(again.text(), "Agent \"helper\" is already enabled.");
    for (line, expected) in [
        ("/agents enable none", "Agent \"none\" not found."),
        ("/agents disable none", "Agent \"none\" not found."),
        ("/agents show none", "Agent \"none\" not found."),
        ("/agents reset none", "Agent \"none\" not found."),
    ] {
        let told = world.line_in("c", line).await;
        assert!(told.state() == "failed" && told.last_words().contains(expected), "{line}: {told:#?}");
    }
    let usage = world.refused(super::world::command("/agents enable")).await;
    assert!(usage.ends_with("usage: /agents enable <agent_name>"), "{usage}");
}

/// Not even where nothing is asked: enabling is not accepting.
#[tokio::test]
async fn an_agent_of_a_project_that_no_person_has_accepted_stays_shut() {
    let world = World::with([], |launch| {
        let launch = with_agents(launch, "http://127.0.0.1:1");
        write(&launch, "work/.gemini/agents/theirs.md", &agent("theirs", "http://127.0.0.1:1"));
        launch.without_trust()
    })
    .await;
    let told = world.line_in("c", "/agents enable theirs").await;
    assert!(told.state() == "failed" && told.last_words().contains("attache trust"), "{told:#?}");
    let told = world.line_in("c", "/agents test theirs").await;
    assert!(told.state() == "failed" && told.last_words().contains("attache trust"), "{told:#?}");
    let told = world.line_in("c", "/agents").await;
    assert_eq!(entry(told.data(), "theirs")["enabled"], false);
    assert!(!work(&world.launch).join(".gemini/settings.json").exists());
}

#[tokio::test]
async fn a_model_cannot_switch_agents() {
    let answers =
        [calls("configure_agent", json!({"name": "cli_help", "enabled": false})), says("I cannot.")];
    let world = World::playing(answers).await;
    world.say_in("c", "m-1", "Switch the help off").await;
    assert!(last_output(&world.model).contains("there is no tool"), "{}", last_output(&world.model));
    assert!(!work(&world.launch).join(".gemini/settings.json").exists());
}

#[tokio::test]
async fn after_a_reset_the_next_call_begins_a_new_context() {
    let agent = scripted_agent(|_| done("ok"));
    let invoke = || calls("invoke_agent", json!({"agent_name": "helper", "prompt": "Work!"}));
    let answers = [invoke(), says("One."), invoke(), says("Two."), invoke(), says("Three.")];
    let configure = |launch| with_agents(launch, &agent.url()).argument("--approval-mode").argument("yolo");
    let world = World::with(answers, configure).await;
    world.say_in("c", "m1", "One").await;
    world.say_in("c", "m2", "Two").await;
    world.line_in("c", "/agents reset helper").await;
    world.say_in("c", "m3", "Three").await;
    let contexts: Vec<_> = sent(&agent).iter().map(|message| message.get("contextId").cloned()).collect();
    assert_eq!(contexts, [None, Some(json!("c-1")), None]);
}
