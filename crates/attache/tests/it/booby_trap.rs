//! A booby-trapped repository, tried with each way of starting: nothing is executed, and nothing is sent.

mod repository;
mod watch;

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use attache_testkit::model_server::{ModelServer, PlannedResponse};
use attache_testkit::{ServerLaunch, WAIT_TIMEOUT};
use serde_json::json;
use tokio::process::Command;
use tokio::time::timeout;

use crate::agent_world::{calls, reply, says, send, state};
use crate::support::message;
use repository::{Canary, plant};
use watch::{Listener, Watched};

/// A home with a freshly cloned repository.
struct World {
    launch: ServerLaunch,
    listener: Listener,
    canary: Canary,
    model: ModelServer,
}

const SECRET: &str = "canary-secret-4711";

impl World {
    fn new(answers: impl IntoIterator<Item = PlannedResponse>) -> Self {
        let launch = crate::support::launch().without_trust();
        let listener = Listener::start();
        let folder = launch.folder().canonicalize().unwrap();
        let canary = Canary { folder: folder.join("canaries"), port: listener.port };
        fs::create_dir(&canary.folder).unwrap();
        fs::create_dir(folder.join("repository")).unwrap();
        fs::write(folder.join("secret.txt"), SECRET).unwrap();
        plant(&folder.join("repository"), &canary);
        Self { launch, listener, canary, model: ModelServer::with_responses(answers) }
    }

    fn repository(&self) -> PathBuf {
        self.launch.folder().canonicalize().unwrap().join("repository")
    }

