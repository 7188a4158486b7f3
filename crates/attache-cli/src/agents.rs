//! `attache agents`: the subagents that agent files define.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use attache_config::Flags;
use attache_workspace::agent_files::{AgentDefinition, AgentKind, CardSource, LoadedAgents};
use attache_workspace::{AgentFlags, ChosenBy, Project, ProjectQuery, visible};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::ProcessContext;
use crate::report::with_hint;

const SWITCH: &str = "set {\"experimental\": {\"enableAgents\": true}} in ~/.gemini/settings.json";

#[derive(Debug, Args)]
pub struct AgentsArguments {
    #[command(subcommand)]
    command: Option<AgentsCommand>,
    #[command(flatten)]
    place: PlaceArguments,
}

#[derive(Debug, Subcommand)]
enum AgentsCommand {
    /// Show the agents that can be used in this folder, and what is wrong with agent files
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one agent
    Show {
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
struct PlaceArguments {
    /// Folder that it is about [default: the current one]
    #[arg(long, value_name = "FOLDER", global = true)]
    workspace: Option<PathBuf>,
    /// Settings file of the server; see docs/settings.md
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
}

/// Fails when an agent file is wrong, after showing the others.
pub fn run(arguments: AgentsArguments, process: ProcessContext<'_>) -> anyhow::Result<ExitCode> {
    let project = read_project(arguments.place, process)?;
    let Some(agents) = &project.agents else {
        let error = anyhow::anyhow!("agents are switched off");
        return Err(with_hint(error, SWITCH));
    };
    match arguments.command.unwrap_or(AgentsCommand::List { json: false }) {
        AgentsCommand::List { json: true } => print(&pretty(&list_json(agents)))?,
        AgentsCommand::List { json: false } => list(&project, agents)?,
        AgentsCommand::Show { name, json } => match agents.find(&name) {
            Some(agent) if json => print(&pretty(&agent_json(agent)))?,
            Some(agent) => print(&description(agent))?,
            None => {
                let error = anyhow::anyhow!("there is no agent {:?} here", visible(&name));
                return Err(with_hint(error, "`attache agents` lists them"));
            }
        },
    }
    Ok(if agents.errors.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn read_project(place: PlaceArguments, process: ProcessContext<'_>) -> anyhow::Result<Project> {
    let ProcessContext { current_dir, environment } = process;
    let flags = Flags { config: place.config, workspace: place.workspace, ..Flags::default() };
    let operator = attache_workspace::load_operator(flags, environment, current_dir)?;
    let query = ProjectQuery {
        folder: operator.workspace.as_path(),
        chosen_by: ChosenBy::Operator,
        flags: &AgentFlags::default(),
        environment,
        operator: &operator,
    };
    Ok(Project::read(query)?)
}

/// Whether a word is the name of an agent rather than an address.
pub(crate) fn is_agent_name(word: &str) -> bool {
    let is_plain = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '-' | '_');
    word != "localhost" && !word.is_empty() && word.chars().all(is_plain)
}

/// The agent of this name in the current folder.
pub(crate) fn find_agent(name: &str, process: ProcessContext<'_>) -> anyhow::Result<AgentDefinition> {
    let project = read_project(PlaceArguments { workspace: None, config: None }, process)?;
    let address = "an agent that has no file is called by its address, as https://HOST";
    let Some(agents) = &project.agents else {
        let error = anyhow::anyhow!("{name} is no address, and agents are switched off");
        return Err(with_hint(error, format!("{SWITCH}; {address}")));
    };
    if let Some(agent) = agents.find(name) {
        return Ok(agent.clone());
    }
    let error = anyhow::anyhow!("there is no agent {name} here");
    let hint = match project.notice() {
        Some(notice) => notice,
        None => format!("`attache agents` lists them; {address}"),
    };
    Err(with_hint(error, hint))
}

fn list(project: &Project, agents: &LoadedAgents) -> anyhow::Result<()> {
    if agents.agents.is_empty() && agents.errors.is_empty() {
        print("No agents are defined. They are Markdown files in ~/.gemini/agents and .gemini/agents.")?;
    }
    let width = agents.agents.iter().map(|agent| agent.name.len()).max().unwrap_or(0);
    for agent in &agents.agents {
        let what = agent.description.as_deref().or(agent.display_name.as_deref()).unwrap_or_default();
        let what = if what.is_empty() { String::new() } else { format!("  {}", first_line(what)) };
        let (kind, scope) = (agent.kind.name(), agent.scope.name());
        print(format!("{:<width$}  {kind:<6}  {scope:<7}  {}{what}", agent.name, target(agent)).trim_end())?;
    }
    let notes = agents.errors.iter().map(ToString::to_string).chain(agents.warnings.iter().cloned());
    for note in notes.chain(project.notice()) {
        warn(&note);
    }
    Ok(())
}

/// Where a remote agent is.
fn target(agent: &AgentDefinition) -> String {
    match &agent.kind {
        AgentKind::Local(_) => "-".to_owned(),
        AgentKind::Remote(remote) => match &remote.card {
            CardSource::Url(url) => visible(url),
            CardSource::Inline(_) => "card in the file".to_owned(),
        },
    }
}

fn description(agent: &AgentDefinition) -> String {
    let mut rows = vec![("name", agent.name.clone()), ("kind", agent.kind.name().to_owned())];
    rows.extend(agent.display_name.iter().map(|name| ("display name", first_line(name))));
    rows.extend(agent.description.iter().map(|text| ("description", first_line(text))));
    match &agent.kind {
        AgentKind::Remote(remote) => {
            rows.push(("card", target(agent)));
            let auth = remote.auth.as_ref().map_or("none", |auth| auth.name());
            rows.push(("authentication", auth.to_owned()));
        }
        AgentKind::Local(local) => {
            let tools = local.tools.as_ref().map_or("all".to_owned(), |tools| tools.join(", "));
            rows.push(("tools", visible(&tools)));
            rows.push(("note", "local agents are checked, and cannot be run yet".to_owned()));
        }
    }
    rows.push(("file", visible(&format!("{}:{}", agent.path.display(), agent.line))));
    rows.push(("defined by", agent.scope.name().to_owned()));
    let lines: Vec<String> = rows.into_iter().map(|(name, value)| format!("{name:<14}  {value}")).collect();
    lines.join("\n")
}

fn first_line(text: &str) -> String {
    visible(text.trim().lines().next().unwrap_or_default())
}

fn list_json(agents: &LoadedAgents) -> Value {
    let errors: Vec<Value> = agents
        .errors
        .iter()
        .map(|error| json!({"file": error.path, "line": error.line, "message": error.message}))
        .collect();
    let all: Vec<Value> = agents.agents.iter().map(agent_json).collect();
    json!({"agents": all, "errors": errors, "warnings": agents.warnings})
}

fn agent_json(agent: &AgentDefinition) -> Value {
    let mut value = json!({
        "name": agent.name, "kind": agent.kind.name(), "scope": agent.scope.name(), "file": agent.path,
        "line": agent.line, "displayName": agent.display_name, "description": agent.description,
    });
    if let AgentKind::Remote(remote) = &agent.kind {
        value["auth"] = json!(remote.auth.as_ref().map(|auth| auth.name()));
        match &remote.card {
            CardSource::Url(url) => value["agentCardUrl"] = json!(url),
            CardSource::Inline(card) => value["agentCard"] = card.clone(),
        }
    }
    value
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    if let Err(error) = writeln!(out, "{text}").and_then(|()| out.flush())
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        bail!("cannot write to standard output: {error}");
    }
    Ok(())
}

#[expect(clippy::print_stderr, reason = "stderr is where commands talk to people")]
fn warn(text: &str) {
    eprintln!("[WARNING] {text}");
}
