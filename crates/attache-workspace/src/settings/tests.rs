mod any_tree;
mod projects;
mod world;

use std::path::Path;
use std::time::Duration;

use attache_config::{ApprovalMode, SettingOrigin};
use serde_json::json;

use super::*;
use crate::{HttpKind, McpTransport, OutputFormat};
pub(crate) use world::World;

#[test]
fn values_that_no_layer_sets_are_built_in() {
    let settings = World::new().load().unwrap();
    assert_eq!((settings.model.name.as_deref(), settings.model.max_session_turns), (None, None));
    assert_eq!(settings.model.compression_threshold, attache_agent::DEFAULT_COMPACTION_THRESHOLD);
    assert_eq!(settings.general.approval_mode, ApprovalMode::Default);
    assert_eq!((settings.general.max_attempts, settings.general.retry_fetch_errors), (10, true));
    assert_eq!(settings.tools.truncate_output_threshold, Some(40_000));
    assert_eq!(settings.tools.shell.inactivity_timeout, Some(Duration::from_secs(300)));
    assert_eq!(settings.tools.shell.max_output_bytes, Some(256 << 20));
    assert!(settings.tools.shell.interactive && settings.tools.write_todos && settings.tools.core.is_none());
    assert_eq!(settings.context.file_names, ["GEMINI.md", "AGENTS.md"]);
    assert_eq!(settings.context.discovery_max_dirs, 200);
    assert!(settings.context.respect_git_ignore && settings.context.include_directory_tree);
    assert_eq!(settings.security.folder_trust, None);
    assert_eq!(settings.output_format, OutputFormat::Text);
    assert_eq!(settings.warnings, Vec::<String>::new());
    World::new().check("general.maxAttempts", json!(10), "built in");
}

#[test]
fn every_layer_counts_before_those_below_it() {
    let said = |number: usize| format!("{{\"model\": {{\"name\": \"m{number}\"}}}}");
    let mut world = World::new().variable("GEMINI_API_KEY", "k");
    let name = "model.name";
    world.check(name, json!(null), "built in");
    world = world.operator("[defaults.model]\nname = \"m1\"\n");
    world.check(name, json!("m1"), "attache.toml:2");
    world = world.file("home/.config/gemini-cli/config.yaml", "model:\n  name: m2\n");
    world.check(name, json!("m2"), "home/.config/gemini-cli/config.yaml:2");
    world = world.user(&said(3));
    world.check(name, json!("m3"), "home/.gemini/settings.json:1");
    world = world.file("work/.gemini/config.yaml", "model: {name: m4}");
    world.check(name, json!("m4"), "work/.gemini/config.yaml:1");
    world = world.project(&said(5));
    world.check(name, json!("m5"), "work/.gemini/settings.json:1");
    world = world.file("work/.env", "GEMINI_MODEL=evil\nATTACHE_MODEL=evil\n");
    world.check(name, json!("m5"), "work/.gemini/settings.json:1");
    world = world.file("home/.env", "X=1\nGEMINI_MODEL=gemini-6\n");
    world.check(name, json!("gemini-6"), "$GEMINI_MODEL in home/.env:2");
    world = world.operator("\n[enforced.model]\nname = \"m7\"\n");
    world.check(name, json!("m7"), "attache.toml:3");
    world = world.operator("\nmodel = \"gemini-7\"\n");
    world.check(name, json!("gemini-7"), "attache.toml:2");
    world = world.variable("GEMINI_MODEL", "gemini-8");
    world.check(name, json!("gemini-8"), "$GEMINI_MODEL");
    world = world.variable("ATTACHE_MODEL", "gemini-9");
    world.check(name, json!("gemini-9"), "$ATTACHE_MODEL");
    world.flags.model = Some("gemini-10".into());
    world.check(name, json!("gemini-10"), "--model");
}

