//! `attache -p`: the real binary, a scripted Gemini server, real files and commands.

mod agents;
mod commands;
mod endings;
mod formats;
mod proxied;
mod remote_agents;
mod stopping;

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use attache_testkit::model_server::{ModelServer, PlannedResponse, gemini};
use attache_testkit::{ServerLaunch, WAIT_TIMEOUT};
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::support::launch;

/// One run of the binary, with a folder of its own.
struct Run {
    launch: ServerLaunch,
    command: Command,
    piped: Option<String>,
}

/// What it came to.
struct Ended {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Run {
    /// With `model` as Gemini.
    fn with(model: &ModelServer, arguments: &[&str]) -> Self {
        let mut run = Self::offline(arguments);
        run.command
            .args(["--model", "gemini-2.5-pro"])
            .env("GEMINI_API_KEY", "key-for-tests")
            .env("GOOGLE_GEMINI_BASE_URL", model.url());
        run
    }

    /// With no key and no model, in a folder that is trusted.
    fn offline(arguments: &[&str]) -> Self {
        let mut run = Self::untrusting(arguments);
        run.command.arg("--trust");
        run
    }

    /// The same in a folder without a trust decision.
    fn untrusting(arguments: &[&str]) -> Self {
        let launch = launch();
        let workspace = launch.folder().join("work");
        fs::create_dir_all(&workspace).unwrap();
        fs::write(workspace.join("hello.txt"), "Hello, world.\n").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_attache"));
        command.args(arguments).env_clear().env("HOME", launch.folder()).env("PATH", "/usr/bin:/bin");
        command.current_dir(&workspace).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self { launch, command, piped: None }
    }

    fn piped(mut self, text: &str) -> Self {
        self.piped = Some(text.to_owned());
        self.command.stdin(Stdio::piped());
        self
    }

    fn file(&self, name: &str) -> PathBuf {
        self.launch.folder().join("work").join(name)
    }

    async fn start(&mut self) -> Child {
        let mut child = self.command.spawn().unwrap();
        if let Some(text) = &self.piped {
            let mut stdin = child.stdin.take().unwrap();
            stdin.write_all(text.as_bytes()).await.unwrap();
        }
        child
    }

    async fn end(&mut self) -> Ended {
        let child = self.start().await;
        let output = timeout(WAIT_TIMEOUT, child.wait_with_output()).await.expect("it ends in time").unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Ended { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }
}

impl Ended {
    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}{}", self.out, self.err))
    }

    #[track_caller]
    fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn says(text: &str) -> PlannedResponse {
    gemini::answer([gemini::chunk().text(text).finish("STOP").usage(100, 10)])
}

fn calls(name: &str, arguments: Value) -> PlannedResponse {
    gemini::answer([gemini::chunk().call(name, arguments).finish("STOP").usage(100, 10)])
}
