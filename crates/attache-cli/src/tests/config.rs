//! `attache config show`: what counts and who said it.

use std::path::Path;

use serde_json::{Value, json};

use super::world::{Ended, World};

impl World {
    fn show(&self, arguments: &[&str]) -> Ended {
        self.run(&[&["config", "show"], arguments].concat())
    }

    /// What is printed, without the path of the home.
    fn text(&self, arguments: &[&str]) -> (String, String) {
        let ended = self.show(arguments).ends_with(0);
        let base = format!("{}/", self.home().display());
        (ended.out.replace(&base, ""), ended.err.replace(&base, ""))
    }

    fn settings(&self, arguments: &[&str]) -> Value {
        self.show(&[arguments, &["--json"]].concat()).json()
    }
}

/// The words of the line about a key.
fn line(text: &str, key: &str) -> Vec<String> {
    let found = text.lines().find(|line| line.split_whitespace().next() == Some(key));
    found.unwrap_or_else(|| panic!("{key} in {text}")).split_whitespace().map(str::to_owned).collect()
}

#[test]
fn values_are_shown_with_their_origin_when_asked() {
    let world = World::new()
        .file(".gemini/settings.json", "{\n  // mine\n  \"general\": {\n    \"maxAttempts\": 3\n  },\n}\n")
        .file("work/.gemini/settings.json", "{\"tools\": {\"exclude\": [\"web_fetch\"]},\n\"modell\": 1}")
        .file("attache.toml", "[enforced.tools]\nexclude = [\"glob\"]\n[limits]\nconnections = 7\n")
        .variable("CODER_AGENT_PORT", "7");
    let config = world.home().join("attache.toml").display().to_string();
    let arguments = ["--config", &config, "--model", "offline"];
    let (plain, _) = world.text(&arguments);
    assert_eq!(line(&plain, "general.maxAttempts"), ["general.maxAttempts", "3"]);
    let (text, told) = world.text(&[&arguments[..], &["--origin"]].concat());
    assert_eq!(line(&text, "general.maxAttempts"), ["general.maxAttempts", "3", ".gemini/settings.json:4"]);
    assert_eq!(
        line(&text, "tools.exclude"),
        ["tools.exclude", "[\"glob\",\"web_fetch\"]", "attache.toml:2,", "work/.gemini/settings.json:1"]
    );
    assert_eq!(line(&text, "useWriteTodos"), ["useWriteTodos", "true", "built", "in"]);
    assert_eq!(line(&text, "model.name"), ["model.name", "offline", "--model"]);
    assert_eq!(line(&text, "port"), ["port", "7", "$CODER_AGENT_PORT"]);
    assert_eq!(line(&text, "limits.connections"), ["limits.connections", "7", "attache.toml:4"]);
    assert_eq!(told, "warning: work/.gemini/settings.json:2: unknown key modell\n");
    for section in ["  tools.shell.", "  limits."] {
        let lines = text.lines().filter(|line| line.starts_with(section));
        let columns: Vec<Option<usize>> =
            lines.filter(|line| !line.contains(':')).map(|line| line.find("built in")).collect();
        assert!(
            columns.len() > 2 && columns.windows(2).all(|two| two[0] == two[1] && two[0].is_some()),
            "{text}"
        );
    }
}

#[test]
fn programs_get_the_same_as_json() {
    let world =
        World::new().file(".gemini/settings.json", "{\"model\": \"flash\"}").variable("GEMINI_API_KEY", "k");
    let found = world.settings(&[]);
    let settings = world.home().join(".gemini/settings.json").display().to_string();
    assert_eq!(found["agent"]["model.name"], json!({"value": "flash", "origin": [format!("{settings}:1")]}));
    assert_eq!(found["operator"]["port"], json!({"value": 41242, "origin": ["built in"]}));
    assert_eq!(
        (&found["model"], &found["trusted"], &found["warnings"]),
        (&json!("flash"), &json!(false), &json!([]))
    );
    assert_eq!(Path::new(found["workspace"].as_str().unwrap()), world.work());
}

