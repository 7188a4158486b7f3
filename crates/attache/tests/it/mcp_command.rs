//! `attache mcp`: what it writes, what it leaves alone, and what it shows.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

/// A home and a project in it.
struct World {
    folder: TempDir,
}

struct Ran {
    success: bool,
    stdout: String,
    stderr: String,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("project")).unwrap();
        Self { folder }
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn project_file(&self) -> PathBuf {
        settings_file(&self.project())
    }

    fn user_file(&self) -> PathBuf {
        settings_file(self.folder.path())
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.run_in(&self.project(), arguments)
    }

    fn run_in(&self, folder: &Path, arguments: &[&str]) -> Ran {
        self.attache_in(folder, &[&["mcp"], arguments].concat())
    }

    /// Trusts the project and accepts the servers in its file.
    fn trust(&self) {
        let ran = self.attache_in(&self.project(), &["trust", "--yes"]);
        assert!(ran.success, "{}", ran.stderr);
    }

    fn attache_in(&self, folder: &Path, arguments: &[&str]) -> Ran {
        #[expect(clippy::disallowed_methods, reason = "programs are found where the tests find them")]
        let path = std::env::var("PATH").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_attache"))
            .args(arguments)
            .current_dir(folder)
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.folder.path())
            .env("SOME_KEY", "s3cret")
            .output()
            .unwrap();
        Ran {
            success: output.status.success(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    fn succeeds(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert!(ran.success, "{arguments:?}: {}", ran.stderr);
        ran.stdout
    }

    #[track_caller]
    fn fails(&self, arguments: &[&str], expected: &str) {
        let ran = self.run(arguments);
        assert!(!ran.success, "{arguments:?}: {}", ran.stdout);
        assert!(ran.stderr.contains(expected), "{arguments:?}: {}", ran.stderr);
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
    fs::create_dir(world.project().join(".gemini")).unwrap();
    fs::write(world.project_file(), text).unwrap();
    fs::set_permissions(world.project_file(), fs::Permissions::from_mode(0o640)).unwrap();
    world.succeeds(&["add", "new", "prog"]);
    let added = fs::read_to_string(world.project_file()).unwrap();
    assert!(added.contains("// my taste") && added.contains("/* and */"), "{added}");
    assert!(added.contains("\"old\": { \"command\": \"x\" }, // keep me\n    \"new\": {"), "{added}");
    assert!(world.succeeds(&["remove", "new"]).starts_with("Removed the MCP server new from "));
    assert_eq!(fs::read_to_string(world.project_file()).unwrap(), text);
    assert_eq!(fs::metadata(world.project_file()).unwrap().permissions().mode() & 0o777, 0o640);
    let beside: Vec<_> = fs::read_dir(world.project().join(".gemini")).unwrap().collect();
    assert_eq!(beside.len(), 1, "nothing is left behind: {beside:?}");
}

#[test]
fn a_file_that_is_not_understood_is_not_touched() {
    let world = World::new();
    fs::create_dir(world.project().join(".gemini")).unwrap();
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
    let target = world.folder.path().join("precious.json");
    fs::write(&target, "{}").unwrap();
    fs::create_dir(world.project().join(".gemini")).unwrap();
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
    let ran = world.run_in(world.folder.path(), &["add", "a", "prog"]);
    assert!(!ran.success && ran.stderr.contains("home folder") && ran.stderr.contains("--scope user"));
    assert!(!world.project_file().exists() && !world.user_file().exists());
}

/// A server in a few lines of shell that offers one tool, named as its environment says.
const SERVER: &str = r#"
answer() { IFS= read -r line || exit 0; id=${line#*\"id\":}; id=${id%%[!0-9]*}; printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}'
IFS= read -r line
[ "$KEY" = s3cret ] && tool=knows_the_key || tool=has_no_key
env | grep -q '^SOME_KEY=' && tool=sees_too_much
answer '{"tools":[{"name":"'$tool'","inputSchema":{"type":"object"}}]}'
cat > /dev/null
"#;

#[test]
fn a_list_connects_and_shows_what_came_of_it() {
    let world = World::new();
    assert!(world.succeeds(&["list"]).contains("No MCP servers are used here"));
    let added = world.succeeds(&["add", "-e", "KEY=$SOME_KEY", "good", "sh", "-c", SERVER]);
    assert!(added.contains("`attache trust`"), "{added}");
    let text = world.succeeds(&["list"]);
    assert!(text.contains("1 MCP server in .gemini/settings.json") && !text.contains("good:"), "{text}");
    world.trust();
    let text = world.succeeds(&["list"]);
    assert!(text.contains("mcp_good_has_no_key"), "the project may not name the variable: {text}");
    fs::write(world.user_file(), r#"{"security": {"projectVariables": ["SOME_KEY"]}}"#).unwrap();
    world.succeeds(&["add", "--scope", "user", "bad", "no-such-program-at-all"]);
    world.succeeds(&["add", "--scope", "user", "good", "replaced-by-the-project-s"]);
    let ran = world.run(&["list"]);
    assert!(!ran.success, "one of them cannot be used");
    let text = ran.stdout;
    assert!(
        text.contains("good: connected  (stdio sh -c 'answer() {")
            && text.contains("; project)\n  mcp_good_knows_the_key\n"),
        "{text}"
    );
    assert!(
        text.contains("bad: failed  (stdio no-such-program-at-all; user)\n  `no-such-program-at-all` cannot"),
        "{text}"
    );
    assert!(!text.contains("s3cret"));
    let ran = world.run(&["list", "--json"]);
    assert!(!ran.success);
    let all: Value = serde_json::from_str(&ran.stdout).unwrap();
    let states: Vec<_> = all.as_array().unwrap().iter().map(|line| (&line["name"], &line["state"])).collect();
    assert_eq!(states, [(&json!("bad"), &json!("failed")), (&json!("good"), &json!("connected"))]);
    world.succeeds(&["remove", "--scope", "user", "bad"]);
    world.succeeds(&["list"]);
}

#[test]
fn a_wrong_entry_is_told_with_its_place() {
    let world = World::new();
    fs::create_dir(world.project().join(".gemini")).unwrap();
    fs::write(world.project_file(), "{}").unwrap();
    world.trust();
    fs::write(world.project_file(), "{ \"mcpServers\": {\n \"odd\": { \"args\": [] } } }").unwrap();
    let text = world.succeeds(&["list"]);
    assert!(text.contains("treated as not trusted") && text.contains("settings.json:2"), "{text}");
    assert!(text.contains("needs a command, a url or an httpUrl"), "{text}");
}

#[test]
fn nothing_of_a_folder_that_is_not_trusted_is_started() {
    let world = World::new();
    world.succeeds(&["add", "mine", "sh", "-c", "touch started; cat"]);
    let folder = world.project().canonicalize().unwrap();
    let home = world.user_file().parent().unwrap().to_owned();
    fs::create_dir_all(&home).unwrap();
    fs::write(
        home.join("trustedFolders.json"),
        json!({folder.to_str().unwrap(): "DO_NOT_TRUST"}).to_string(),
    )
    .unwrap();
    let text = world.succeeds(&["list"]);
    assert!(text.contains("not trusted") && !text.contains("mine:"), "{text}");
    assert!(!world.project().join("started").exists());
}
