//! Clients of other people on one session at once: all see the same events in the same order, also after a crash.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use attache_testkit::model_server::ModelServer;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::agent_world::{launch_with, says};
use crate::live::message;

/// Where `cargo xtask test` has installed the clients; none, with a printed notice, when they are not installed.
#[expect(clippy::print_stdout, reason = "the developer should see what was not tried")]
fn tools() -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the developer command tells where it has installed them")]
    let tools = std::env::var_os("ATTACHE_TEST_TOOLS").map(PathBuf::from);
    let tools = tools.filter(|tools| tools.join("live-js/node_modules/eventsource").exists());
    if tools.is_none() {
        println!("skipped: ATTACHE_TEST_TOOLS has no clients; `cargo xtask test` installs them and sets it");
    }
    tools
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Program {
    Wscat,
    Ws,
    Websockets,
    EventSource,
    Curl,
}

impl Program {
    const ALL: [Self; 5] = [Self::Wscat, Self::Ws, Self::Websockets, Self::EventSource, Self::Curl];
}

/// A program that follows a session and prints what it sees.
struct Client {
    program: Program,
    _child: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Client {
    fn start(program: Program, tools: &Path, address: &str, task: &str, after: Option<&str>) -> Self {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/live");
        let packages = tools.join("live-js");
        let after = after.map(|after| format!("after={after}")).unwrap_or_default();
        let socket = format!("ws://{address}/ws?taskId={task}&{after}");
        let events = format!("http://{address}/tasks/{task}/messages/stream?{after}");
        let mut command = match program {
            Program::Wscat => {
                let mut command = Command::new("node");
                command.arg(packages.join("node_modules/wscat/bin/wscat")).args([
                    "--no-color",
                    "-c",
                    &socket,
                ]);
                command
            }
            Program::Ws => {
                let mut command = Command::new("node");
                command.arg(scripts.join("follow.mjs")).arg(&socket);
                command
            }
            Program::Websockets => {
                let mut command = Command::new(tools.join("live-py/bin/python"));
                command.arg(scripts.join("follow.py")).arg(&socket);
                command
            }
            Program::EventSource => {
                let mut command = Command::new("node");
                command.arg(scripts.join("events.mjs")).arg(&events);
                command
            }
            Program::Curl => {
                let mut command = Command::new("curl");
                command.args(["-sN", &events]);
                command
            }
        };
        let (child, input, output) = spawn(command.env("PACKAGES", &packages));
        Self { program, _child: child, input, lines: BufReader::new(output).lines() }
    }

    async fn next(&mut self) -> Value {
        let reading = async {
            loop {
                let line = self.lines.next_line().await.unwrap();
                let line = line.unwrap_or_else(|| panic!("{:?} has ended", self.program));
                // What each program writes before a message, and around its prompt.
                if let Some(start) = line.find('{').filter(|_| line.contains("\"kind\""))
                    && !line.starts_with("id:")
                {
                    let end = line.rfind('}').unwrap();
                    return serde_json::from_str(&line[start..=end]).unwrap();
                }
            }
        };
        let program = self.program;
        tokio::time::timeout(Duration::from_secs(60), reading).await.unwrap_or_else(|_| panic!("{program:?}"))
    }

    /// All events to the end of the prompt.
    async fn activity(&mut self) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            events.push(self.next().await);
            if events.last().unwrap()["final"] == true {
                return events;
            }
        }
    }
}

fn spawn(command: &mut Command) -> (Child, ChildStdin, ChildStdout) {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    (child, input, output)
}

/// What a client of the A2A SDK reads, from its first state on.
struct SdkClient {
    _child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl SdkClient {
    async fn start(tools: &Path, url: &str, task: &str) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/live/sdk.mjs");
        let mut command = Command::new("node");
        command.arg(script).args([url, task]).env("PACKAGES", tools.join("live-js"));
        let (child, _, output) = spawn(&mut command);
        let mut lines = BufReader::new(output).lines();
        let first = tokio::time::timeout(Duration::from_secs(60), lines.next_line()).await;
        let first = first.expect("the task in time").unwrap().expect("the task");
        assert!(first.contains("state"), "{first}");
        Self { _child: child, lines }
    }

    /// The states and the pieces of the answer, until the stream ends.
    async fn events(mut self) -> Vec<Value> {
        let mut events = Vec::new();
        let reading = async {
            while let Some(line) = self.lines.next_line().await.unwrap() {
                events.push(serde_json::from_str(&line).unwrap());
            }
        };
        tokio::time::timeout(Duration::from_secs(60), reading).await.expect("the answer in time");
        events
    }
}

