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
pub(crate) struct World {
    pub(crate) folder: TempDir,
}

pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(world.project()).unwrap();
        world.write(world.folder.path(), "settings.json", SWITCHED_ON);
        world
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub(crate) fn write(&self, folder: &Path, name: &str, text: &str) {
        let path = folder.join(".gemini").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn user_agent(&self, text: &str) {
        self.write(self.folder.path(), "agents/mine.md", text);
    }

    pub(crate) async fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, &[]).await
    }

    /// With more variables in its environment.
    async fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
        self.run_fed(arguments, variables, None).await
    }

    /// With a file at home as its input.
    async fn run_fed(&self, arguments: &[&str], variables: &[(&str, &str)], input: Option<&str>) -> Ran {
        #[expect(clippy::disallowed_methods, reason = "programs are found where the tests find them")]
        let path = std::env::var("PATH").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_attache"));
        command
            .args(arguments)
            .current_dir(self.project())
            .env_clear()
            .envs([("PATH", path.as_str()), ("AGENT_TOKEN", TOKEN)])
            .env("HOME", self.folder.path())
            .envs(variables.iter().copied())
            .kill_on_drop(true);
        if let Some(input) = input {
            command.stdin(fs::File::open(self.folder.path().join(input)).unwrap());
        }
        let output = command.output();
        let output = tokio::time::timeout(attache_testkit::WAIT_TIMEOUT, output).await.unwrap().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Fails with an error that holds these words and never the token.
    #[track_caller]
    pub(crate) fn check_failure(ran: &Ran, words: &[&str]) {
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
async fn a_command_runs_again_when_what_it_printed_is_refused() {
    let launch = launch().in_memory().script(SCRIPT).settings("[card]\ngrpc = \"authority\"\n");
    let path = launch.write_secret("token", TOKEN).display().to_string();
    let server = launch.argument("--token-file").argument(path).start().await;
    for binding in ["jsonrpc", "http", "grpc"] {
        let world = World::new();
        world.write(world.folder.path(), "secret.txt", TOKEN);
        // The third one is right.
        let line =
            "echo x >> ~/count; [ $(wc -l < ~/count) = 3 ] && cat ~/.gemini/secret.txt || wc -l < ~/count";
        let auth = format!("auth:\n  type: http\n  scheme: Bearer\n  token: '!{line}'\n");
        world.user_agent(&agent(server.url(), &auth));
        let ran = world.run(&["call", "helper", "stream", "--binding", binding]).await;
        assert_eq!(ran.code, Some(0), "{binding}: {}{}", ran.out, ran.err);
        assert_eq!(ran.out.trim(), "one two three four five", "{binding}");
        let count = fs::read_to_string(world.folder.path().join("count")).unwrap();
        assert_eq!(count.lines().count(), 3, "{binding}");
        // Never right: the first one and two more.
        fs::remove_file(world.folder.path().join("count")).unwrap();
        world.user_agent(&agent(server.url(), &auth.replace("= 3", "= 9")));
        let ran = world.run(&["call", "helper", "stream", "--binding", binding]).await;
        World::check_failure(&ran, &["the credentials are missing or wrong"]);
        let count = fs::read_to_string(world.folder.path().join("count")).unwrap();
        assert_eq!(count.lines().count(), 3, "{binding}");
    }
}

#[tokio::test]
async fn a_command_of_an_agent_file_sees_no_secret_and_no_way_to_one() {
    let server = guarded_server().await;
    let world = World::new();
    let line = "env > ~/seen; cat /proc/$PPID/environ > ~/parent; echo t";
    world.user_agent(&agent(server.url(), &format!("auth:\n  type: apiKey\n  key: '!{line}'\n")));
    let secrets = [("MYSQL_PWD", TOKEN), ("GITHUB_PAT", TOKEN), ("OF_MY_OWN", "canary")];
    let variables = [&secrets[..], &[("ATTACHE_ENVIRONMENT_FD", "3"), ("AWS_PROFILE", "plain")]].concat();
    World::check_failure(&world.run_with(&["call", "helper", "stream"], &variables).await, &[]);
    let seen = fs::read_to_string(world.folder.path().join("seen")).unwrap();
    assert!(seen.contains("AWS_PROFILE=plain"), "{seen}");
    assert!(!seen.contains(TOKEN) && !seen.contains("canary"), "{seen}");
    let parent = fs::read(world.folder.path().join("parent")).unwrap_or_default();
    assert!(!String::from_utf8_lossy(&parent).contains(TOKEN), "the one that started it hides them too");
}

/// The current folder may be a stranger's repository.
#[tokio::test]
async fn a_command_runs_at_home_and_one_of_a_project_in_its_project() {
    let world = World::new();
    let line = "pwd > ~/place; echo t";
    let file = agent("http://127.0.0.1:9", &format!("auth:\n  type: apiKey\n  key: '!{line}'\n"));
    let (home, project) = (world.folder.path().to_owned(), world.project());
    for (folder, expected) in [(&home, &home), (&project, &project)] {
        let server = guarded_server().await;
        world.write(folder, "agents/one.md", &file.replace("http://127.0.0.1:9", server.url()));
        if folder == &project {
            assert_eq!(world.run(&["trust", "--yes"]).await.code, Some(0));
        }
        World::check_failure(&world.run(&["call", "helper", "stream"]).await, &[]);
        let place = fs::read_to_string(home.join("place")).unwrap();
        assert_eq!(Path::new(place.trim()), expected.canonicalize().unwrap());
    }
}

/// Without a model, a network or the switch for agent files.
#[tokio::test]
async fn questions_about_attache_are_answered_from_its_documentation() {
    let world = World::new();
    world.write(world.folder.path(), "settings.json", "{}");
    for arguments in [
        ["call", "cli_help", "How do I add an MCP server?"].as_slice(),
        &["agents", "ask", "cli_help", "How", "do", "I", "add", "an", "MCP", "server?"],
    ] {
        let ran = world.run(arguments).await;
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(
            ran.out.starts_with("From docs/mcp.md") && ran.out.contains("attache mcp add"),
            "{}",
            ran.out
        );
    }
    World::check_failure(&world.run(&["call", "cli_help"]).await, &["there is no question"]);
    fs::write(world.folder.path().join("question"), "How do I add an MCP server?\n").unwrap();
    let ran = world.run_fed(&["call", "cli_help"], &[], Some("question")).await;
    assert!(ran.out.starts_with("From docs/mcp.md"), "{}{}", ran.out, ran.err);
    let ran = world.run(&["call", "cli_help", "How do I add an MCP server?", "--json"]).await;
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    let text = told["message"]["parts"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("From docs/mcp.md") && told["message"]["role"] == "ROLE_AGENT", "{told:#}");
    for flag in [["--task", "t"], ["--context", "c"], ["--file", "f"], ["--binding", "grpc"]] {
        let ran = world.run(&["call", "cli_help", "x", flag[0], flag[1]]).await;
        World::check_failure(&ran, &["cli_help is built in and has no use for ", flag[0], "hint: "]);
    }
    World::check_failure(
        &world.run(&["agents", "ask", "helper", "x"]).await,
        &["is not built in", "attache call"],
    );
    assert_eq!(world.run(&["agents", "disable", "cli_help", "--scope", "user"]).await.code, Some(0));
    let ran = world.run(&["call", "cli_help", "x"]).await;
    World::check_failure(&ran, &["the agent cli_help is disabled in", "attache agents enable cli_help"]);
}

#[tokio::test]
async fn a_test_asks_the_agent_for_its_card() {
    let server = launch().in_memory().script(SCRIPT).start().await;
    let world = World::new();
    world.user_agent(&agent(server.url(), ""));
    let ran = world.run(&["agents", "test", "helper"]).await;
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("ready") && ran.out.contains(" ms"), "{}", ran.out);
    let ran = world.run(&["agents", "test", "helper", "--json"]).await;
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(told["agent"]["status"], "ready", "{told:#}");
    assert!(told["agent"]["latencyMs"].is_u64(), "{told:#}");
    world.user_agent(&agent("http://127.0.0.1:9", ""));
    let ran = world.run(&["agents", "test", "helper", "--json"]).await;
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &told["agent"]["status"]), (Some(1), &Value::from("failed")), "{told:#}");
    world.user_agent(&agent(server.url(), "").replace("agent-card.json", "none.json"));
    let ran = world.run(&["agents", "test", "helper"]).await;
    let advice = format!("most agents have their card at {}/.well-known/agent-card.json", server.url());
    for words in [&format!("{}/.well-known/none.json", server.url()), &advice, "mine.md is fetched as it is"]
    {
        assert!(ran.out.contains(words), "{words} in {}", ran.out);
    }
    // What a call would lack.
    let server = guarded_server().await;
    let bearer = |value: &str| format!("auth:\n  type: http\n  scheme: Bearer\n  token: {value}\n");
    let requires =
        "the agent requires authentication: http with the scheme Bearer and a `token`; its file has ";
    for (auth, error) in [
        (String::new(), format!("{requires}no `auth`")),
        ("auth:\n  type: apiKey\n  key: k\n".to_owned(), format!("{requires}apiKey")),
        (bearer("$NOT_SET"), "helper: auth.token: the variable NOT_SET is not set".to_owned()),
        (bearer("!exit 4"), "helper: auth.token: the command `exit 4` failed: exit status: 4".to_owned()),
    ] {
        world.user_agent(&agent(server.url(), &auth));
        let ran = world.run(&["agents", "test", "helper", "--json"]).await;
        let told: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!((ran.code, &told["agent"]["error"]), (Some(1), &Value::from(error)), "{auth}");
    }
    world.user_agent(&agent(server.url(), &bearer("$AGENT_TOKEN")));
    let ran = world.run(&["agents", "test", "helper"]).await;
    assert!(ran.code == Some(0) && ran.out.contains("ready"), "{}{}", ran.out, ran.err);
    let ran = world.run(&["agents", "test", "nobody"]).await;
    World::check_failure(&ran, &["there is no agent \"nobody\" here"]);
}
