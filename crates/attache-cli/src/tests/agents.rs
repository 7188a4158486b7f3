//! `attache agents`, and `attache call NAME` with the agents of files.

use std::fs;

use attache_testkit::model_server::{ModelServer, PlannedResponse};
use serde_json::{Value, json};

use super::world::{Ended, World};

const TOKEN: &str = "correct-horse-battery-staple";
const SWITCHED_ON: &str = r#"{"experimental": {"enableAgents": true, "other": 1}}"#;

/// Agents are switched on, and a variable holds the token.
fn world() -> World {
    World::new().variable("AGENT_TOKEN", TOKEN).file(".gemini/settings.json", SWITCHED_ON)
}

impl World {
    fn user_agent(&self, text: &str) {
        self.write(".gemini/agents/mine.md", text);
    }
}

/// Fails with an error that holds these words and never the token.
#[track_caller]
fn check_failure(ran: &Ended, words: &[&str]) {
    assert_ne!(ran.code, 0, "{}{}", ran.out, ran.err);
    words.iter().for_each(|words| assert!(ran.err.contains(words), "{words:?} in {}", ran.err));
    assert!(!ran.err.contains(TOKEN) && !ran.out.contains(TOKEN), "{}{}", ran.out, ran.err);
}

/// Shows its card to everyone, and answers those that have the token.
fn guarded_agent() -> ModelServer {
    let card = json!({
        "name": "guarded", "capabilities": {"streaming": false},
        "supportedInterfaces": [{"url": "/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "securitySchemes": {"bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}},
        "securityRequirements": [{"schemes": {"bearer": {}}}],
    });
    let message = json!({"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "You may."}]});
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"message": message}});
    let json =
        |status: u16, body: &Value| PlannedResponse::text(status, "application/json", &body.to_string());
    ModelServer::with_handler(move |request| {
        let known = request.header("authorization") == Some(&format!("Bearer {TOKEN}"));
        match request.method.as_str() {
            "GET" => json(200, &card),
            _ if known => json(200, &answer),
            _ => json(401, &json!({})),
        }
    })
}

fn agent(url: &str, auth: &str) -> String {
    format!(
        "---\nkind: remote\nname: helper\ndescription: It helps.\nagent_card_url: {url}/.well-known/agent-card.json\n{auth}---\n"
    )
}

#[test]
fn a_call_that_cannot_be_made_says_why() {
    let server = guarded_agent();
    let world = world();
    for (auth, words) in [
        ("", ["token"].as_slice()),
        (
            "auth:\n  type: http\n  scheme: Bearer\n  token: $NOT_SET\n",
            &["helper: auth.token: the variable NOT_SET is not set"],
        ),
        ("auth:\n  type: apiKey\n  key: '!exit 4'\n", &["auth.key: the command `exit 4` failed"]),
        (
            "auth:\n  type: http\n  scheme: Basic\n  username: u\n  password: p\n",
            &["the server wants a credential, or another one"],
        ),
        ("auth:\n  type: google-credentials\n", &["google-credentials are sent over https only"]),
        (
            "auth:\n  type: oauth2\n  client_id: x\n  authorization_url: https://a.example/a\n  token_url: https://a.example/t\n",
            &["helper needs you to sign in first: run `attache agents auth helper`"],
        ),
        ("auth:\n  type: oauth2\n  client_id: x\n", &["add authorization_url and token_url to its auth"]),
    ] {
        world.user_agent(&agent(&server.url(), auth));
        check_failure(&world.run(&["call", "helper", "stream"]), words);
    }
    check_failure(&world.run(&["call", "other", "x"]), &["there is no agent other here", "attache agents"]);
    world.write(".gemini/settings.json", "{}");
    let off = world.run(&["call", "helper", "x"]);
    check_failure(&off, &["agents are switched off", "enableAgents"]);
    check_failure(&world.run(&["agents"]), &["agents are switched off", "enableAgents"]);
}

