//! What an agent file may and may not say.

use attache_credentials::oauth::SignInFlow;
use serde_json::json;

use super::auth::{AgentAuth, HttpCredential};
use super::definition::{AgentKind, CardDefinition};
use super::parse::ParseFailure;
use super::*;

fn parse(front_matter: &str) -> Result<Vec<AgentDefinition>, ParseFailure> {
    let text = format!("---\n{front_matter}\n---\nBe brief.\n");
    super::parse::parse(&text, "/agents/a.md".as_ref(), AgentScope::User)
}

#[track_caller]
fn one(front_matter: &str) -> AgentDefinition {
    let mut agents = parse(front_matter).unwrap();
    assert_eq!(agents.len(), 1);
    agents.remove(0)
}

#[track_caller]
fn auth(block: &str) -> Result<AgentAuth, String> {
    let front_matter =
        format!("kind: remote\nname: a\nagent_card_url: https://example.com/card\nauth:\n{block}");
    match parse(&front_matter) {
        Ok(mut agents) => match agents.remove(0).kind {
            AgentKind::Remote(remote) => Ok(remote.auth.expect("there is one")),
            AgentKind::Local(_) => panic!("it is remote"),
        },
        Err(failure) => Err(problems(failure)),
    }
}

/// One line for each, with its line.
fn problems(failure: ParseFailure) -> String {
    match failure {
        ParseFailure::Unreadable(line, message) => format!("{line}: {message}"),
        ParseFailure::Invalid(what, problems) => {
            let lines = problems.iter().map(|problem| format!("{}: {}", problem.line, problem.text));
            format!("{what}\n{}", lines.collect::<Vec<_>>().join("\n"))
        }
    }
}

#[test]
fn a_remote_agent_has_a_name_and_a_card() {
    let agent = one(
        "kind: remote\nname: my-remote_1\ndisplay_name: Mine\ndescription: Helps.\nagent_card_url: https://example.com/card",
    );
    assert_eq!((agent.name.as_str(), agent.display_name.as_deref()), ("my-remote_1", Some("Mine")));
    assert_eq!((agent.description.as_deref(), agent.line), (Some("Helps."), 2));
    let AgentKind::Remote(remote) = agent.kind else { panic!() };
    assert_eq!(remote.card, CardDefinition::Url("https://example.com/card".into()));
    assert_eq!(remote.auth, None);
    assert_eq!(remote.allowed_origins, Vec::<String>::new());
    let led = one(
        "name: a\nagent_card_url: https://e.com\nallowed_origins:\n  - https://Other.example:8443\n  - http://[::1]:9/",
    );
    let AgentKind::Remote(remote) = led.kind else { panic!() };
    assert_eq!(remote.allowed_origins, ["https://other.example:8443", "http://[::1]:9"]);
    let found =
        problems(parse(&format!("name: {}\nagent_card_url: https://e.com", "a".repeat(65))).unwrap_err());
    assert!(found.contains("at most 64 lower-case letters"), "{found}");
    let inline = one("name: a\nagent_card_json: '{\"name\": \"A\"}'");
    let AgentKind::Remote(remote) = inline.kind else { panic!("its fields show its kind") };
    assert_eq!(remote.card, CardDefinition::Inline(json!({"name": "A"})));
}

#[test]
fn a_list_defines_several_remote_agents() {
    let item = |number: u8| {
        format!("- kind: remote\n  name: remote-{number}\n  agent_card_url: https://example.com/{number}\n")
    };
    let agents = parse(&(item(1) + &item(2))).unwrap();
    let found: Vec<_> = agents.iter().map(|agent| (agent.name.as_str(), agent.line)).collect();
    assert_eq!(found, [("remote-1", 2), ("remote-2", 5)]);
    for (list, expected) in [
        (
            "- kind: local\n  name: a\n  description: x".to_owned(),
            "2: (Remote Agent) 0.kind: must be remote: a list holds",
        ),
        (item(1) + "- kind: local\n  name: a\n  description: x", "5: (Remote Agent) 1.kind: must be remote"),
        (item(1) + &item(1), "5: (Remote Agent) 1.name: remote-1 is defined twice in this file"),
        (item(1) + "- 5", "(Remote Agent) 1: must be a table, not the number 5"),
        ("[]".to_owned(), "(Remote Agent) the list must define at least one agent"),
    ] {
        let found = problems(parse(&list).unwrap_err());
        assert!(found.starts_with("Remote Agents List\n") && found.contains(expected), "{list}: {found}");
    }
}

