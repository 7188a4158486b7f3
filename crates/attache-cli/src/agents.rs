//! `attache agents`: manages the agents of agent files and settings.

mod arguments;
mod ask;
mod auth;
mod list;
mod reset;
mod show;
mod switch;
mod test;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::bail;
use attache_config::Flags;
use attache_help::Manual;
use attache_workspace::agent_files::{AgentDefinition, AgentFileError, BUILT_IN_AGENTS, LoadedAgents};
use attache_workspace::{AgentFlags, ChosenBy, Project, ProjectQuery, visible};

use crate::ProcessContext;
use crate::printable::write_pretty_json;
use crate::report::with_hint;
use crate::standard_streams::{stdout, tell};
pub use arguments::AgentsArguments;
use arguments::{AgentsCommand, FolderArguments};
pub(crate) use ask::built_in_answer;

const SWITCH: &str = "set {\"experimental\": {\"enableAgents\": true}} in ~/.gemini/settings.json";

/// `manual` answers the questions that the built-in agent is asked.
pub fn run(
    arguments: AgentsArguments,
    process: ProcessContext<'_>,
    manual: &Manual,
) -> anyhow::Result<ExitCode> {
    let AgentsArguments { command, place } = arguments;
    let project = || read_project(place, process);
    match command.unwrap_or(AgentsCommand::List { json: false }) {
        AgentsCommand::List { json } => list::run(&project()?, json),
        AgentsCommand::Reload { json } => list::reload(&project()?, json),
        AgentsCommand::Show { name, json } => show::run(&project()?, &name, json),
        AgentsCommand::Enable { name, scope, json } => switch::run(&project()?, &name, true, scope, json),
        AgentsCommand::Disable { name, scope, json } => switch::run(&project()?, &name, false, scope, json),
        AgentsCommand::Ask { name, text } => ask::run(&project()?, manual, &name, &text),
        AgentsCommand::Reset(arguments) => reset::run(&arguments, process.environment),
        AgentsCommand::Test { name, json } => {
            let project = project()?;
            let agent = loaded(&project)?.find(&name).ok_or_else(|| not_found(&project, &name))?;
            test::run(agent, json, process)
        }
        AgentsCommand::Auth(arguments) => {
            let project = project()?;
            let agents = loaded(&project)?;
            let agent = agents.find(&arguments.name).ok_or_else(|| not_found(&project, &arguments.name))?;
            auth::run(agent, &arguments, process)
        }
    }
}

fn read_project(place: FolderArguments, process: ProcessContext<'_>) -> anyhow::Result<Project> {
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

/// The agents that files define, or the error that agents are switched off.
fn loaded(project: &Project) -> anyhow::Result<&LoadedAgents> {
    let off = || with_hint(anyhow::anyhow!("agents are switched off"), SWITCH);
    project.agents.as_ref().ok_or_else(off)
}

/// Whether a word is the name of an agent rather than an address.
pub(crate) fn is_agent_name(word: &str) -> bool {
    let is_plain = |letter: char| matches!(letter, 'a'..='z' | '0'..='9' | '-' | '_');
    word != "localhost" && !word.is_empty() && word.chars().all(is_plain)
}

/// The agent of this name in the current folder.
pub(crate) fn find_agent(name: &str, process: ProcessContext<'_>) -> anyhow::Result<AgentDefinition> {
    let project = read_project(FolderArguments::default(), process)?;
    let address = "an agent that has no file is called by its address, as https://HOST";
    let Some(agents) = &project.agents else {
        let error = anyhow::anyhow!("{name} is no address, and agents are switched off");
        return Err(with_hint(error, format!("{SWITCH}; {address}")));
    };
    if let Some(agent) = agents.find(name) {
        return Ok(agent.clone());
    }
    if agents.find_any(name).is_some() {
        let error = anyhow::anyhow!("the agent {name} is disabled");
        return Err(with_hint(error, format!("`attache agents enable {name}` enables it")));
    }
    if let Some(error) = agents.error_about(name) {
        return Err(broken(name, error));
    }
    let error = anyhow::anyhow!("there is no agent {name} here");
    let hint = match project.notice() {
        Some(notice) => notice,
        None => format!("`attache agents` lists them; {address}"),
    };
    Err(with_hint(error, hint))
}

/// The error that no agent has this name, with a hint.
fn not_found(project: &Project, name: &str) -> anyhow::Error {
    let error = anyhow::anyhow!("there is no agent {:?} here", visible(name));
    if let Some(error) = project.agents.as_ref().and_then(|agents| agents.error_about(name)) {
        return broken(&visible(name), error);
    }
    match &project.agents {
        None => with_hint(error, SWITCH),
        Some(agents) if agents.unaccepted.iter().any(|agent| agent.name == name) => {
            with_hint(error, "the project has one of this name; `attache trust` shows it and accepts it")
        }
        Some(_) => with_hint(error, "`attache agents` lists them"),
    }
}

/// The error that the file of an agent is wrong.
fn broken(name: &str, error: &AgentFileError) -> anyhow::Error {
    with_hint(
        anyhow::anyhow!("the agent {name} cannot be used: {error}"),
        "`attache agents` names all mistakes",
    )
}

pub(crate) fn is_built_in(name: &str) -> bool {
    BUILT_IN_AGENTS.iter().any(|agent| agent.name == name)
}

fn first_line(text: &str) -> String {
    visible(text.trim().lines().next().unwrap_or_default())
}

fn print_json(value: &serde_json::Value) -> anyhow::Result<()> {
    let mut text = Vec::new();
    write_pretty_json(&mut text, value)?;
    print(&String::from_utf8_lossy(&text))
}

pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    if let Err(error) = writeln!(out, "{text}").and_then(|()| out.flush())
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        bail!("cannot write to standard output: {error}");
    }
    Ok(())
}

fn warn(text: &str) {
    tell(format_args!("[WARNING] {text}"));
}
