//! Where the agents of agent files are: cards, origins that a file allows, certificates of the settings.

use std::fs;

use attache_testkit::model_server::{ModelServer, PlannedResponse};
use attache_testkit::{TestAuthority, TlsFront};
use serde_json::{Value, json};

use crate::agent_world::{last_output, launch_with, says, send, write};
use crate::agents_command::World;
use crate::delegating::world::{invoke, peer};

/// An agent whose card is at one path only, and that answers everything else with a message.
fn agent_at(path: &'static str, interface: &str) -> ModelServer {
    let card = inline_card(interface).to_string();
    ModelServer::with_handler(move |request| match (request.method.as_str(), request.target.as_str()) {
        ("GET", target) if target == path => PlannedResponse::text(200, "application/json", &card),
        ("GET", _) => PlannedResponse::text(404, "text/html", "<h1>no</h1>"),
        _ => {
            let parts = json!([{"text": "hello from there"}]);
            let message = json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": parts}});
            let body = json!({"jsonrpc": "2.0", "id": 1, "result": message});
            PlannedResponse::text(200, "application/json", &body.to_string())
        }
    })
}

fn inline_card(interface: &str) -> Value {
    let interface = json!({"url": interface, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"});
    json!({"name": "agent", "supportedInterfaces": [interface]})
}

fn file(fields: &str) -> String {
    format!("---\nkind: remote\nname: helper\ndescription: It helps.\n{fields}---\n")
}

/// What the model is told of a call to `helper` in a session.
async fn delegated(fields: &str, settings: Value) -> String {
    let model = ModelServer::with_responses([invoke("helper", "echo hi"), says("Done.")]);
    let launch = launch_with(&model).argument("--approval-mode").argument("yolo");
    let mut settings = settings;
    settings["experimental"] = json!({"enableAgents": true});
    write(&launch, ".gemini/settings.json", &settings.to_string());
    write(&launch, ".gemini/agents/helper.md", &file(fields));
    let server = launch.start().await;
    send(&server.client(), "m1", "Delegate").await;
    last_output(&model)
}

#[tokio::test]
async fn the_url_of_a_card_is_fetched_as_it_is() {
    let agent = agent_at("/exact/agent-card", "/rpc");
    let (world, url) = (World::new(), format!("{}/exact/agent-card", agent.url()));
    let fields = format!("agent_card_url: {url}\n");
    world.user_agent(&file(&fields));
    let ran = world.run(&["call", "helper", "hi"]).await;
    assert_eq!((ran.code, ran.out.trim()), (Some(0), "hello from there"), "{}", ran.err);
    let told = delegated(&fields, json!({})).await;
    assert!(told.contains("hello from there"), "{told}");
    let received = agent.received();
    let cards = received.iter().filter(|it| it.method == "GET").map(|it| it.target.as_str());
    assert!(cards.eq(["/exact/agent-card"; 2]), "nothing else is tried: {received:?}");

    let base = format!("agent_card_url: {}\n", agent.url());
    world.user_agent(&file(&base));
    let hint = format!("most agents have their card at {}/.well-known/agent-card.json", agent.url());
    let ran = world.run(&["call", "helper", "hi"]).await;
    World::check_failure(&ran, &["agent_card_url in ", "mine.md is fetched as it is", &hint]);
    let told = delegated(&base, json!({})).await;
    assert!(told.contains("check agent_card_url") && told.contains(&hint), "{told}");
}

#[tokio::test]
async fn another_origin_is_acknowledged_in_the_file() {
    let there = agent_at("/none", "/");
    let origin = there.url();
    let here = agent_at("/card", &origin);
    let line = format!("allowed_origins: [{origin}]");
    let by_url = format!("agent_card_url: {}/card\n", here.url());
    let by_card = format!("agent_card_json: '{}'\n", inline_card(&origin));
    for (fields, why) in [(&by_url, "that is another origin"), (&by_card, "this origin has to be allowed")] {
        let world = World::new();
        world.user_agent(&file(fields));
        let ran = world.run(&["call", "helper", "hi"]).await;
        World::check_failure(
            &ran,
            &[why, &format!("add the line `{line}` to "), "mine.md", "--allow-origin"],
        );
        let told = delegated(fields, json!({})).await;
        assert!(told.contains(why) && told.contains(&line), "{told}");
        let auth = "auth:\n  type: oauth2\n  client_id: c\n";
        world.user_agent(&file(&format!("{fields}{auth}")));
        let ran = world.run(&["agents", "auth", "helper"]).await;
        World::check_failure(&ran, &[why, &line]);

        let allowed = format!("{fields}{line}\n");
        world.user_agent(&file(&allowed));
        let ran = world.run(&["call", "helper", "hi"]).await;
        assert_eq!((ran.code, ran.out.trim()), (Some(0), "hello from there"), "{}", ran.err);
        let shown = world.run(&["agents", "show", "helper"]).await;
        assert!(shown.out.contains(&format!("also at         {origin}")), "{}", shown.out);
        let told = delegated(&allowed, json!({})).await;
        assert!(told.contains("hello from there"), "{told}");
        world.user_agent(&file(&format!("{allowed}{auth}")));
        let ran = world.run(&["agents", "auth", "helper"]).await;
        assert!(!ran.err.contains(why), "the card can be read: {}", ran.err);
    }
}

#[tokio::test]
async fn a_project_says_which_other_origins_its_agent_has() {
    let world = World::new();
    let fields = "agent_card_url: https://a.example/card\nallowed_origins: [https://b.example:8443]\n";
    world.write(&world.folder.path().join("project"), "agents/theirs.md", &file(fields));
    let shown = world.run(&["trust", "--show"]).await;
    assert!(shown.out.contains("also at https://b.example:8443"), "{}", shown.out);
}

#[tokio::test]
async fn a_refused_credential_is_told_with_the_file_that_holds_it() {
    let of_rpc = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "no"}}).to_string();
    for (status, body) in [(401, "no"), (403, "no"), (401, of_rpc.as_str()), (403, of_rpc.as_str())] {
        let body = body.to_owned();
        let card = inline_card("/").to_string();
        let agent = ModelServer::with_handler(move |request| match request.method.as_str() {
            "GET" => PlannedResponse::text(200, "application/json", &card),
            _ => PlannedResponse::text(status, "application/json", &body),
        });
        let world = World::new();
        let fields = format!("agent_card_url: {}/card\n", agent.url());
        world.user_agent(&file(&fields));
        let ran = world.run(&["call", "helper", "hi"]).await;
        World::check_failure(&ran, &["hint: give the agent a credential in an auth block in ", "mine.md"]);
        world.user_agent(&file(&format!("{fields}auth:\n  type: apiKey\n  key: k\n")));
        let ran = world.run(&["call", "helper", "hi"]).await;
        World::check_failure(&ran, &["hint: check the auth block in ", "mine.md"]);
        let token = world.folder.path().join("token");
        fs::write(&token, "t").unwrap();
        let flag = ["call", "helper", "hi", "--token-file", token.to_str().unwrap()];
        let ran = world.run(&flag).await;
        World::check_failure(&ran, &["hint: the agent does not take the credential of --token-file"]);
        let ran = world.run(&["call", &agent.url(), "hi"]).await;
        World::check_failure(&ran, &["hint: give a token with --token-file FILE"]);
    }
}