#[test]
fn a_local_agent_has_instructions_and_limits() {
    let agent = one(
        "name: reviewer\ndescription: Reviews.\ntools: [read_file, 'mcp_*', '*']\nmcpServers:\n  docs:\n    command: x\n\
         model: pro\ntemperature: 0.2\nmax_turns: 5\ntimeout_mins: 3",
    );
    let AgentKind::Local(local) = agent.kind else { panic!() };
    assert_eq!(local.tools.as_deref(), Some(["read_file", "mcp_*", "*"].map(String::from).as_slice()));
    assert_eq!(
        (local.mcp_servers.as_slice(), local.model.as_deref()),
        (["docs".to_owned()].as_slice(), Some("pro"))
    );
    assert_eq!((local.temperature, local.max_turns, local.timeout_minutes), (Some(0.2), 5, 3));
    assert_eq!(local.instructions, "Be brief.");
    let AgentKind::Local(local) = one("name: a\ndescription: x").kind else { panic!() };
    assert_eq!((local.tools, local.max_turns, local.timeout_minutes), (None, 30, 10));
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    for (front_matter, expected) in [
        ("kind: remote\nagent_card_url: https://e.com", "2: (Remote Agent) name: is required"),
        ("kind: remote\nname: a", "2: (Remote Agent) agent_card_url: is required, or agent_card_json"),
        ("kind: remote\nname: a\nagent_card_url: https://e.com\nagent_card_json: '{}'", "exclude each other"),
        (
            "kind: remote\nname: My Agent\nagent_card_url: https://e.com",
            "3: (Remote Agent) name: must be a valid slug",
        ),
        (
            "kind: remote\nname: read_file\nagent_card_url: https://e.com",
            "3: (Remote Agent) name: must not be the name of a tool, as read_file is",
        ),
        (
            "name: mcp_docs_find\ndescription: x",
            "2: (Local Agent) name: must not be the name of a tool, as mcp_docs_find is",
        ),
        (
            "name: a\nagent_card_url: example.com/card",
            "3: (Remote Agent) agent_card_url: must be a whole address",
        ),
        ("name: a\nagent_card_url: ftp://example.com", "must be a whole address"),
        ("name: a\nagent_card_url: https://[bad/", "3: (Remote Agent) agent_card_url: must be an address"),
        (
            "name: a\nagent_card_url: https://me:s3cret@e.com/card",
            "3: (Remote Agent) agent_card_url: must not hold a user name or a password",
        ),
        (
            "name: a\nagent_card_url: https://e.com\nallowed_origins: [https://e.com/x]",
            "4: (Remote Agent) allowed_origins: must be a list of origins",
        ),
        ("name: a\nagent_card_url: https://e.com\nallowed_origins: e.com", "must be a list of texts"),
        ("name: a\nagent_card_json: '{'", "3: (Remote Agent) agent_card_json: must be valid JSON"),
        ("name: a\nagent_card_json: '[]'", "must be a JSON object"),
        ("name: a\nagent_card_url: https://e.com\ntools: [x]", "4: (Remote Agent) tools: is not known here"),
        (
            "kind: remote\nname: 5\nagent_card_url: https://e.com",
            "3: (Remote Agent) name: must be a text, not the number 5; put it in quotes",
        ),
        (
            "kind: other\nname: a\nagent_card_url: https://e.com",
            "2: (Remote Agent) kind: must be remote or local",
        ),
        ("name: a", "2: (Local Agent) description: is required"),
        ("name: a\ndescription: x\ncolour: red", "4: (Local Agent) colour: is not known here"),
        (
            "name: a\ndescription: x\ntools: ['rm -rf']",
            "4: (Local Agent) tools: Invalid tool name \"rm -rf\"",
        ),
        ("name: a\ndescription: x\ntools: [read_file, read_fil]", "Invalid tool name \"read_fil\""),
        (
            "name: a\ndescription: x\nmcp_servers:\n  docs:\n    comand: x",
            "6: (Local Agent) mcp_servers.docs.comand: is not known here; known are command, args",
        ),
        ("name: a\ndescription: x\nmcp_servers:\n  docs: x", "mcp_servers.docs: must be a table"),
        (
            "name: a\ndescription: x\nmax_turns: 0",
            "(Local Agent) max_turns: must be a whole number above zero",
        ),
        ("name: a\ndescription: x\ntemperature: hot", "(Local Agent) temperature: must be a number"),
        ("name: a\ndescription: ''", "(Local Agent) description: must not be empty"),
        ("just a text", "must be a table or a list, not a text"),
    ] {
        let found = problems(parse(front_matter).unwrap_err());
        assert!(
            found.starts_with("Agent Definition\n") && found.contains(expected) && !found.contains("s3cret"),
            "{front_matter}: {found}"
        );
    }
    let found = problems(parse("name: [").unwrap_err());
    assert!(found.contains("its front matter is not YAML"), "{found}");
    let all = problems(parse("kind: remote\nname: A\nagent_card_url: x\nfoo: 1").unwrap_err());
    assert_eq!(all.lines().count(), 4, "every problem is named at once: {all}");
}

