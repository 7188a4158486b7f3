//! `/agents` over A2A: what is listed, what asks first, and what stays shut.

use std::fs;

use attache_net::Url;
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use attache_testkit::{ServerLaunch, ServerProcess};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use super::world::World;
use crate::agent_world::{calls, last_output, says, trust, work, write};
use crate::delegating::world::{done, scripted_agent, sent};
use crate::support::{SCRIPT, launch};
use crate::watching::eventually;

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
    for line in ["show", "test", "enable"] {
        let told = world.line_in("c", &format!("/agents {line} bad")).await;
        let words = told.last_words();
        assert!(
            words.contains("\"bad\" cannot be used: Failed to load agent from ") && words.contains("bad.md"),
            "{words}"
        );
        assert!(words.contains("(line 1)"), "{words}");
    }
    write(&world.launch, ".gemini/settings.json", "{}");
    world.line_in("c", "/agents reload").await;
    for line in ["show", "test", "enable"] {
        let told = world.line_in("c", &format!("/agents {line} helper")).await;
        let words = told.last_words();
        assert!(words.contains("agents are switched off") && words.contains("enableAgents"), "{words}");
    }
    let usage = world.refused(super::world::command("/agents enable")).await;
    assert!(usage.ends_with("usage: /agents enable <agent_name>"), "{usage}");
}