#[test]
fn secrets_are_never_shown() {
    let world = World::new()
        .file(
            ".gemini/settings.json",
            r#"{"mcpServers": {
                "a": {"command": "x", "env": {"TOKEN": "hush"}},
                "b": {"url": "https://me:hush@example.org/?key=hush", "headers": {"Authorization": "Bearer hush"}}
            }}"#,
        )
        .file(".env", "GEMINI_API_KEY=hush\n")
        .file("work/.env", "GOOGLE_API_KEY=hush\n")
        .variable("ATTACHE_TOKEN", "hush-hush-hush-hush")
        .variable("OPENAI_API_KEY", "hush");
    for arguments in [&["--origin"][..], &["--json"]] {
        let (out, told) = world.text(arguments);
        assert!(!out.contains("hush") && !told.contains("hush"), "{out}{told}");
        assert!(out.contains("Authorization") && out.contains("TOKEN"), "{out}");
    }
    assert_eq!(world.settings(&[])["model"], "auto", "the key in the file counts all the same");
    let warnings = world.settings(&[])["warnings"].to_string();
    assert!(warnings.contains("work/.env:1: GOOGLE_API_KEY is left out"), "{warnings}");
}

#[test]
fn it_shows_whether_the_folder_is_trusted_and_which_allowances_count() {
    let settings = "{\"model\": \"pro\",\n\"tools\": {\"allowed\": [\"glob\"]}, \"useWriteTodos\": false}";
    let world = World::new().file("work/.gemini/settings.json", settings);
    let found = world.settings(&[]);
    assert_eq!((&found["trusted"], &found["agent"]["model.name"]["value"]), (&json!(false), &json!(null)));
    assert_eq!(found["untrustedBecause"], "not decided yet");
    let place = world.home().join("work/.gemini/settings.json").display().to_string();
    assert_eq!(
        found["allowances"][1],
        json!({"kind": "setting", "allows": "these tools run unasked: glob", "origin": format!("{place}:2"), "counts": false})
    );
    assert_eq!(found["ignored"], json!([{"name": "useWriteTodos", "origin": format!("{place}:2")}]));
    let (text, _) = world.text(&[]);
    assert!(
        text.contains("ignored   these tools run unasked: glob (work/.gemini/settings.json:2)"),
        "{text}"
    );
    let list = json!({world.work().display().to_string(): "DO_NOT_TRUST"}).to_string();
    let world = world.file(".gemini/trustedFolders.json", &list);
    let found = world.settings(&[]);
    assert!(found["untrustedBecause"].as_str().unwrap().contains("DO_NOT_TRUST"), "{found}");
    let found = world.settings(&["--skip-trust"]);
    assert_eq!((&found["trusted"], &found["agent"]["model.name"]["value"]), (&json!(true), &json!("pro")));
    assert_eq!((&found["allowances"][1]["counts"], &found["ignored"]), (&json!(true), &json!([])));
    assert!(found["noModelBecause"].as_str().unwrap().contains("needs a key"), "{found}");
}

#[test]
fn the_card_is_shown_with_where_it_came_from() {
    let card = "[card]\nname = \"Builder\"\ntenants = [\"blue\"]\n\n[[card.skills]]\nid = \"build\"\nname = \"Build\"\n\
                description = \"Builds\"\n";
    let world = World::new().file("attache.toml", card);
    let config = world.home().join("attache.toml").display().to_string();
    let (text, _) = world.text(&["--origin", "--config", &config]);
    assert_eq!(line(&text, "card.name"), ["card.name", "Builder", "attache.toml:2"]);
    assert_eq!(line(&text, "card.skills")[..2], ["card.skills", "[\"build\"]"]);
    assert_eq!(line(&text, "card.streaming")[..2], ["card.streaming", "true"]);
    let shown = world.settings(&["--config", &config])["operator"].clone();
    assert_eq!(shown["card.tenants"]["value"], json!(["blue"]));
    assert_eq!(shown["card.max_age_seconds"]["value"], 3600);
}

#[test]
fn a_flag_with_a_wrong_value_is_a_wrong_command_line() {
    let world = World::new();
    let output = world.show(&["--approval-mode", "maybe"]);
    assert_eq!(output.code, 2, "{output:?}");
    let world = world.variable("ATTACHE_APPROVAL_MODE", "maybe");
    assert_eq!(world.show(&[]).code, 1);
}

#[test]
fn a_wrong_setting_is_told_with_its_place() {
    let world = World::new().file(".gemini/settings.json", "{\n\"useWriteTodos\": 5}");
    let output = world.show(&[]);
    let told = &output.err;
    assert_eq!(output.code, 1);
    assert!(told.contains("settings.json:2: useWriteTodos: must be true or false"), "{told}");
    assert!(told.contains("\n\nhint: "), "{told}");
}

#[test]
fn what_a_file_says_does_not_steer_the_terminal() {
    let world =
        World::new().file(".gemini/settings.json", "{\"mcp\": {\"excluded\": [\"\\u001b[31mred\\u0007\"]}}");
    let (out, _) = world.text(&["--origin"]);
    assert!(!out.contains('\u{1b}') && !out.contains('\u{7}'), "{out:?}");
}
