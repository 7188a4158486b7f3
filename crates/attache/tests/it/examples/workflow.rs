//! A workflow over three agents on the SDKs of other people: two are asked at the same time, the third gets their answers.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::clients::node;
use super::{PATIENCE, example, installed};

const PROMPT: &str = "Plan a picnic";
const INVITATION: &str = "Come to our picnic on Sunday! The sun will shine.";

/// An agent that ends with the test.
struct Peer {
    url: String,
    _child: Child,
}

impl Peer {
    /// Returns once the agent says where it listens.
    async fn start(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = timeout(PATIENCE, lines.next_line()).await.expect("it starts in time").unwrap();
        let line = line.unwrap_or_else(|| panic!("{command:?} says nothing"));
        let url = line.split_once("listening on ").unwrap_or_else(|| panic!("{line}")).1.to_owned();
        Self { url, _child: child }
    }
}

/// The three agents, and the project that names them.
struct Team {
    folder: TempDir,
    peers: Vec<Peer>,
}

impl Team {
    /// None if the SDKs are not installed.
    async fn start() -> Option<Self> {
        let (python, packages) = (installed("workflow-py")?, installed("workflow-js")?);
        let folder = tempfile::tempdir().unwrap();
        let mut peers = Vec::new();
        for name in ["calendar", "weather"] {
            let mut command = Command::new(python.join("bin/python"));
            command.arg(fs::canonicalize(example("workflow/agents.py")).unwrap()).args([name, "0"]);
            peers.push(Peer::start(command).await);
        }
        for name in ["writer.mjs", "package.json"] {
            fs::copy(example("workflow").join(name), folder.path().join(name)).unwrap();
        }
        symlink(packages.join("node_modules"), folder.path().join("node_modules")).unwrap();
        let mut command = node(&packages);
        command.args(["writer.mjs", "0"]).current_dir(folder.path());
        peers.push(Peer::start(command).await);
        let team = Self { folder, peers };
        team.write_project();
        Some(team)
    }

    /// The project of the example, with the ports that the agents have here.
    fn write_project(&self) {
        let (from, to) = (example("workflow/project/.gemini"), self.project().join(".gemini"));
        fs::create_dir_all(to.join("agents")).unwrap();
        fs::copy(from.join("settings.json"), to.join("settings.json")).unwrap();
        let mut text = fs::read_to_string(from.join("agents/team.md")).unwrap();
        for (number, peer) in self.peers.iter().enumerate() {
            let known = format!("http://127.0.0.1:910{}", number + 1);
            assert!(text.contains(&known), "{known} in {text}");
            text = text.replace(&known, &peer.url);
        }
        fs::write(to.join("agents/team.md"), text).unwrap();
    }

    fn project(&self) -> std::path::PathBuf {
        self.folder.path().join("project")
    }

    async fn run(&self, arguments: &[&str]) -> String {
        let script =
            format!("script:{}", fs::canonicalize(example("workflow/script.yaml")).unwrap().display());
        let mut program = Command::new(env!("CARGO_BIN_EXE_attache"));
        program.args(["-p", PROMPT, "--trust", "--model", &script]).args(arguments);
        program.env_clear().env("HOME", self.folder.path()).env("PATH", "/usr/bin:/bin");
        program.current_dir(self.project()).stdin(Stdio::null()).kill_on_drop(true);
        let output = timeout(PATIENCE, program.output()).await.expect("it ends in time").unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
        text(&output.stdout)
    }
}

#[tokio::test]
async fn two_agents_are_asked_at_once_and_the_third_gets_their_answers() {
    let Some(team) = Team::start().await else { return };
    let said = team.run(&["--yolo"]).await;
    assert!(said.starts_with("I ask for the free days and for the weather."), "{said}");
    assert!(said.contains(INVITATION), "{said}");
    let page = fs::read_to_string(example("workflow/README.md")).unwrap();
    assert!(page.contains(said.trim()), "the page shows what is printed: {said}");
    let events = team.run(&["--yolo", "--output-format", "stream-json"]).await;
    let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let order: Vec<String> = events.iter().filter_map(step).collect();
    assert_eq!(
        order[..2],
        ["uses calendar", "uses weather"],
        "both are asked before one has answered: {order:?}"
    );
    assert_eq!(order.iter().filter(|step| *step == "result").count(), 3, "{order:?}");
    assert_eq!(order[4], "uses writer", "{order:?}");
}

/// What an event of the run says about an agent.
fn step(event: &Value) -> Option<String> {
    match event["type"].as_str()? {
        "tool_use" => Some(format!("uses {}", event["parameters"]["agent_name"].as_str()?)),
        "tool_result" => Some("result".to_owned()),
        _ => None,
    }
}

#[test]
fn the_example_is_short() {
    for name in ["agents.py", "writer.mjs"] {
        let lines = fs::read_to_string(Path::new(&example("workflow")).join(name)).unwrap().lines().count();
        assert!(lines < 100, "{name} has {lines} lines");
    }
}