#[test]
fn lists_that_forbid_go_together_and_others_replace_each_other() {
    let world = World::new()
        .operator("[enforced.tools]\nexclude = [\"a\"]\nallowed = [\"x\"]\n")
        .user(r#"{"tools": {"exclude": ["b", "a"], "allowed": ["y"], "core": ["read_file", "glob"]}}"#)
        .project(r#"{"tools": {"exclude": ["c"], "allowed": ["z"], "core": ["glob"]}, "mcp": {"excluded": ["s"]}}"#);
    let settings = world.load().unwrap();
    assert_eq!(settings.tools.exclude, ["a", "c", "b"]);
    assert_eq!(settings.tools.allowed, ["x"]);
    assert_eq!(settings.tools.core.as_deref(), Some(&["glob".to_owned()][..]));
    world.check(
        "tools.exclude",
        json!(["a", "c", "b"]),
        "attache.toml:2, work/.gemini/settings.json:1, home/.gemini/settings.json:1",
    );
    assert!(
        settings.tools.offers("glob") && !settings.tools.offers("read_file") && !settings.tools.offers("c")
    );
}

#[test]
fn a_core_tool_may_be_narrowed_and_is_offered_still() {
    let world = World::new().user(
        r#"{"tools": {"core": ["ShellTool(git)", "glob"], "exclude": ["run_shell_command(rm)", "glob"]}}"#,
    );
    let tools = world.load().unwrap().tools;
    assert!(tools.offers("run_shell_command") && !tools.offers("glob") && !tools.offers("write_file"));
}

#[test]
fn old_names_are_understood() {
    let world = World::new().user(
        r#"{ // as it was
            "model": "pro", "coreTools": ["a"], "allowedTools": ["b"], "excludeTools": ["c"],
            "contextFileName": "NOTES.md", "maxSessionTurns": 7, "folderTrust": true,
            "checkpointing": {"enabled": true}, "theme": "x", "allowMCPServers": ["s"],
            "fileFiltering": {"respectGitIgnore": false},
            "tools": {"core": ["new"]},
        }"#,
    );
    let settings = world.load().unwrap();
    assert_eq!(settings.model.name.as_deref(), Some("pro"));
    assert_eq!(settings.model.max_session_turns, Some(7));
    assert_eq!(settings.tools.core.unwrap(), ["new"], "the new spelling counts");
    assert_eq!(
        (settings.tools.allowed, settings.tools.exclude),
        (vec!["b".to_owned()], vec!["c".to_owned()])
    );
    assert_eq!(settings.context.file_names, ["NOTES.md"]);
    assert_eq!(settings.security.folder_trust, Some(true));
    assert_eq!(settings.mcp_allowed.unwrap(), ["s"]);
    assert!(!settings.context.respect_git_ignore);
    assert_eq!(settings.warnings, Vec::<String>::new());
}

#[test]
fn unknown_keys_are_told_with_the_nearest_known() {
    let world = World::new().user(
        "{\n\"modle\": {},\n\"tools\": {\"exlude\": []},\n\"ui\": {\"anything\": 1},\n\"zzzzzz\": 1,\n\
         \"mcpServers\": {\"s\": {\"command\": \"x\",\n\"arg\": []}}}",
    );
    let place = world.at("home/.gemini/settings.json").display().to_string();
    assert_eq!(
        world.load().unwrap().warnings,
        [
            format!("{place}:2: unknown key modle"),
            format!("{place}:3: unknown key tools.exlude; did you mean tools.exclude?"),
            format!("{place}:5: unknown key zzzzzz"),
            format!("{place}:7: unknown key mcpServers.s.arg; did you mean args?"),
        ]
    );
}

#[test]
fn wrong_types_are_errors_with_file_line_and_key() {
    let file = "home/.gemini/settings.json";
    for (text, expected) in [
        ("{\n\"useWriteTodos\": \"yes\"}", ":2: useWriteTodos: must be true or false, not a text"),
        (
            "{\"general\": {\n\"maxAttempts\": 0}}",
            ":2: general.maxAttempts: must be a whole number from 1 to 100, not the number 0",
        ),
        (
            "{\"model\": {\"compressionThreshold\": 5}}",
            ":1: model.compressionThreshold: must be a number from 0 to 1, not the number 5",
        ),
        ("{\"tools\": true}", ":1: tools: must be a table, not true"),
        ("{\"tools\": {\"core\": \"a\"}}", ":1: tools.core: must be a list of texts, not a text"),
        (
            "{\"tools\": {\"core\": [1]}}",
            ":1: tools.core: must be a list of texts, not a list with something else in it",
        ),
        (
            "{\"general\": {\"defaultApprovalMode\": \"yelo\"}}",
            ":1: general.defaultApprovalMode: must be one of default, auto_edit, autoEdit, confined, yolo, plan, not \"yelo\"",
        ),
        ("{\"model\": {\"name\": \"\"}}", ":1: model.name: must be a text, not an empty one"),
        ("[]", ":1: must hold a table of settings, not a list"),
        ("{\n\n", ":1: unterminated object"),
        ("{\"mcpServers\": {\"s\": {}}}", ":1: mcpServers.s: needs a command, a url or an httpUrl"),
        (
            "{\"mcpServers\": {\"s\": {\"url\": \"ftp://x\"}}}",
            ":1: mcpServers.s.url: must begin with http:// or https://",
        ),
        (
            "{\"mcpServers\": {\"s\": {\"command\": \"x\",\n\"env\": {\"A\": 1}}}}",
            ":2: mcpServers.s.env.A: must be a text, not the number 1",
        ),
        (
            "{\"mcpServers\": {\"a b\": {\"command\": \"x\"}}}",
            ":1: mcpServers.a b: a server's name has 1 to 64 letters, digits, dots, dashes or underscores",
        ),
    ] {
        World::new().user(text).fails(&format!("{file}{expected}"));
    }
    World::new()
        .operator("[enforced]\nuseWriteTodos = 1\n")
        .fails("attache.toml:2: useWriteTodos: must be true or false, not the number 1");
    let mut world = World::new();
    world.flags.output_format = Some("xml".into());
    world.fails("--output-format: output.format: must be one of text, json, stream-json, not \"xml\"");
    World::new()
        .variable("GEMINI_YOLO_MODE", "perhaps")
        .fails("$GEMINI_YOLO_MODE is \"perhaps\", which is not true or false");
}

#[test]
fn servers_are_typed_and_their_secrets_hidden() {
    let world = World::new().user(
        r#"{"mcpServers": {
            "local": {"command": "npx", "args": ["-y", "x"], "env": {"TOKEN": "hush"}, "cwd": "sub",
                      "timeout": 5000, "includeTools": ["a"], "excludeTools": ["b"], "description": "d"},
            "remote": {"httpUrl": "https://u:hush@a.example/mcp?key=hush", "url": "https://b.example", "headers": {"X-Key": "hush"}},
            "old": {"url": "https://b.example", "type": "sse"},
            "gone": {"url": "https://b.example"}
        }, "mcp": {"excluded": ["gone"]}}"#,
    );
    let settings = world.load().unwrap();
    assert_eq!(settings.mcp_servers.keys().collect::<Vec<_>>(), ["local", "old", "remote"]);
    let local = &settings.mcp_servers["local"];
    assert_eq!(local.timeout, Duration::from_secs(5));
    assert_eq!(local.include_tools.as_deref(), Some(&["a".to_owned()][..]));
    let McpTransport::Stdio { command, environment, .. } = &local.transport else { panic!() };
    assert_eq!((command.as_str(), environment["TOKEN"].expose()), ("npx", "hush"));
    let McpTransport::Http { url, kind, .. } = &settings.mcp_servers["remote"].transport else { panic!() };
    assert!(url.contains("a.example") && *kind == HttpKind::Streamable);
    assert!(matches!(
        &settings.mcp_servers["old"].transport,
        McpTransport::Http { kind: HttpKind::Events, .. }
    ));
    assert_eq!(settings.mcp_servers["old"].timeout, Duration::from_secs(600));
    let shown = format!("{:?}", settings.entries());
    assert!(!shown.contains("hush"), "{shown}");
    assert!(shown.contains("(hidden)") && shown.contains("X-Key"));
}

