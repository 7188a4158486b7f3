//! `attache mcp`: what it writes, what it leaves alone, and what it shows.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::world::World;

impl World {
    fn project_file(&self) -> PathBuf {
        settings_file(&self.work())
    }

    fn user_file(&self) -> PathBuf {
        settings_file(&self.home())
    }

    #[track_caller]
    fn succeeds(&self, arguments: &[&str]) -> String {
        self.run(&[&["mcp"], arguments].concat()).ends_with(0).out
    }

    #[track_caller]
    fn fails(&self, arguments: &[&str], expected: &str) {
        let ended = self.run(&[&["mcp"], arguments].concat());
        assert!(ended.code != 0 && ended.err.contains(expected), "{arguments:?}: {ended:?}");
    }
}

fn settings_file(folder: &Path) -> PathBuf {
    folder.join(".gemini").join("settings.json")
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn a_program_is_added_with_its_own_arguments() {
    let world = World::new();
    let said = world.succeeds(&[
        "add",
        "-e",
        "KEY=a=b",
        "--timeout",
        "5000",
        "--trust",
        "--include-tools",
        "x,y",
        "fs",
        "npx",
        "-y",
        "pkg",
        "--scope",
        "theirs",
    ]);
    assert!(said.starts_with("Added the MCP server fs in "), "{said}");
    let expected = json!({ "mcpServers": { "fs": {
        "command": "npx", "args": ["-y", "pkg", "--scope", "theirs"], "env": { "KEY": "a=b" },
        "timeout": 5000, "trust": true, "includeTools": ["x", "y"],
    } } });
    assert_eq!(read(&world.project_file()), expected);
    let mode = fs::metadata(world.project_file()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "settings may hold keys");
    assert!(!world.user_file().exists());
}

#[test]
fn an_address_is_added_with_options_before_or_after_it() {
    let world = World::new();
    world.succeeds(&[
        "add",
        "web",
        "https://example.com/mcp",
        "--transport",
        "http",
        "-H",
        "Authorization: Bearer x:y",
        "-s",
        "user",
        "--exclude-tools",
        "z",
        "--description",
        "the web",
    ]);
    world.succeeds(&["add", "--scope", "user", "other", "https://example.com/sse"]);
    let expected = json!({ "mcpServers": {
        "web": {
            "url": "https://example.com/mcp", "type": "http", "headers": { "Authorization": "Bearer x:y" },
            "excludeTools": ["z"], "description": "the web",
        },
        "other": { "url": "https://example.com/sse" },
    } });
    assert_eq!(read(&world.user_file()), expected);
    assert!(world.succeeds(&["add", "--scope", "user", "web", "prog"]).starts_with("Changed"));
    assert_eq!(read(&world.user_file())["mcpServers"]["web"], json!({ "command": "prog" }));
}

#[test]
fn all_else_in_the_file_stays_as_it_was() {
    let world = World::new();
    let text = "{\n  // my taste\n  \"ui\": { \"theme\": \"dark\" }, /* and */\n  \"mcpServers\": {\n    \
                \"old\": { \"command\": \"x\" }, // keep me\n  },\n}\n";
    fs::create_dir(world.work().join(".gemini")).unwrap();
    fs::write(world.project_file(), text).unwrap();
    fs::set_permissions(world.project_file(), fs::Permissions::from_mode(0o640)).unwrap();
    world.succeeds(&["add", "new", "prog"]);
    let added = fs::read_to_string(world.project_file()).unwrap();
    assert!(added.contains("// my taste") && added.contains("/* and */"), "{added}");
    assert!(added.contains("\"old\": { \"command\": \"x\" }, // keep me\n    \"new\": {"), "{added}");
    assert!(world.succeeds(&["remove", "new"]).starts_with("Removed the MCP server new from "));
    assert_eq!(fs::read_to_string(world.project_file()).unwrap(), text);
    assert_eq!(fs::metadata(world.project_file()).unwrap().permissions().mode() & 0o777, 0o640);
    let beside: Vec<_> = fs::read_dir(world.work().join(".gemini")).unwrap().collect();
    assert_eq!(beside.len(), 1, "nothing is left behind: {beside:?}");
}

#[test]
fn a_file_that_is_not_understood_is_not_touched() {
    let world = World::new();
    fs::create_dir(world.work().join(".gemini")).unwrap();
    for (text, expected) in [
        ("{ \"a\": ", "not valid JSON"),
        ("[]", "no JSON object"),
        ("{ \"mcpServers\": 1 }", "\"mcpServers\" is not an object"),
    ] {
        fs::write(world.project_file(), text).unwrap();
        world.fails(&["add", "new", "prog"], expected);
        assert_eq!(fs::read_to_string(world.project_file()).unwrap(), text);
    }
}

#[test]
fn a_link_out_of_the_project_is_not_followed() {
    let world = World::new();
    let target = world.home().join("precious.json");
    fs::write(&target, "{}").unwrap();
    fs::create_dir(world.work().join(".gemini")).unwrap();
    std::os::unix::fs::symlink(&target, world.project_file()).unwrap();
    world.fails(&["add", "new", "prog"], "leads out of this project");
    assert_eq!(fs::read_to_string(&target).unwrap(), "{}");
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let world = World::new();
    world.fails(&["add", "a b", "prog"], "cannot be a server's name");
    world.fails(&["add", "--transport", "http", "a", "prog"], "need an address");
    world.fails(&["add", "--header", "X: y", "a", "prog"], "--header is for an address");
    world.fails(&["add", "a", "https://example.com", "--env", "K=V"], "--env is for a program");
    world.fails(&["add", "--env", "KV", "a", "prog"], "NAME=VALUE");
    world.fails(&["add", "a", "https://example.com", "stray"], "unexpected argument");
    world.fails(&["remove", "nobody"], "there is no MCP server nobody");
    let at_home = world.run_in(&world.home(), &["mcp", "add", "a", "prog"]).ends_with(1);
    assert!(at_home.err.contains("home folder") && at_home.err.contains("--scope user"), "{at_home:?}");
    assert!(!world.project_file().exists() && !world.user_file().exists());
}

#[test]
fn a_wrong_entry_is_told_with_its_place() {
    let world = World::new();
    fs::create_dir(world.work().join(".gemini")).unwrap();
    fs::write(world.project_file(), "{}").unwrap();
    world.run(&["trust", "--yes"]).ends_with(0);
    fs::write(world.project_file(), "{ \"mcpServers\": {\n \"odd\": { \"args\": [] } } }").unwrap();
    let text = world.succeeds(&["list"]);
    assert!(text.contains("treated as not trusted") && text.contains("settings.json:2"), "{text}");
    assert!(text.contains("needs a command, a url or an httpUrl"), "{text}");
}

#[test]
fn nothing_of_a_folder_that_is_not_trusted_is_listed() {
    let world = World::new();
    world.succeeds(&["add", "mine", "sh", "-c", "touch started; cat"]);
    let folder = world.work().canonicalize().unwrap();
    let home = world.user_file().parent().unwrap().to_owned();
    fs::create_dir_all(&home).unwrap();
    fs::write(
        home.join("trustedFolders.json"),
        json!({folder.to_str().unwrap(): "DO_NOT_TRUST"}).to_string(),
    )
    .unwrap();
    let text = world.succeeds(&["list"]);
    assert!(text.contains("not trusted") && !text.contains("mine:"), "{text}");
}
