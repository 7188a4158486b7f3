//! Agent files at the command line: `attache agents` shows them, `attache call NAME` calls what they define.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;

use attache_testkit::ServerProcess;

use crate::support::{SCRIPT, launch};

const TOKEN: &str = "correct-horse-battery-staple";
const SWITCHED_ON: &str = r#"{"experimental": {"enableAgents": true, "other": 1}}"#;

/// A home and a project in it.
struct World {
    folder: TempDir,
}

struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl World {
    fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(world.project()).unwrap();
        world.write(world.folder.path(), "settings.json", SWITCHED_ON);
        world
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn write(&self, folder: &Path, name: &str, text: &str) {
        let path = folder.join(".gemini").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn user_agent(&self, text: &str) {
        self.write(self.folder.path(), "agents/mine.md", text);
    }

    async fn run(&self, arguments: &[&str]) -> Ran {
        #[expect(clippy::disallowed_methods, reason = "programs are found where the tests find them")]
        let path = std::env::var("PATH").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_attache"))
            .args(arguments)
            .current_dir(self.project())
            .env_clear()
            .envs([("PATH", path.as_str()), ("AGENT_TOKEN", TOKEN)])
            .env("HOME", self.folder.path())
            .kill_on_drop(true)
            .output();
        let output = tokio::time::timeout(attache_testkit::WAIT_TIMEOUT, output).await.unwrap().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Fails with an error that holds these words and never the token.
    #[track_caller]
    fn check_failure(ran: &Ran, words: &[&str]) {
        assert_ne!(ran.code, Some(0), "{}{}", ran.out, ran.err);
        words.iter().for_each(|words| assert!(ran.err.contains(words), "{words:?} in {}", ran.err));
        assert!(!ran.err.contains(TOKEN) && !ran.out.contains(TOKEN), "{}{}", ran.out, ran.err);
    }
}

async fn guarded_server() -> ServerProcess {
    let launch = launch().in_memory().script(SCRIPT);
    let path = launch.write_secret("token", TOKEN).display().to_string();
    launch.argument("--token-file").argument(path).start().await
}

fn agent(url: &str, auth: &str) -> String {
    format!(
        "---\nkind: remote\nname: helper\ndescription: It helps.\nagent_card_url: {url}/.well-known/agent-card.json\n{auth}---\n"
    )
}

#[tokio::test]
async fn an_agent_is_called_by_its_name_with_the_credential_of_its_file() {
    let server = guarded_server().await;
    let world = World::new();
    world.write(world.folder.path(), "secret.txt", TOKEN);
    for auth in [
        "auth:\n  type: http\n  scheme: Bearer\n  token: $AGENT_TOKEN\n",
        "auth:\n  type: http\n  scheme: Bearer\n  token: '!cat \"$HOME/.gemini/secret.txt\"'\n",
        "auth:\n  type: apiKey\n  name: Authorization\n  key: Bearer correct-horse-battery-staple\n",
        "auth:\n  type: http\n  scheme: Bearer\n  value: correct-horse-battery-staple\n",
    ] {
        world.user_agent(&agent(server.url(), auth));
        let ran = world.run(&["call", "helper", "stream"]).await;
        assert_eq!(ran.code, Some(0), "{auth}: {}{}", ran.out, ran.err);
        assert_eq!(ran.out.trim(), "one two three four five", "{auth}");
    }
    let model = server.client().with("authorization", &format!("Bearer {TOKEN}"));
    assert_eq!(model.get("/health").await.status, 200, "the server is alive");
}

#[tokio::test]
async fn a_call_that_cannot_be_made_says_why() {
    let server = guarded_server().await;
    let world = World::new();
    for (auth, words) in [
        ("", ["token"].as_slice()),
        (
            "auth:\n  type: http\n  scheme: Bearer\n  token: $NOT_SET\n",
            &["helper: auth.token: the variable NOT_SET is not set"],
        ),
        ("auth:\n  type: apiKey\n  key: '!exit 4'\n", &["auth.key: the command `exit 4` failed"]),
        (
            "auth:\n  type: http\n  scheme: Basic\n  username: u\n  password: p\n",
            &["the credentials are missing or wrong"],
        ),
        ("auth:\n  type: google-credentials\n", &["google-credentials cannot be used yet"]),
    ] {
        world.user_agent(&agent(server.url(), auth));
        World::check_failure(&world.run(&["call", "helper", "stream"]).await, words);
    }
    World::check_failure(
        &world.run(&["call", "other", "x"]).await,
        &["there is no agent other here", "attache agents"],
    );
    world.write(world.folder.path(), "settings.json", "{}");
    let off = world.run(&["call", "helper", "x"]).await;
    World::check_failure(&off, &["agents are switched off", "enableAgents"]);
    World::check_failure(&world.run(&["agents"]).await, &["agents are switched off", "enableAgents"]);
}

#[tokio::test]
async fn an_agent_of_a_project_is_called_only_after_it_was_accepted() {
    let server = guarded_server().await;
    let world = World::new();
    let auth = "auth:\n  type: http\n  scheme: Bearer\n  token: $AGENT_TOKEN\n";
    world.write(&world.project(), "agents/theirs.md", &agent(server.url(), auth));
    let ran = world.run(&["call", "helper", "stream"]).await;
    World::check_failure(&ran, &["there is no agent helper here", "attache trust"]);
    let shown = world.run(&["trust", "--show"]).await;
    let words = format!("agent: helper is the agent whose card is at {}", server.url());
    assert!(shown.out.contains(&words) && shown.out.contains("your credentials (http)"), "{}", shown.out);
    assert_eq!(world.run(&["trust", "--yes"]).await.code, Some(0));
    assert_eq!(world.run(&["call", "helper", "stream"]).await.code, Some(0));
    // A change of the file has to be accepted again.
    let changed = agent(server.url(), "auth:\n  type: apiKey\n  key: $AGENT_TOKEN\n");
    world.write(&world.project(), "agents/theirs.md", &changed);
    let ran = world.run(&["call", "helper", "stream"]).await;
    World::check_failure(&ran, &["there is no agent helper here", "nobody has accepted it yet"]);
}

#[tokio::test]
async fn the_list_shows_every_agent_and_every_mistake() {
    let world = World::new();
    world.user_agent(&agent("https://example.com", ""));
    world.write(
        world.folder.path(),
        "agents/two.md",
        "---\nname: local_one\ndescription: \"\\e[2Jfirst\"\n---\nWork.\n",
    );
    world.write(world.folder.path(), "agents/bad.md", "---\nkind: remote\nname: Bad\n---\n");
    let ran = world.run(&["agents"]).await;
    assert_eq!(ran.code, Some(1), "a wrong file is a failure: {}", ran.err);
    assert!(
        ran.out.contains(
            "helper     remote  user     https://example.com/.well-known/agent-card.json  It helps."
        ),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("local_one  local   user") && !ran.out.contains('\u{1b}'), "{}", ran.out);
    for words in ["bad.md", "name: must be a valid slug", "(line 3)", "agent_card_url: is required"] {
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    let json: Value = serde_json::from_str(&world.run(&["agents", "list", "--json"]).await.out).unwrap();
    assert_eq!((json["agents"].as_array().unwrap().len(), json["errors"][0]["line"].as_u64()), (2, Some(2)));
    let shown = world.run(&["agents", "show", "helper"]).await;
    assert!(shown.out.contains("authentication  none"), "{}", shown.out);
    World::check_failure(&world.run(&["agents", "show", "none"]).await, &["there is no agent"]);
}