#[test]
fn every_kind_of_authentication_is_read() {
    let value = |text: &str| DynamicValue::parse(text).unwrap();
    let http = |scheme: &str, credential| Ok(AgentAuth::Http { scheme: scheme.into(), credential });
    let some = |text: &str| Some(text.to_owned());
    for (block, expected) in [
        ("  type: apiKey\n  key: $KEY", Ok(AgentAuth::ApiKey { key: value("$KEY"), name: None })),
        (
            "  type: apiKey\n  key: k\n  name: X-Key",
            Ok(AgentAuth::ApiKey { key: value("k"), name: some("X-Key") }),
        ),
        (
            "  type: http\n  scheme: Bearer\n  token: '!print'",
            http("Bearer", HttpCredential::Bearer { token: value("!print") }),
        ),
        (
            "  type: http\n  scheme: basic\n  username: u\n  password: $P",
            http("basic", HttpCredential::Basic { username: value("u"), password: value("$P") }),
        ),
        (
            "  type: http\n  scheme: Digest\n  value: x",
            http("Digest", HttpCredential::Raw { value: value("x") }),
        ),
        (
            "  type: http\n  scheme: Bearer\n  value: x",
            http("Bearer", HttpCredential::Raw { value: value("x") }),
        ),
        ("  type: google-credentials", Ok(AgentAuth::GoogleCredentials { scopes: vec![] })),
        (
            "  type: oauth\n  client_id: id\n  scopes: [a]\n  token_url: https://e.com/token",
            Ok(AgentAuth::OAuth2 {
                client_id: Some(value("id")),
                client_secret: None,
                scopes: vec!["a".into()],
                authorization_url: None,
                device_authorization_url: None,
                token_url: some("https://e.com/token"),
                issuer: None,
                flow: None,
                redirect_uri: None,
            }),
        ),
        (
            "  type: oauth2\n  client_secret: $S\n  issuer: https://e.com\n  flow: deviceCode",
            Ok(AgentAuth::OAuth2 {
                client_id: None,
                client_secret: Some(value("$S")),
                scopes: vec![],
                authorization_url: None,
                device_authorization_url: None,
                token_url: None,
                issuer: some("https://e.com"),
                flow: Some(SignInFlow::DeviceCode),
                redirect_uri: None,
            }),
        ),
        (
            "  type: http\n  scheme: Bearer\n  value: x\n  token: y",
            http("Bearer", HttpCredential::Raw { value: value("x") }),
        ),
        (
            "  type: oauth\n  redirect_uri: http://localhost:8912/oauth/callback\n  audiences: [a]\n  \
             token_param_name: t\n  registration_url: https://e.com/register",
            Ok(AgentAuth::OAuth2 {
                client_id: None,
                client_secret: None,
                scopes: vec![],
                authorization_url: None,
                device_authorization_url: None,
                token_url: None,
                issuer: None,
                flow: None,
                redirect_uri: some("http://localhost:8912/oauth/callback"),
            }),
        ),
    ] {
        assert_eq!(auth(block), expected, "{block}");
    }
}