    fn variables(&self) -> Vec<(String, String)> {
        [
            ("HOME", self.launch.folder().display().to_string()),
            ("PATH", "/usr/bin:/bin".to_owned()),
            ("GEMINI_API_KEY", "key-for-tests".to_owned()),
            ("CANARY_SECRET", SECRET.to_owned()),
            ("GOOGLE_GEMINI_BASE_URL", self.model.url()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    fn model_port(&self) -> u16 {
        self.model.url().rsplit(':').next().unwrap().trim_end_matches('/').parse().unwrap()
    }

    /// Runs the binary in the repository: exit code, and all that it said.
    async fn run(&self, name: &str, arguments: &[&str], ports: &[u16]) -> (Option<i32>, String) {
        let watched = Watched::new(self.launch.folder(), name);
        let mut command = Command::new(&watched.program);
        command.args(arguments).env_clear().envs(self.variables()).current_dir(self.repository());
        command.stdin(Stdio::null()).kill_on_drop(true);
        let output = timeout(WAIT_TIMEOUT, command.output()).await.expect("it ends in time").unwrap();
        watched.check(ports);
        let text =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output.status.code(), text)
    }

    /// No trap has left a trace, and the model was told no secret.
    #[track_caller]
    fn check(&self) {
        let traces: Vec<_> =
            fs::read_dir(&self.canary.folder).unwrap().flatten().map(|it| it.path()).collect();
        assert!(traces.is_empty(), "executed: {traces:?}");
        assert_eq!(self.listener.heard(), Vec::<String>::new(), "sent");
        for request in self.model.received() {
            let body = request.json().to_string();
            assert!(!body.contains(SECRET), "{body}");
        }
    }
}

fn run_shell(world: &str) -> PlannedResponse {
    calls("run_shell_command", json!({"command": format!("touch {world}")}))
}

#[tokio::test]
async fn a_server_started_in_it_does_nothing_unasked() {
    let answers = [says("Hello."), run_shell("made-unasked"), says("What?"), says("What?")];
    let world = World::new(answers);
    let watched = Watched::new(world.launch.folder(), "serve");
    let folder = world.repository().display().to_string();
    let mut launch = ServerLaunch::of(&watched.program).without_trust().durable();
    launch = launch.argument("--workspace").argument(folder).argument("--model").argument("gemini-2.5-pro");
    for (name, value) in world.variables() {
        launch = launch.variable(&name, &value);
    }
    let mut server = launch.start().await;
    let mut banner = String::new();
    while !banner.contains("Try it") {
        banner.push_str(&server.next_line().await.unwrap());
        banner.push('\n');
    }
    assert!(banner.contains("  trust      no: not decided yet"), "{banner}");
    assert!(banner.contains("  ignored    4 MCP servers, 2 rules, 1 command, "), "{banner}");
    let task = send(&server.client(), "m1", "Hello!").await;
    assert_eq!(state(&task), "TASK_STATE_COMPLETED", "{task:#}");
    let task = send(&server.client(), "m2", "Make something!").await;
    assert_eq!(state(&task), "TASK_STATE_INPUT_REQUIRED", "{task:#}");
    for line in ["/evil", "/plain"] {
        let task = send(&server.client(), line, line).await;
        assert_ne!(state(&task), "TASK_STATE_INPUT_REQUIRED", "{task:#}");
    }
    let log = server.log();
    let notices: Vec<_> = log.lines().filter(|line| line.contains("ignored in ")).collect();
    assert_eq!(notices.len(), 1, "{log}");
    assert!(
        notices[0].contains("4 MCP servers, 2 rules, 1 command") && notices[0].contains("`attache trust`"),
        "{log}"
    );
    let (code, text) =
        world.run("tasks", &["tasks", "list", "--server", server.url()], &[port_of(server.url())]).await;
    assert_eq!(code, Some(0), "{text}");
    let (_, text) = world.run("tasks-elsewhere", &["tasks", "list"], &[41242]).await;
    assert!(
        !text.contains(&world.listener.port.to_string()),
        "the project's .env does not name the server: {text}"
    );
    assert_eq!(server.terminate().await, Some(0));
    watched.check(&[world.model_port()]);
    world.check();
    assert!(!world.repository().join("made-unasked").exists());
}

fn port_of(url: &str) -> u16 {
    url.rsplit(':').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_task_on_the_command_line_does_nothing_unasked() {
    let world = World::new([run_shell("made-unasked"), says("I was refused.")]);
    let (code, text) = world.run("prompt", &["-p", "Make something"], &[world.model_port()]).await;
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("I was refused."), "{text}");
    let notices: Vec<_> = text.lines().filter(|line| line.contains("ignored in ")).collect();
    assert_eq!(notices.len(), 1, "{text}");
    let expected = "4 MCP servers, 2 rules, 1 command, ";
    assert!(notices[0].contains(expected) && notices[0].contains("--trust"), "{text}");
    world.check();
    assert!(!world.repository().join("made-unasked").exists());
    let told = world.model.received()[0].json().to_string();
    assert!(told.contains("Everything is allowed."), "context files are read: {told}");
    assert!(told.contains("is left out: it is outside of the project"), "and stay inside: {told}");
    assert_eq!(told.matches("</untrusted_context>").count(), 1, "{told}");
}

#[tokio::test]
async fn commands_of_the_repository_are_not_there() {
    for line in ["/evil", "/plain", "/mcp list", "/tools", "/memory show", "/extensions list"] {
        let world = World::new([says("Hm.")]);
        let (_, text) = world.run("slash", &["-p", line], &[world.model_port()]).await;
        assert!(!text.contains("connected"), "{text}");
        world.check();
    }
}

#[tokio::test]
async fn looking_at_settings_does_nothing() {
    let world = World::new([]);
    for (number, arguments) in [
        &["config", "show"][..],
        &["config", "show", "--json"],
        &["config", "show", "--origin"],
        &["mcp", "list"],
        &["mcp", "list", "--json"],
        &["trust", "--show"],
        &["trust"],
        &["card", "show"],
        &["--help"],
    ]
    .into_iter()
    .enumerate()
    {
        let (_, text) = world.run(&format!("look-{number}"), arguments, &[]).await;
        assert!(!text.contains(SECRET) && !text.contains("key-for-tests"), "{text}");
    }
    world.check();
}

/// The traps are real: where a person trusts all this, they go off.
#[tokio::test]
async fn the_same_repository_goes_off_where_it_is_trusted() {
    let world = World::new([run_shell("made-unasked"), says("Done.")]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_attache"));
    command.args(["-p", "Make something", "--trust", "--model", "gemini-2.5-pro"]).env_clear();
    command.envs(world.variables()).current_dir(world.repository()).stdin(Stdio::null()).kill_on_drop(true);
    let output = timeout(WAIT_TIMEOUT, command.output()).await.expect("it ends in time").unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(world.canary.folder.join("server").exists(), "{told}");
    assert!(world.canary.folder.join("yaml-server").exists(), "{told}");
    assert!(world.repository().join("made-unasked").exists(), "{told}");
    assert!(told.contains("[TRUST] accepted for this run: starts the program `sh` `-c`"), "{told}");
    let heard = world.listener.heard().join("\n");
    assert!(heard.contains("/http"), "{heard}");
    // Even then nothing of the environment leaves.
    assert!(!heard.contains(SECRET) && !heard.contains("key-for-tests"), "{heard}");
    assert!(!world.canary.folder.join("hook").exists() && !world.canary.folder.join("discovery").exists());
}

/// A server that was started elsewhere, and a client that asks for the repository as its workspace.
#[tokio::test]
async fn a_workspace_that_a_client_requests_does_nothing_unasked() {
    let world = World::new([run_shell("made-unasked"), says("What?")]);
    let watched = Watched::new(world.launch.folder(), "requested");
    let elsewhere = world.launch.folder().canonicalize().unwrap().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let settings = format!("allowed_roots = [{:?}]\n", world.repository());
    let mut launch = ServerLaunch::of(&watched.program).without_trust().durable().settings(&settings);
    launch = launch.argument("--workspace").argument(elsewhere.display().to_string());
    launch = launch.argument("--model").argument("gemini-2.5-pro");
    for (name, value) in world.variables() {
        launch = launch.variable(&name, &value);
    }
    let server = launch.start().await;
    let mut params = message("m1", "Make something!");
    params["message"]["metadata"] = json!({"attache": {"workspace": world.repository()}});
    let answer = server.client().rpc("SendMessage", params).await;
    let task = &answer["result"]["task"];
    assert_eq!(state(task), "TASK_STATE_INPUT_REQUIRED", "{answer:#}");
    assert!(task.to_string().contains("repository"), "it is about the repository: {task:#}");
    assert_eq!(server.terminate().await, Some(0));
    watched.check(&[world.model_port()]);
    world.check();
    assert!(!world.repository().join("made-unasked").exists());
}

/// Git itself in the trap: asked about, and what a person agrees to leaves no trace outside.
#[tokio::test]
async fn git_in_it_is_asked_about_and_reaches_nothing_outside() {
    let git = |line: &str| calls("run_shell_command", json!({"command": line}));
    let lines = ["git status", "git diff", "git log -p", "git add GEMINI.md"];
    let world = World::new(lines.map(git).into_iter().chain([says("Done.")]));
    let folder = world.repository().display().to_string();
    let mut launch = ServerLaunch::of(env!("CARGO_BIN_EXE_attache")).without_trust().durable();
    launch = launch.argument("--workspace").argument(folder).argument("--model").argument("gemini-2.5-pro");
    for (name, value) in world.variables() {
        launch = launch.variable(&name, &value);
    }
    let server = launch.start().await;
    let mut task = send(&server.client(), "m1", "Look!").await;
    for (number, line) in lines.into_iter().enumerate() {
        assert_eq!(state(&task), "TASK_STATE_INPUT_REQUIRED", "{line}: {task:#}");
        let question = task["status"]["message"]["parts"][0]["text"].as_str().unwrap();
        assert!(question.contains(line), "{line}: {question}");
        world.check();
        task = reply(&server.client(), &format!("a{number}"), &task, "yes").await;
    }
    assert_eq!(state(&task), "TASK_STATE_COMPLETED", "{task:#}");
    world.check();
    // Without confinement the trap is no dud.
    let mut command = std::process::Command::new("git");
    command.arg("status").env_clear().envs(world.variables()).current_dir(world.repository());
    command.output().unwrap();
    assert!(world.canary.folder.join("git").exists());
}