#[test]
fn an_agent_of_a_project_is_called_only_after_it_was_accepted() {
    let server = guarded_agent();
    let world = world();
    let auth = "auth:\n  type: http\n  scheme: Bearer\n  token: $AGENT_TOKEN\n";
    world.write("work/.gemini/agents/theirs.md", &agent(&server.url(), auth));
    let ran = world.run(&["call", "helper", "stream"]);
    check_failure(&ran, &["there is no agent helper here", "attache trust"]);
    let shown = world.run(&["trust", "--show"]);
    let words = format!("agent: helper is the agent whose card is at {}", server.url());
    let secret = "it is sent your credentials (http): token is your variable $AGENT_TOKEN";
    assert!(shown.out.contains(&words) && shown.out.contains(secret), "{}", shown.out);
    assert_eq!(world.run(&["trust", "--yes"]).code, 0);
    let ran = world.run(&["call", "helper", "stream"]);
    assert_eq!(ran.code, 0, "the variable was shown and accepted: {}", ran.err);
    // A change of the file has to be accepted again.
    let changed = agent(&server.url(), "auth:\n  type: apiKey\n  key: $AGENT_TOKEN\n");
    world.write("work/.gemini/agents/theirs.md", &changed);
    let ran = world.run(&["call", "helper", "stream"]);
    check_failure(&ran, &["there is no agent helper here", "it is not accepted yet"]);
}

