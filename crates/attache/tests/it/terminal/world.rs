//! A terminal with the binary on it, and the clients of its endpoint.

use std::fs;
use std::path::PathBuf;

use attache_testkit::{TestClient, WAIT_TIMEOUT};
use futures_util::{SinkExt, StreamExt};
use pty_process::{OwnedWritePty, Size};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::Child;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::{WebSocketStream, client_async};

const SCRIPT: &str = r#"
rules:
  - text: '^make (\S+)$'
    steps:
      - call: {tool: run_shell_command, input: {command: 'echo begun; touch {{1}}'}}
      - say: 'The result for {{1}} is here.'
  - text: '^hang$'
    steps:
      - call: {tool: run_shell_command, input: {command: 'echo begun; sleep 321'}}
      - say: 'It goes on.'
  - text: '^write$'
    steps:
      - call: {tool: write_file, input: {file_path: hello.txt, content: "Hello\nthere\n"}}
      - say: Written.
  - text: '^slow$'
    steps:
      - say: 'It takes a while. '
      - wait: 60s
      - say: Never said.
  - text: '^evil$'
    steps:
      - say: "before \e[2J\e]0;title\a after\nnext"
  - text: '^fail$'
    steps:
      - fail: It broke.
otherwise: 'You said {{text}}.'
"#;

pub(crate) const CTRL_C: &str = "\u{3}";
pub(crate) const CTRL_D: &str = "\u{4}";

/// A home, a workspace and a script.
pub(crate) struct World {
    folder: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        fs::write(folder.path().join("script.yaml"), SCRIPT).unwrap();
        Self { folder }
    }

    pub(crate) fn work(&self, name: &str) -> PathBuf {
        self.folder.path().join("work").join(name)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join(".local/share/attache")
    }

    /// The databases of all sessions.
    pub(crate) fn sessions(&self) -> Vec<String> {
        let names = self.session_files().into_iter().map(|file| file.file_name().unwrap().to_owned());
        names.map(|name| name.into_string().unwrap()).filter(|name| name.ends_with(".db")).collect()
    }

    /// The files of all sessions.
    pub(crate) fn session_files(&self) -> Vec<PathBuf> {
        let folders = fs::read_dir(self.data().join("sessions")).into_iter().flatten().flatten();
        let files = folders.flat_map(|folder| fs::read_dir(folder.path()).unwrap().flatten());
        files.map(|file| file.path()).collect()
    }

    /// Writes a file below the home.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn arguments(&self, arguments: &[&str]) -> Vec<String> {
        let script = format!("script:{}", self.folder.path().join("script.yaml").display());
        let given = arguments.iter().map(|argument| (*argument).to_owned());
        given.chain(["--trust".to_owned(), "--model".to_owned(), script]).collect()
    }

    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        let home = self.folder.path().display().to_string();
        vec![("HOME", home), ("PATH", "/usr/bin:/bin".to_owned()), ("TERM", "xterm".to_owned())]
    }

    /// Starts the binary on a terminal, without colours.
    pub(crate) fn start(&self, arguments: &[&str]) -> Terminal {
        self.start_with(arguments, &[("NO_COLOR", "1")])
    }

    pub(crate) fn start_with(&self, arguments: &[&str], more: &[(&str, &str)]) -> Terminal {
        self.start_program(env!("CARGO_BIN_EXE_attache"), &self.arguments(arguments), more)
    }

    /// Starts the binary from a shell, which can suspend it.
    pub(crate) async fn start_in_shell(&self, arguments: &[&str]) -> Terminal {
        let shell = ["--norc", "--noediting", "-i"].map(str::to_owned);
        let mut terminal = self.start_program("bash", &shell, &[("NO_COLOR", "1"), ("PS1", "$> ")]);
        let arguments: Vec<_> = self.arguments(arguments).iter().map(|it| format!("'{it}'")).collect();
        let line = format!("{} {}\r", env!("CARGO_BIN_EXE_attache"), arguments.join(" "));
        terminal.press(&line).await;
        terminal.until("Ctrl-D leaves").await;
        terminal
    }

    fn start_program(&self, program: &str, arguments: &[String], more: &[(&str, &str)]) -> Terminal {
        let (pty, other) = pty_process::open().unwrap();
        pty.resize(Size::new(50, 100)).unwrap();
        let command = pty_process::Command::new(program);
        let command = command.args(arguments).env_clear().envs(self.variables());
        let command = command.envs(more.iter().copied()).current_dir(self.folder.path().join("work"));
        let child = command.kill_on_drop(true).spawn(other).unwrap();
        let (mut output, input) = pty.into_split();
        let (sender, raw) = watch::channel(String::new());
        let mut reading = JoinSet::new();
        reading.spawn(async move {
            let mut buffer = [0; 4096];
            let mut bytes = Vec::new();
            // The terminal fails when the last program on it has ended.
            while let Ok(length @ 1..) = output.read(&mut buffer).await {
                bytes.extend_from_slice(&buffer[..length]);
                sender.send_replace(String::from_utf8_lossy(&bytes).into_owned());
            }
        });
        Terminal { child, input, raw, seen: 0, _reading: reading }
    }

    /// Starts it with an endpoint, and connects to that.
    pub(crate) async fn start_with_endpoint(&self) -> (Terminal, Endpoint) {
        let mut terminal = self.start(&["--a2a-port", "0"]);
        let shown = terminal.until("/ws").await;
        (terminal, Endpoint { address: address_in(&shown) })
    }
}

