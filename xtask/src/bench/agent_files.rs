//! Measures the start with many agent files whose agents cannot be reached.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::Instant;

use super::figure::{Figure, TargetOutcome};
use super::server::Server;
use super::statistics::median_of;
use super::workbench::Workbench;

const FILES: usize = 100;
const STARTS: usize = 11;
const CARD: &str = "/.well-known/agent-card.json";
/// What the terminal shows once it takes a prompt.
const PROMPT: &str = "> ";
const SETTINGS: &str = r#"{"experimental": {"enableAgents": true}}"#;

pub(super) fn measure(workbench: &Workbench) -> Result<Vec<Figure>, String> {
    // It takes connections and never answers; the other half of the agents refuses connections.
    let silent = TcpListener::bind("127.0.0.1:0").map_err(|error| format!("a silent agent: {error}"))?;
    let silent = silent.local_addr().map_err(|error| format!("its address: {error}"))?;
    let home = workbench.folder.join("agent-files");
    let agents = home.join(".gemini/agents");
    let written = fs::create_dir_all(&agents)
        .and_then(|()| fs::write(home.join(".gemini/settings.json"), SETTINGS))
        .and_then(|()| {
            (0..FILES).try_for_each(|number| {
                let address = if number % 2 == 0 { silent.to_string() } else { "127.0.0.1:1".to_owned() };
                let text = format!(
                    "---\nkind: remote\nname: agent-{number}\ndescription: Number {number}.\n\
                     agent_card_url: http://{address}/card-{number}.json\n---\n"
                );
                fs::write(agents.join(format!("agent-{number}.md")), text)
            })
        });
    written.map_err(|error| format!("the agent files: {error}"))?;
    let home = home.to_string_lossy().into_owned();
    let mut prompts = Vec::new();
    let mut cards = Vec::new();
    // The first of each makes the files that later starts find.
    for number in 0..=STARTS {
        let (prompt, card) = (until_prompt(workbench, &home)?, until_card(workbench, &home)?);
        if number > 0 {
            prompts.push(prompt);
            cards.push(card);
        }
    }
    let figure = |name: &str, times: &[f64]| {
        let median = median_of(times, |time| *time);
        let slowest = times.iter().copied().fold(0.0, f64::max);
        Figure {
            name: name.to_owned(),
            target: "< 200 ms".to_owned(),
            attache: format!("{median:.1} ms (slowest {slowest:.1} ms)"),
            compared: None,
            ratio: None,
            load_cpu: None,
            outcome: TargetOutcome::when(slowest < 200.0),
        }
    };
    Ok(vec![
        figure("terminal: start to prompt, 100 agent files, no agent reachable", &prompts),
        figure("server: start to first served card, the same files", &cards),
    ])
}

/// `script` gives the program a terminal.
fn until_prompt(workbench: &Workbench, home: &str) -> Result<f64, String> {
    let failed = |error: std::io::Error| format!("a terminal: {error}");
    let line = format!("{} --model offline", workbench.attache_path());
    let mut command = Command::new("script");
    command.args(["--quiet", "--flush", "--command", &line, "/dev/null"]);
    command
        .env_clear()
        .env("HOME", home)
        .env("PATH", "/usr/bin:/bin")
        .env("TERM", "xterm")
        .env("NO_COLOR", "1");
    command.current_dir(home).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let started = Instant::now();
    let mut child = command.spawn().map_err(failed)?;
    let mut output = child.stdout.take().ok_or("a terminal has no output")?;
    let (mut shown, mut buffer) = (Vec::new(), [0; 4096]);
    while !String::from_utf8_lossy(&shown).contains(PROMPT) {
        match output.read(&mut buffer).map_err(failed)? {
            0 => return Err(format!("no prompt came: {}", String::from_utf8_lossy(&shown))),
            length => shown.extend_from_slice(&buffer[..length]),
        }
    }
    let milliseconds = started.elapsed().as_secs_f64() * 1000.0;
    // The end of the input ends the session.
    drop(child.stdin.take());
    let _ = output.read_to_end(&mut shown);
    child.wait().map_err(failed)?;
    Ok(milliseconds)
}

fn until_card(workbench: &Workbench, home: &str) -> Result<f64, String> {
    let mut command = Command::new(workbench.attache_path());
    command.env_clear().env("HOME", home).current_dir(home);
    command.args(["serve", "--port", "0", "--model", "offline"]);
    let started = Instant::now();
    let server = Server::start(&mut command)?;
    server.get(CARD)?;
    let milliseconds = started.elapsed().as_secs_f64() * 1000.0;
    server.stop()?;
    Ok(milliseconds)
}
