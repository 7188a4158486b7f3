use std::path::Path;

use serde_json::json;

use crate::settings::tests::World;
use crate::{McpServerSettings, McpTransport, ModelChoice, ModelCredentials};

#[test]
fn a_client_may_always_request_a_more_careful_mode_and_a_freer_one_only_if_the_operator_lets_it() {
    let check = |world: World, requested: &str, granted: bool| {
        let (settings, operator) = (world.load().unwrap(), world.operator_settings().unwrap());
        let found = settings.allowed_mode(requested, &operator);
        assert_eq!(found.is_ok(), granted, "{requested}: {found:?}");
        if let Ok(mode) = found {
            assert_eq!(mode.name(), requested);
        }
    };
    let lets = || World::new().operator("client_auto_execute = true\n");
    check(World::new(), "plan", true);
    check(World::new(), "default", true);
    check(World::new(), "auto_edit", false);
    check(World::new().variable("GEMINI_YOLO_MODE", "true"), "auto_edit", true);
    check(World::new().variable("ATTACHE_APPROVAL_MODE", "plan"), "default", false);
    check(lets(), "yolo", true);
    check(lets().untrusted(), "yolo", false);
    check(lets().untrusted(), "auto_edit", false);
    check(lets().untrusted().variable("ATTACHE_APPROVAL_MODE", "plan"), "default", true);
    check(lets().user(r#"{"security": {"disableYoloMode": true}}"#), "yolo", false);
    check(lets().user(r#"{"security": {"disableYoloMode": true}}"#), "auto_edit", true);
    check(lets(), "fast", false);
}

#[test]
fn a_client_may_name_servers_on_the_net_but_no_commands() {
    let server = McpServerSettings::requested(
        "docs",
        &json!({"url": "https://example.org/mcp", "headers": {"X": "$HOME"}, "trust": true}),
    );
    let server = server.unwrap();
    assert!(!server.trust, "never trusted");
    let McpTransport::Http { headers, .. } = &server.transport else { panic!() };
    assert_eq!(headers["X"].expose(), "$HOME", "no variables of ours");
    for (name, settings, expected) in [
        ("x", json!({"command": "rm"}), "the client: mcpServers.x: must be reached by a url"),
        ("x", json!({"url": "file:///etc/passwd"}), "the client: mcpServers.x.url: must begin with http"),
        (
            "x",
            json!({"url": "https://a.example", "timeout": "long"}),
            "the client: mcpServers.x.timeout: must be",
        ),
        ("", json!({"url": "https://a.example"}), "the client: mcpServers.: a server's name"),
        ("x", json!([]), "the client: mcpServers.x: must be a table"),
    ] {
        let error = McpServerSettings::requested(name, &settings).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn a_client_may_name_models_but_no_files() {
    assert_eq!(
        ModelChoice::requested("offline", &ModelCredentials::default()).unwrap(),
        ModelChoice::Offline
    );
    let error =
        ModelChoice::requested("script:/etc/passwd", &ModelCredentials::default()).unwrap_err().to_string();
    assert!(error.contains("scripts are for the operator of the server"), "{error}");
    assert!(ModelChoice::requested("flash", &ModelCredentials::default()).is_err(), "without a key");
    assert!(ModelChoice::named("script:x", &ModelCredentials::default(), Path::new("/here")).is_ok());
}

#[test]
fn a_client_may_not_bring_a_server_under_a_name_that_settings_speak_of() {
    let check = |text: &str, name: &str, granted: bool| {
        let settings = World::new().user(text).load().unwrap();
        assert_eq!(settings.may_bring_server(name).is_ok(), granted, "{text} {name}");
    };
    check("{}", "docs", true);
    let known =
        r#"{"mcpServers": {"docs": {"command": "x", "trust": true}}, "mcp": {"excluded": ["bad", "docs"]}}"#;
    check(known, "docs", false);
    check(known, "bad", false);
    check(known, "other", true);
    check(r#"{"mcp": {"allowed": ["docs"]}}"#, "docs", false);
    check(r#"{"mcp": {"allowed": ["docs"]}}"#, "other", false);
}
