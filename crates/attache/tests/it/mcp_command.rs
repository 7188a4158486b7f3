//! `attache mcp list` connects. What the other commands write and show is tested in `attache-cli`.

use std::fs;
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
}

fn settings_file(folder: &Path) -> PathBuf {
    folder.join(".gemini").join("settings.json")
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