/// As Gemini CLI's documents print it.
#[test]
fn a_command_needs_no_quotes() {
    for (block, expected) in [
        ("  type: apiKey\n  key: !gcloud auth print-token", "!gcloud auth print-token"),
        ("  type: apiKey\n  key: !echo 'a: b' | cat # why", "!echo 'a: b' | cat"),
        ("  type: apiKey\n  key: !!run", "!!run"),
        ("  type: apiKey\n  key: '!quoted'", "!quoted"),
    ] {
        let key = DynamicValue::parse(expected).unwrap();
        assert_eq!(auth(block), Ok(AgentAuth::ApiKey { key, name: None }), "{block}");
    }
    let found = auth("  {type: apiKey, key: !run}").unwrap_err();
    assert!(found.contains("unsupported tag") && found.contains("stands in quotes"), "{found}");
    let found = auth("  type: apiKey\n  key: !run\n  x: [").unwrap_err();
    assert!(found.contains("is not YAML") && !found.contains("tag"), "{found}");
}

#[test]
fn an_authentication_that_lacks_something_says_what() {
    for (block, expected) in [
        ("  key: x", "auth.type: is required"),
        ("  type: magic", "auth.type: must be apiKey, http, google-credentials or oauth2"),
        ("  type: openIdConnect", "auth.type: openIdConnect is not supported"),
        ("  type: apiKey", "auth.key: is required"),
        ("  type: apiKey\n  key: $", "7: (Remote Agent) auth.key: must name a variable"),
        ("  type: apiKey\n  key: k\n  name: 'a b'", "auth.name: must be the name of a header"),
        ("  type: http\n  scheme: Bearer", "auth.token: is required"),
        ("  type: http\n  scheme: Basic\n  username: u", "auth.password: is required"),
        ("  type: http\n  scheme: Basic", "auth.username: is required"),
        ("  type: http\n  scheme: Digest\n  token: x", "auth.value: is required with the scheme Digest"),
        ("  type: http\n  token: x", "auth.scheme: is required"),
        ("  type: apiKey\n  key: k\n  secret: s", "auth.secret: is not known here"),
        (
            "  type: oauth2\n  token_url: e.com",
            "auth.token_url: must be a whole address that begins with https://",
        ),
        (
            "  type: oauth2\n  issuer: https://me:s3cret@e.com",
            "auth.issuer: must not hold a user name or a password",
        ),
        (
            "  type: oauth2\n  flow: implicit",
            "auth.flow: must be authorizationCode, deviceCode or clientCredentials",
        ),
        ("  - a", "auth: must be a table, not a list"),
    ] {
        let found = auth(block).unwrap_err();
        assert!(found.contains(expected), "{block}: {found}");
    }
    let found = auth("  type: apiKey\n  key: sk-secret\n  name: 'a b'").unwrap_err();
    assert!(!found.contains("sk-secret"), "{found}");
}