/// The address behind `http://`.
pub(crate) fn address_in(shown: &str) -> String {
    let (_, rest) = shown.split_once("http://").unwrap_or_else(|| panic!("{shown}"));
    rest.chars().take_while(|letter| letter.is_ascii_digit() || ".:".contains(*letter)).collect()
}

pub(crate) struct Terminal {
    pub(crate) child: Child,
    input: OwnedWritePty,
    raw: watch::Receiver<String>,
    /// Of the plain text, what `until` has returned.
    seen: usize,
    _reading: JoinSet<()>,
}

impl Terminal {
    /// Waits until the terminal shows `text` behind what was waited for before, and returns everything up to it.
    pub(crate) async fn until(&mut self, text: &str) -> String {
        let mut raw = self.raw.clone();
        let waiting = async {
            loop {
                let plain = plain(&raw.borrow_and_update());
                if let Some(at) = plain.get(self.seen..).and_then(|rest| rest.find(text)) {
                    let shown = plain[self.seen..][..at + text.len()].to_owned();
                    return (shown, self.seen + at + text.len());
                }
                if raw.changed().await.is_err() {
                    panic!("the terminal ended without {text:?}: {plain}");
                }
            }
        };
        let waited = timeout(WAIT_TIMEOUT, waiting).await;
        let (shown, seen) = waited.unwrap_or_else(|_| panic!("no {text:?} in {}", plain(&self.raw.borrow())));
        self.seen = seen;
        shown
    }

    /// Types a line once the prompt is there.
    pub(crate) async fn line(&mut self, line: &str) {
        self.press(&format!("{line}\r")).await;
        // The editor shows what was typed before anything comes of it.
        self.until(line).await;
    }

    /// Types keys once the prompt is there. The terminal itself would take what comes earlier.
    pub(crate) async fn press(&mut self, keys: &str) {
        self.until("> ").await;
        self.keys(keys).await;
    }

    pub(crate) async fn keys(&mut self, keys: &str) {
        self.bytes(keys.as_bytes()).await;
    }

    pub(crate) async fn bytes(&mut self, bytes: &[u8]) {
        self.input.write_all(bytes).await.unwrap();
    }

    pub(crate) fn resize(&self, rows: u16, columns: u16) {
        self.input.resize(Size::new(rows, columns)).unwrap();
    }

    /// Everything that was sent to the terminal.
    pub(crate) fn raw(&self) -> String {
        self.raw.borrow().clone()
    }

    /// Waits for the end: the exit code, and everything that was shown.
    pub(crate) async fn end(&mut self) -> (Option<i32>, String) {
        let ended = timeout(WAIT_TIMEOUT, self.child.wait()).await;
        let code = ended.unwrap_or_else(|_| panic!("it goes on: {}", plain(&self.raw.borrow()))).unwrap();
        // What was written last may still be read.
        while self.raw.changed().await.is_ok() {}
        (code.code(), plain(&self.raw()))
    }

    pub(crate) async fn kill(&mut self) {
        self.child.kill().await.unwrap();
        while self.raw.changed().await.is_ok() {}
    }
}

/// Without the sequences by which the editor moves the cursor.
pub(crate) fn plain(raw: &str) -> String {
    let mut out = String::new();
    let mut rest = raw.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\u{1b}' if rest.peek() == Some(&'[') => {
                rest.next();
                while rest.next().is_some_and(|letter| !('@'..='~').contains(&letter)) {}
            }
            '\r' => {}
            character => out.push(character),
        }
    }
    out
}

/// The live endpoint of a session.
pub(crate) struct Endpoint {
    pub(crate) address: String,
}

impl Endpoint {
    pub(crate) fn client(&self) -> TestClient {
        TestClient::of(&self.address)
    }

    pub(crate) async fn socket(&self) -> Socket {
        let connection = TcpStream::connect(&self.address).await.unwrap();
        let (socket, _) = client_async(format!("ws://{}/ws", self.address), connection).await.unwrap();
        Socket(socket)
    }
}

pub(crate) struct Socket(WebSocketStream<TcpStream>);

impl Socket {
    pub(crate) async fn prompt(&mut self, text: &str) {
        self.send(&message(json!({"text": text}))).await;
    }

    pub(crate) async fn answer(&mut self, call: &Value, option: &str) {
        let data = json!({
            "kind": "TOOL_CALL_CONFIRMATION", "tool_call_id": call, "selected_option_id": option,
        });
        self.send(&message(json!({"data": data}))).await;
    }

    async fn send(&mut self, message: &Value) {
        self.0.send(Frame::text(message.to_string())).await.unwrap();
    }

    /// Reads up to the first frame for which `enough` holds.
    pub(crate) async fn until(&mut self, enough: impl Fn(&Value) -> bool) -> Value {
        let mut read = Vec::new();
        let reading = async {
            loop {
                let frame = self.0.next().await.expect("the socket stays open").unwrap();
                if let Frame::Text(text) = frame {
                    let event: Value = serde_json::from_str(&text).unwrap();
                    if enough(&event) {
                        return event;
                    }
                    read.push(event);
                }
            }
        };
        match timeout(WAIT_TIMEOUT, reading).await {
            Ok(event) => event,
            Err(_) => panic!("it does not come: {read:#?}"),
        }
    }

    pub(crate) async fn question(&mut self) -> Value {
        self.until(|event| event.get("confirmation_request").is_some()).await
    }

    pub(crate) async fn idle(&mut self) -> Value {
        self.until(|event| event["state"] == "idle" && event["final"] == true).await
    }
}

pub(crate) fn message(content: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": {"message": {"content": content}}})
}