#[test]
fn a_users_agent_may_name_variables_of_the_users_own_file() {
    let server = guarded_agent();
    let world = world();
    world.write(".gemini/.env", &format!("MY_KEY={TOKEN}\n"));
    let auth = "auth:\n  type: http\n  scheme: Bearer\n  token: $MY_KEY\n";
    world.user_agent(&agent(&server.url(), auth));
    let ran = world.run(&["call", "helper", "stream"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let own = agent(&server.url(), auth).replace("name: helper", "name: theirs");
    world.write("work/.gemini/agents/theirs.md", &own);
    assert_eq!(world.run(&["trust", "--yes"]).code, 0);
    let ran = world.run(&["call", "theirs", "stream"]);
    assert_eq!(ran.code, 0, "so may an agent of a project that was accepted: {}", ran.err);
}

#[test]
fn the_token_of_the_environment_is_for_calls_by_url() {
    let server = guarded_agent();
    let world = world().variable("ATTACHE_CALL_TOKEN", TOKEN);
    world.user_agent(&agent(&server.url(), ""));
    let ran = world.run(&["call", &server.url(), "stream"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    check_failure(&world.run(&["call", "helper", "stream"]), &["auth block"]);
}

/// A card that can be read and leads to no agent.
#[test]
fn a_card_without_an_address_is_an_error_that_says_so() {
    let without_url =
        r#"{"name": "a", "supportedInterfaces": [{"protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]}"#;
    for (card, why) in [
        (r#"{"name": "a", "supportedInterfaces": []}"#, "offers no interface"),
        (r#"{"name": "a", "version": "1"}"#, "offers no interface"),
        (
            r#"{"protocolVersion": "0.3.0", "name": "a", "preferredTransport": "JSONRPC"}"#,
            "offers no interface",
        ),
        (without_url, "its card: supportedInterfaces[0]: missing field `url`"),
    ] {
        let server = ModelServer::with_handler(move |_| PlannedResponse::text(200, "application/json", card));
        let world = world();
        world.user_agent(&agent(&server.url(), ""));
        for words in [["call", "helper", "hi"].as_slice(), &["agents", "test", "helper"]] {
            let ran = world.run(words);
            let told = format!("{}{}", ran.out, ran.err);
            assert_eq!(ran.code, 1, "{card}: {told}");
            assert!(told.contains(why), "{card}: {told}");
        }
        assert!(server.received().iter().all(|request| request.method == "GET"), "nothing is sent");
    }
}

#[test]
fn the_list_shows_every_agent_and_every_mistake() {
    let world = world();
    world.user_agent(&agent("https://example.com", ""));
    world.write(".gemini/agents/two.md", "---\nname: local_one\ndescription: \"\\e[2Jfirst\"\n---\nWork.\n");
    world.write(".gemini/agents/bad.md", "---\nkind: remote\nname: Bad\n---\n");
    let ran = world.run(&["agents"]);
    assert_eq!(ran.code, 1, "a wrong file is a failure: {}", ran.err);
    let columns = |name: &str| -> Vec<String> {
        let line = ran.out.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_whitespace().map(str::to_owned).collect()
    };
    let expected =
        ["helper", "remote", "user", "enabled", "https://example.com/.well-known/agent-card.json", "It"];
    assert_eq!(columns("helper ")[..6], expected, "{}", ran.out);
    assert_eq!(columns("cli_help ")[..4], ["cli_help", "built-in", "-", "enabled"], "{}", ran.out);
    assert_eq!(columns("local_one ")[..4], ["local_one", "local", "user", "enabled"], "{}", ran.out);
    assert!(!ran.out.contains('\u{1b}'), "{}", ran.out);
    for words in ["bad.md", "name: must be a valid slug", "(line 3)", "agent_card_url: is required"] {
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    let json: Value = serde_json::from_str(&world.run(&["agents", "list", "--json"]).out).unwrap();
    assert_eq!((json["agents"].as_array().unwrap().len(), json["errors"][0]["line"].as_u64()), (3, Some(2)));
    let shown = world.run(&["agents", "show", "helper"]);
    assert!(shown.out.contains("authentication  none"), "{}", shown.out);
    assert_eq!(shown.code, 0, "the wrong file is another one: {}", shown.err);
    for words in [["call", "bad", "hi"], ["agents", "show", "bad"]] {
        let ran = world.run(&words);
        check_failure(&ran, &["the agent bad cannot be used: ", "bad.md", "valid slug", "(line 3)"]);
    }
    check_failure(&world.run(&["agents", "show", "none"]), &["there is no agent"]);
}

#[test]
fn an_agent_is_switched_off_and_on_in_the_settings() {
    let server = guarded_agent();
    let world = world();
    let auth = "auth:\n  type: http\n  scheme: Bearer\n  token: $AGENT_TOKEN\n";
    world.user_agent(&agent(&server.url(), auth));
    let settings = "{\n  // ours\n  \"ui\": {}\n}\n";
    world.write("work/.gemini/settings.json", settings);
    let ran = world.run(&["agents", "disable", "helper"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let path = world.work().join(".gemini/settings.json");
    assert!(
        ran.out.contains("Agent \"helper\" is disabled now") && ran.out.contains("settings.json"),
        "{}",
        ran.out
    );
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("{\n  // ours\n  \"ui\": {},\n  \"agents\""), "{text}");
    let off = world.run(&["call", "helper", "stream"]);
    check_failure(&off, &["the agent helper is disabled", "attache agents enable helper"]);
    let shown = world.run(&["agents", "show", "helper"]);
    assert!(shown.out.contains("disabled in ") && shown.out.contains("settings.json:"), "{}", shown.out);
    let again = world.run(&["agents", "disable", "helper", "--json"]);
    let json: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!((again.code, &json["changed"]), (0, &Value::Bool(false)), "{json}");
    assert_eq!(json["message"], "Agent \"helper\" is already disabled.");
    let ran = world.run(&["agents", "enable", "helper"]);
    assert!(ran.code == 0 && ran.out.contains("is enabled now"), "{}{}", ran.out, ran.err);
    assert_eq!(world.run(&["call", "helper", "stream"]).code, 0);
    let again = world.run(&["agents", "enable", "helper"]);
    assert_eq!(again.out.trim(), "Agent \"helper\" is already enabled.");
    check_failure(&world.run(&["agents", "enable", "none"]), &["Agent \"none\" not found."]);
    assert_eq!(world.run(&["agents", "enable"]).code, 2, "the usage");
    fs::write(&path, "{ broken").unwrap();
    check_failure(&world.run(&["agents", "disable", "helper"]), &["mend the file first"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "{ broken");
}

#[test]
fn an_unaccepted_agent_of_a_project_is_listed_and_cannot_be_enabled() {
    let world = world();
    world.write("work/.gemini/agents/theirs.md", &agent("https://example.com", ""));
    let ran = world.run(&["agents"]);
    assert!(
        ran.out.lines().any(|line| line.starts_with("helper ") && line.contains("not accepted")),
        "{}",
        ran.out
    );
    let ran = world.run(&["agents", "enable", "helper"]);
    check_failure(&ran, &["is not used before you have accepted it", "attache trust"]);
    assert!(!world.work().join(".gemini/settings.json").exists());
}

#[test]
fn totals_are_told() {
    let world = world();
    world.user_agent(&agent("https://example.com", ""));
    world.write(".gemini/agents/bad.md", "nothing");
    let ran = world.run(&["agents", "reload"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(
        ran.out.starts_with("1 agents (0 local, 1 remote), 0 of them disabled.\n1 files with errors."),
        "{}",
        ran.out
    );
    let json: Value = serde_json::from_str(&world.run(&["agents", "reload", "--json"]).out).unwrap();
    assert_eq!((&json["remote"], json["errors"].as_array().unwrap().len()), (&Value::from(1), 1), "{json}");
}
