//! Starts the real binary as a process, stops or kills it, and starts it again.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::{TestClient, WAIT_TIMEOUT};

/// The options of a server. The same launch can be started again after a crash.
pub struct ServerLaunch {
    binary: PathBuf,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
    /// Shared with the started servers, so that the folder exists as long as one of them may use it.
    folder: Arc<TempDir>,
    trusts: bool,
}

impl ServerLaunch {
    /// A server on a free port, with its own folder and an empty environment. It trusts its workspace.
    pub fn of(binary: impl AsRef<Path>) -> Self {
        let folder = Arc::new(tempfile::tempdir().expect("a temporary folder"));
        let binary = binary.as_ref().to_owned();
        Self { binary, arguments: Vec::new(), variables: Vec::new(), folder, trusts: true }
    }

    /// Starts without `--trust`.
    pub fn without_trust(mut self) -> Self {
        self.trusts = false;
        self
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn argument(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Starts the binary from a Bash script that runs `lines` first. `start` is the command before the binary, such as
    /// `exec`.
    pub fn through_shell(mut self, lines: &str, start: &str) -> Self {
        let binary = self.binary.display();
        let script = format!("#!/bin/bash\n{lines}\n{start} '{binary}' \"$@\"\n");
        let path = self.write("start-server", &script);
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&path, executable).expect("a file in the temporary folder");
        self.binary = path;
        self
    }

    /// Plays `script`, a YAML text, as the model.
    pub fn script(self, script: &str) -> Self {
        let path = self.write("script.yaml", script);
        self.argument("--model").argument(format!("script:{}", path.display()))
    }

    /// Starts with the settings in `text`.
    pub fn settings(self, text: &str) -> Self {
        let path = self.write("attache.toml", text);
        self.argument("--config").argument(path.display().to_string())
    }

    /// Keeps tasks in memory only.
    pub fn in_memory(self) -> Self {
        self.argument("--store").argument("memory:")
    }

    /// Keeps tasks in a SQLite file in the launch's folder.
    pub fn durable(self) -> Self {
        self.argument("--store").argument("sqlite:tasks.db")
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).expect("a file in the temporary folder");
        path
    }

    /// Writes a file that only its owner can read.
    pub fn write_secret(&self, name: &str, text: &str) -> PathBuf {
        let path = self.write(name, text);
        let owner_only = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(&path, owner_only).expect("a file in the temporary folder");
        path
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.arg("serve");
        let names = ["CODER_AGENT_PORT", "PORT"];
        let in_environment = self.variables.iter().any(|(name, _)| names.contains(&name.as_str()));
        if !in_environment && !self.arguments.iter().any(|argument| argument == "--port") {
            command.args(["--port", "0"]);
        }
        if self.trusts {
            command.arg("--trust");
        }
        command.args(&self.arguments).env_clear().envs(self.variables.iter().cloned());
        command.env("HOME", self.folder.path()).current_dir(self.folder.path()).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts the server and waits until it listens.
    pub async fn start(&self) -> ServerProcess {
        self.start_command(self.command()).await
    }

    /// Starts a server that kills itself at a named point of the code.
    pub async fn start_until(&self, failpoint: &str) -> ServerProcess {
        let mut command = self.command();
        command.env("ATTACHE_FAILPOINT", failpoint);
        self.start_command(command).await
    }

    /// Starts a server and kills it after `delay`. It must still run then.
    pub async fn start_and_kill(&self, delay: Duration) {
        let mut child = self.command().spawn().expect("the binary starts");
        tokio::time::sleep(delay).await;
        if child.try_wait().expect("its state").is_some() {
            let output = child.wait_with_output().await.expect("its output");
            panic!("it ended by itself: {}", String::from_utf8_lossy(&output.stderr));
        }
        child.kill().await.expect("it can be killed");
    }

    async fn start_command(&self, mut command: Command) -> ServerProcess {
        let mut child = command.spawn().expect("the binary starts");
        let log: Arc<Mutex<String>> = Arc::default();
        let mut errors = BufReader::new(child.stderr.take().expect("stderr is piped")).lines();
        let sink = log.clone();
        // Ends when the process closes the pipe.
        #[expect(clippy::disallowed_methods, reason = "ends with the child's stderr")]
        tokio::spawn(async move {
            while let Ok(Some(line)) = errors.next_line().await {
                let mut log = sink.lock().expect("no panic while logging");
                log.push_str(&line);
                log.push('\n');
            }
        });
        let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
        let mut greeting = String::new();
        let url = timeout(WAIT_TIMEOUT, async {
            while let Some(line) = lines.next_line().await.expect("readable output") {
                greeting.push_str(&line);
                greeting.push('\n');
                if let Some((_, url)) = line.split_once("listening on ") {
                    return url.trim().to_owned();
                }
            }
            panic!("the server stopped at once: {greeting}{}", log.lock().expect("readable log"));
        });
        let url = url.await.expect("the server listens in time");
        ServerProcess { child, url, log, lines, _folder: self.folder.clone() }
    }

    /// Runs a server that is expected to fail at once. Returns its exit code and its error output.
    pub async fn start_failing(&self) -> (Option<i32>, String) {
        let output = timeout(WAIT_TIMEOUT, self.command().output()).await.expect("it stops in time");
        let output = output.expect("the binary starts");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// A server that listens.
pub struct ServerProcess {
    child: Child,
    url: String,
    log: Arc<Mutex<String>>,
    lines: tokio::io::Lines<BufReader<tokio::process::ChildStdout>>,
    _folder: Arc<TempDir>,
}

impl ServerProcess {
    /// `http://127.0.0.1:PORT`
    pub fn url(&self) -> &str {
        &self.url
    }

    /// `127.0.0.1:PORT`
    pub fn address(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    pub fn client(&self) -> TestClient {
        TestClient::of(self.address())
    }

    pub fn pid(&self) -> u32 {
        self.child.id().expect("the server runs")
    }

    /// What the server wrote to stderr so far.
    pub fn log(&self) -> String {
        self.log.lock().expect("readable log").clone()
    }

    /// The next line on stdout after the one that named the address.
    pub async fn next_line(&mut self) -> Option<String> {
        timeout(WAIT_TIMEOUT, self.lines.next_line()).await.expect("a line in time").expect("readable output")
    }

    /// Kills the server as `kill -9` does.
    pub async fn kill(mut self) {
        self.child.kill().await.expect("it can be killed");
    }

    /// Waits until the server has exited by itself.
    pub async fn wait_for_exit(mut self) {
        timeout(WAIT_TIMEOUT, self.child.wait()).await.expect("it ends in time").expect("an exit status");
    }

    /// Sends SIGTERM and returns the exit code.
    pub async fn terminate(mut self) -> Option<i32> {
        let sent = Command::new("kill").arg(self.pid().to_string()).status().await.expect("kill runs");
        assert!(sent.success());
        timeout(WAIT_TIMEOUT, self.child.wait())
            .await
            .expect("it stops in time")
            .expect("an exit status")
            .code()
    }
}