/// What a client of plain A2A sees of the events of the live endpoint, in the same order.
fn as_plain_a2a(events: &[Value]) -> Vec<Value> {
    let plain = |event: &Value| match event["kind"].as_str()? {
        "TEXT_CONTENT" => Some(json!({"text": event["content"]["text"]})),
        "STATE_CHANGE" if event["state"] == "idle" => Some(json!({"state": "input-required"})),
        "STATE_CHANGE" => Some(json!({"state": event["state"]})),
        _ => None,
    };
    events.iter().filter_map(plain).collect()
}

fn text(events: &[Value]) -> String {
    let texts = events.iter().filter(|event| event["kind"] == "TEXT_CONTENT");
    texts.map(|event| event["content"]["text"].as_str().unwrap()).collect()
}

/// Starts every program and waits until each follows the session.
async fn start_all(tools: &Path, address: &str, task: &str) -> Vec<Client> {
    let mut clients: Vec<_> =
        Program::ALL.into_iter().map(|program| Client::start(program, tools, address, task, None)).collect();
    for client in &mut clients {
        assert_eq!(client.next().await["kind"], "STATE_CHANGE", "{:?}", client.program);
    }
    clients
}

/// What all of them see of one prompt.
async fn seen_by_all(clients: &mut [Client]) -> Vec<Value> {
    let mut seen: Option<Vec<Value>> = None;
    for client in clients {
        let events = client.activity().await;
        let first = seen.get_or_insert_with(|| events.clone());
        assert_eq!(events, *first, "{:?}", client.program);
    }
    seen.unwrap()
}

#[tokio::test]
async fn all_see_the_same_in_the_same_order_and_read_on_after_a_crash() {
    let Some(tools) = tools() else { return };
    let model = ModelServer::with_responses([says("First."), says("Second."), says("Third.")]);
    let launch = launch_with(&model).argument("--live");
    let server = launch.start().await;
    let created = server.client().post("/tasks", &json!({})).await.json();
    let task = created["taskId"].as_str().unwrap().to_owned();
    let mut clients = start_all(&tools, server.address(), &task).await;
    let sdk = SdkClient::start(&tools, server.url(), &task).await;

    // A prompt typed into wscat.
    let typed = message(json!({"text": "One"})).to_string() + "\n";
    clients[0].input.write_all(typed.as_bytes()).await.unwrap();
    let first = seen_by_all(&mut clients).await;
    assert_eq!((text(&first), &first[0]["kind"]), ("First.".into(), &json!("USER_PROMPT")));
    assert_eq!(sdk.events().await, as_plain_a2a(&first), "the client of A2A sees the same");

    // A prompt by curl, with its default type.
    let body = message(json!({"text": "Two"})).to_string();
    let url = format!("{}/tasks/{task}/messages/stream", server.url());
    let mut curl = Command::new("curl");
    let posted = curl.args(["-sN", &url, "-d", &body]).output().await.unwrap();
    let posted = String::from_utf8(posted.stdout).unwrap();
    let second = seen_by_all(&mut clients).await;
    assert_eq!(text(&second), "Second.");
    assert!(second[0]["client"].as_str().unwrap().starts_with("curl/"), "{second:#?}");
    let lines = posted.lines().filter_map(|line| line.strip_prefix("data: "));
    let posted: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(posted, second, "its own stream shows the same");

    server.kill().await;
    drop(clients);
    let server = launch.start().await;
    // Each was cut off somewhere else.
    let all: Vec<Value> = first.iter().chain(&second).cloned().collect();
    let mut clients = Vec::new();
    for (place, program) in Program::ALL.into_iter().enumerate() {
        let last = &all[place + 1];
        let after = last["cursor"].as_str();
        let mut client = Client::start(program, &tools, server.address(), &task, after);
        let mut missed = Vec::new();
        while missed.len() < all.len() - place - 2 {
            missed.push(client.next().await);
        }
        assert_eq!(missed, all[place + 2..], "{program:?} reads on after {after:?}");
        clients.push(client);
    }
    let sdk = SdkClient::start(&tools, server.url(), &task).await;
    let path = format!("/tasks/{task}/messages/stream");
    server.client().post_stream(&path, &message(json!({"text": "Three"}))).await.rest().await;
    let third = seen_by_all(&mut clients).await;
    assert_eq!(text(&third), "Third.");
    assert_eq!(sdk.events().await, as_plain_a2a(&third));
}