#[test]
fn servers_are_replaced_whole_by_the_stronger_layer() {
    let world = World::new()
        .operator("[enforced.mcpServers.a]\ncommand = \"good\"\n")
        .user(r#"{"mcpServers": {"a": {"command": "u"}, "b": {"command": "u", "trust": true}}}"#)
        .project(
            r#"{"mcpServers": {"a": {"command": "evil"}, "b": {"command": "p"}, "c": {"command": "p"}}}"#,
        );
    let settings = world.load().unwrap();
    let commands: Vec<_> = settings
        .mcp_servers
        .values()
        .map(|server| match &server.transport {
            McpTransport::Stdio { command, .. } => (command.as_str(), server.trust),
            McpTransport::Http { .. } => panic!(),
        })
        .collect();
    assert_eq!(commands, [("good", false), ("p", false), ("p", false)]);
}

#[test]
fn the_settings_of_the_home_folder_are_the_user_s_also_when_it_is_the_workspace() {
    let world = World::new().user(r#"{"security": {"disableYoloMode": true}, "model": {"name": "m"}}"#);
    let operator = world.operator_settings().unwrap();
    let settings = WorkspaceSettings::load(&SettingsSources {
        workspace: &world.at("home"),
        home: Some(&world.at("home")),
        flags: &AgentFlags::default(),
        environment: &|_| None,
        operator: &operator,
        project_trust: &crate::ProjectTrust::for_tests(true, true),
    });
    let settings = settings.unwrap();
    assert!(settings.security.disable_yolo_mode && settings.warnings.is_empty());
}

#[test]
fn gemini_s_home_can_be_elsewhere() {
    let world = World::new()
        .user(r#"{"model": {"name": "m1"}}"#)
        .file("else/.gemini/settings.json", r#"{"model": "m2"}"#);
    let elsewhere = world.at("else").display().to_string();
    world.variable("GEMINI_CLI_HOME", &elsewhere).check(
        "model.name",
        json!("m2"),
        "else/.gemini/settings.json:1",
    );
}

#[test]
fn a_project_s_settings_may_not_be_a_link_out_of_it() {
    let world = World::new().file("secret", "{}");
    std::os::unix::fs::symlink(world.at("secret"), world.at("work/.gemini/settings.json")).unwrap();
    let error = world.load().unwrap_err();
    assert!(std::error::Error::source(&error).unwrap().to_string().contains("leads out of"), "{error}");
}

#[test]
fn every_origin_is_told() {
    let origin = SettingOrigin::Flag("--model");
    assert_eq!(origin.to_string(), "--model");
    assert_eq!(origin.file(), None);
    let origin = SettingOrigin::File { path: Path::new("/a/b").into(), line: 0 };
    assert_eq!((origin.to_string().as_str(), origin.file()), ("/a/b", Some(Path::new("/a/b"))));
}