#[tokio::test]
async fn a_changed_agent_of_a_project_waits_to_be_accepted() {
    let text = |text: &str| {
        agent("theirs", "http://127.0.0.1:1")
            .replace("It helps.", text)
            .replace("card.json", "card.json?key=sk-1")
    };
    let world = World::with([], |launch| {
        let launch = with_agents(launch, "http://127.0.0.1:1");
        write(&launch, "work/.gemini/agents/theirs.md", &text("It helps."));
        trust(&launch);
        launch.without_trust()
    })
    .await;
    let told = world.line_in("c", "/agents show theirs").await;
    let url = "http://127.0.0.1:1/.well-known/agent-card.json?key=…";
    assert_eq!(told.data()["agent"]["url"], url, "{}", told.text());
    write(&world.launch, "work/.gemini/agents/theirs.md", &text("It changed."));
    let told = world.line_in("c", "/agents reload").await;
    let reload = &told.data()["reload"];
    assert_eq!((&reload["deleted"], &reload["unaccepted"]), (&json!([]), &json!(["theirs"])), "{reload:#}");
    assert!(
        told.text().contains("- Not used before you accept them (`attache trust`): theirs"),
        "{}",
        told.text()
    );
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

/// Otherwise the person could not know why the agent refuses its calls.
#[tokio::test]
async fn what_an_agent_requires_and_its_file_lacks_is_told() {
    let guarded = launch().in_memory().script(SCRIPT);
    let token = guarded.write_secret("token", "correct-horse-battery-staple").display().to_string();
    let peer = guarded.argument("--token-file").argument(token).start().await;
    let call = calls("invoke_agent", json!({"agent_name": "helper", "prompt": "Work!"}));
    let world = World::with([call, says("It wants a token.")], |launch| {
        write(&launch, ".gemini/settings.json", ON);
        write(&launch, ".gemini/agents/helper.md", &agent("helper", peer.url()));
        launch.argument("--approval-mode").argument("yolo")
    })
    .await;
    let lacks = "the agent requires authentication: http with the scheme Bearer and a `token`; its file has no `auth`";
    world.say_in("c", "m1", "Delegate").await;
    let failed = last_output(&world.model);
    assert!(failed.contains("The agent helper failed") && failed.contains(lacks), "{failed}");
    let warned =
        || world.server.log().lines().any(|line| line.contains("cannot be used") && line.contains(lacks));
    eventually("a warning", warned).await;
    let tested = world.line_in("c", "/agents test helper").await;
    assert_eq!(tested.data()["agent"]["error"], lacks, "{:#}", tested.data());
    let told = world.line_in("c", "/agents reload").await;
    assert_eq!(told.data()["reload"]["errors"], json!([format!("helper: {lacks}")]));
    let with_auth = agent("helper", peer.url())
        .replace("card.json\n", "card.json\nauth:\n  type: http\n  scheme: Bearer\n  token: $NOT_SET\n");
    write(&world.launch, ".gemini/agents/helper.md", &with_auth);
    let told = world.line_in("c", "/agents reload").await;
    assert_eq!(told.data()["reload"]["errors"], json!([]), "{}", told.text());
    let tested = world.line_in("c", "/agents test helper").await;
    let error = "helper: auth.token: the variable NOT_SET is not set";
    assert_eq!(tested.data()["agent"]["error"], error, "{:#}", tested.data());
    let told = world.line_in("c", "/agents list").await;
    assert_eq!(entry(told.data(), "helper")["status"], "ready", "a variable can be set at any time");
}

#[tokio::test]
async fn a_person_signs_in_to_an_agent_from_a_session() {
    let peer = ModelServer::with_handler(|request| {
        let base = format!("http://{}", request.header("host").unwrap());
        let flow = json!({"authorizationUrl": format!("{base}/auth"), "tokenUrl": format!("{base}/token")});
        let card = json!({"name": "a", "supportedInterfaces": [{"url": "/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
            "securitySchemes": {"o": {"oauth2SecurityScheme": {"flows": {"authorizationCode": flow}}}},
            "securityRequirements": [{"schemes": {"o": {}}}]});
        let token = json!({"access_token": "of-the-person", "token_type": "Bearer", "expires_in": 3600});
        let body = if request.target == "/token" { token } else { card };
        PlannedResponse::text(200, "application/json", &body.to_string())
    });
    let with_auth = |auth: &str| {
        agent("helper", &peer.url()).replace("card.json\n", &format!("card.json\nauth:\n  type: {auth}\n"))
    };
    let world = World::with([], |launch| {
        write(&launch, ".gemini/settings.json", ON);
        write(&launch, ".gemini/agents/helper.md", &with_auth("oauth2\n  client_id: c"));
        write(&launch, ".gemini/agents/other.md", &with_auth("apiKey\n  key: k").replace("helper", "other"));
        launch
    })
    .await;
    let told = world.line_in("c", "/agents test helper").await;
    let error = "helper needs you to sign in first: run `attache agents auth helper`";
    assert_eq!(told.data()["agent"]["error"], error, "{:#}", told.data());
    let told = world.line_in("c", "/agents auth helper").await;
    let text = told.text();
    assert!(text.starts_with(&format!("helper wants you to sign in at {}, which", peer.url())), "{text}");
    let page = text.split_whitespace().find(|word| word.contains("/auth?")).unwrap();
    let page = Url::parse(page).unwrap();
    let value = |name: &str| page.query_pairs().find(|(key, _)| key == name).unwrap().1.into_owned();
    let back = Url::parse(&value("redirect_uri")).unwrap();
    let mut browser = tokio::net::TcpStream::connect(("127.0.0.1", back.port().unwrap())).await.unwrap();
    let request =
        format!("GET {}?code=c&state={} HTTP/1.1\r\nhost: localhost\r\n\r\n", back.path(), value("state"));
    browser.write_all(request.as_bytes()).await.unwrap();
    let file = world.launch.folder().join(".gemini/a2a-oauth-tokens.json");
    let stored = || fs::read_to_string(&file).is_ok_and(|text| text.contains("of-the-person"));
    eventually("a token", stored).await;
    let told = world.line_in("c", "/agents test helper").await;
    assert_eq!(told.data()["agent"]["status"], "ready", "{:#}", told.data());
    let told = world.line_in("c", "/agents auth other").await;
    assert!(told.text().contains("is called with apiKey from its file"), "{}", told.text());
}