#[tokio::test]
async fn no_command_runs_for_a_credential_that_would_travel_in_the_clear() {
    let world = World::new();
    let auth = "auth:\n  type: http\n  scheme: Bearer\n  token: '!touch ~/ran; echo t'\n";
    world.user_agent(&file(&format!("agent_card_url: http://192.0.2.7/card\n{auth}")));
    let ran = world.run(&["call", "helper", "hi"]).await;
    World::check_failure(&ran, &["a credential goes over https only"]);
    assert!(!world.folder.path().join("ran").exists());
}

#[tokio::test]
async fn the_certificates_of_the_settings_count_in_sessions_and_for_a_sign_in() {
    let (server, authority) = (peer().await, TestAuthority::new());
    let backend = server.url().strip_prefix("http://").unwrap().parse().unwrap();
    let front = TlsFront::with_http2(backend, &authority.issue("localhost"), Some(&authority));
    let mine = authority.issue("me");
    let tls = json!({"ca": authority.certificate(), "clientCert": mine.certificate, "clientKey": mine.key});
    let settings = json!({"agents": {"overrides": {"helper": {"tls": tls}}}});
    let card =
        format!("agent_card_url: https://localhost:{}/.well-known/agent-card.json\n", front.address().port());
    // The server names the address that it knows.
    let fields = format!("{card}allowed_origins: [{}]\n", server.url());
    let told = delegated(&fields, settings.clone()).await;
    assert!(told.contains("hi"), "{told}");
    let told = delegated(&fields, json!({})).await;
    assert!(told.contains("the connection to https://localhost"), "{told}");

    let world = World::new();
    let mut settings = settings;
    settings["experimental"] = json!({"enableAgents": true});
    world.write(world.folder.path(), "settings.json", &settings.to_string());
    world.user_agent(&file(&format!("{fields}auth:\n  type: oauth2\n  client_id: c\n")));
    let ran = world.run(&["agents", "auth", "helper"]).await;
    // The card was read, and says nothing about a sign-in.
    World::check_failure(&ran, &["authorization"]);
    assert!(!ran.err.contains("its card cannot be read"), "{}", ran.err);
}

#[tokio::test]
async fn the_settings_may_require_a_signature() {
    let agent = agent_at("/card", "/rpc");
    let fields = format!("agent_card_url: {}/card\n", agent.url());
    let settings =
        |policy: &str| json!({"agents": {"overrides": {"helper": {"signatures": {"policy": policy}}}}});
    let told = delegated(&fields, settings("require")).await;
    assert!(told.contains("the card has no signature, and only signed cards are trusted"), "{told}");
    assert!(delegated(&fields, settings("warn")).await.contains("hello from there"));
    let world = World::new();
    world.user_agent(&file(&fields));
    let mut required = settings("require");
    required["experimental"] = json!({"enableAgents": true});
    world.write(world.folder.path(), "settings.json", &required.to_string());
    let ran = world.run(&["call", "helper", "hi"]).await;
    World::check_failure(&ran, &["the card has no signature, and only signed cards are trusted"]);
    let ran = world.run(&["call", "helper", "hi", "--signatures", "warn"]).await;
    assert_eq!(ran.code, Some(0), "the flag counts: {}", ran.err);
    assert!(ran.err.contains("note: the card has no signature"), "{}", ran.err);
}
