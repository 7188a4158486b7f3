//! Finds the agent files of a project and of its user, and says which agents count.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use attache_config::SettingOrigin;
use sha2::{Digest, Sha256};

use super::auth::AgentAuth;
use super::built_in;
use super::definition::{AgentDefinition, AgentKind, AgentScope, CardDefinition};
use super::dynamic_value::DynamicValue;
use super::parse::{ParseFailure, parse};
use crate::read_file::read_text;
use crate::{AgentOverrides, Allowance, HomeFolders, ProjectReport, ProjectTrust, extensions, file_stamps};

/// Of a folder. More are not read, and that is an error.
const MAX_FILES: usize = 256;
const MAX_FILE_BYTES: u64 = 256 << 10;

/// The agents that count, and what is wrong with the files of others.
#[derive(Debug, Default)]
pub struct LoadedAgents {
    /// Those that can be used: of the project first, then of the user, then of extensions; every name once.
    pub agents: Vec<AgentDefinition>,
    /// Those that `agents.overrides` switches off.
    pub disabled: Vec<DisabledAgent>,
    /// Those of the project that no person has accepted.
    pub unaccepted: Vec<AgentDefinition>,
    pub errors: Vec<AgentFileError>,
    /// What is passed over, in sentences for people.
    pub warnings: Vec<String>,
}

/// An agent that is switched off, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct DisabledAgent {
    pub agent: AgentDefinition,
    pub origin: SettingOrigin,
}

/// A file that defines no agents, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFileError {
    pub path: PathBuf,
    pub line: u32,
    pub message: String,
    /// The names that the file seems to define, right or wrong.
    pub names: Vec<String>,
}

impl fmt::Display for AgentFileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = crate::visible(&self.path.display().to_string());
        write!(formatter, "Failed to load agent from {path}: {}", self.message)
    }
}

/// Where agent files are, and what counts of them.
#[derive(Clone, Copy)]
pub(crate) struct AgentSources<'a> {
    pub(crate) project_trust: &'a ProjectTrust,
    pub(crate) homes: &'a HomeFolders,
    pub(crate) overrides: &'a AgentOverrides,
    /// Absolute and without links.
    pub(crate) root: &'a Path,
}

/// The agents that count in a folder, and a report about those of the project. A project's agent counts in a trusted folder
/// once a person has accepted it.
pub(crate) fn load(sources: AgentSources<'_>) -> (LoadedAgents, ProjectReport) {
    let AgentSources { project_trust, homes, overrides, root } = sources;
    let (mut loaded, mut report) = (LoadedAgents::default(), ProjectReport::default());
    let mut found: Vec<AgentDefinition> = Vec::new();
    if let Some(folder) = project_folder(homes, root) {
        for file in read_folder(&folder, Some(root), AgentScope::Project) {
            match file {
                Ok((agents, digest)) => {
                    for agent in agents {
                        let allowance = allowance(&agent, &digest);
                        let counts = project_trust.admits(&allowance);
                        report.allowances.push((allowance, counts));
                        if counts { found.push(agent) } else { loaded.unaccepted.push(agent) }
                    }
                }
                // The files of a folder that is not trusted do not count, so their mistakes are not reported.
                Err(error) if project_trust.is_trusted() => loaded.errors.push(error),
                Err(_) => {}
            }
        }
    }
    let user = user_folder(homes).into_iter().flat_map(|folder| read_folder(&folder, None, AgentScope::User));
    let extensions = extensions::installed(homes, root).into_iter().filter(|extension| extension.enabled);
    let of_extensions = extensions.flat_map(|extension| {
        read_folder(&extension.folder.join("agents"), Some(&extension.folder), AgentScope::Extension)
    });
    for file in user.chain(of_extensions) {
        match file {
            Ok((agents, _)) => found.extend(agents),
            Err(error) => loaded.errors.push(error),
        }
    }
    found.into_iter().for_each(|agent| loaded.add(agent, overrides));
    (loaded, report)
}

/// How many agent files there are, whether they count or not.
pub(crate) fn count_files(project_trust: &ProjectTrust, homes: &HomeFolders, root: &Path) -> usize {
    let project = project_folder(homes, root).filter(|_| project_trust.is_trusted());
    let extensions = extensions::installed(homes, root).into_iter().filter(|extension| extension.enabled);
    let of_extensions = extensions.map(|extension| extension.folder.join("agents"));
    let folders = project.into_iter().chain(user_folder(homes)).chain(of_extensions);
    folders.map(|folder| list(&folder).map_or(0, |paths| paths.len())).sum()
}

fn project_folder(homes: &HomeFolders, root: &Path) -> Option<PathBuf> {
    let own = root.join(".gemini").join("agents");
    (Some(&own) != user_folder(homes).as_ref()).then_some(own)
}

fn user_folder(homes: &HomeFolders) -> Option<PathBuf> {
    homes.gemini().map(|gemini| gemini.join("agents"))
}

impl LoadedAgents {
    /// The first of a name counts, and those that are built in come before all others.
    fn add(&mut self, mut agent: AgentDefinition, overrides: &AgentOverrides) {
        agent.tls = overrides.tls(&agent.name).cloned();
        agent.signatures = overrides.signatures(&agent.name).cloned();
        if built_in::find(&agent.name).is_some() {
            let (shown, name) = (place(&agent), &agent.name);
            self.warnings.push(format!("{shown} defines {name} and is passed over; {name} is built in"));
            return;
        }
        if let Some(known) = self.find_any(&agent.name) {
            let (shown, first) = (place(&agent), place(known));
            let name = &agent.name;
            self.warnings.push(format!("{shown} defines {name} again and is passed over; {first} counts"));
            return;
        }
        let why = match agent.kind {
            AgentKind::Remote(_) => "a remote agent runs elsewhere",
            AgentKind::Local(_) => "local agents cannot be run yet",
        };
        for (member, origin) in overrides.unused(&agent.name) {
            let name = &agent.name;
            self.warnings.push(format!("{origin}: agents.overrides.{name}.{member} has no effect: {why}"));
        }
        if let Some(unused) = auth_of(&agent).and_then(AgentAuth::unused) {
            self.warnings.push(format!("{}: {unused}", place(&agent)));
        }
        match overrides.disabled_in(&agent.name) {
            Some(origin) => self.disabled.push(DisabledAgent { agent, origin: origin.clone() }),
            None => self.agents.push(agent),
        }
    }

    /// The agent of this name, if it can be used.
    pub fn find(&self, name: &str) -> Option<&AgentDefinition> {
        self.agents.iter().find(|agent| agent.name == name)
    }

    /// What is wrong with the file that seems to define an agent of this name.
    pub fn error_about(&self, name: &str) -> Option<&AgentFileError> {
        self.errors.iter().find(|error| error.names.iter().any(|known| known == name))
    }

    /// The agent of this name, also if it is switched off.
    pub fn find_any(&self, name: &str) -> Option<&AgentDefinition> {
        let disabled = || self.disabled.iter().map(|disabled| &disabled.agent);
        self.find(name).or_else(|| disabled().find(|agent| agent.name == name))
    }
}

fn auth_of(agent: &AgentDefinition) -> Option<&AgentAuth> {
    match &agent.kind {
        AgentKind::Remote(remote) => remote.auth.as_ref(),
        AgentKind::Local(_) => None,
    }
}

fn place(agent: &AgentDefinition) -> String {
    crate::visible(&format!("{}:{}", agent.path.display(), agent.line))
}

type ReadFile = Result<(Vec<AgentDefinition>, String), AgentFileError>;

/// Each file's agents and the hash of its text, in the order of their names.
fn read_folder(folder: &Path, beneath: Option<&Path>, scope: AgentScope) -> Vec<ReadFile> {
    file_stamps::content(folder);
    let failed =
        |message: String| AgentFileError { path: folder.to_owned(), line: 0, message, names: Vec::new() };
    let mut paths = match list(folder) {
        Ok(paths) => paths,
        Err(error) => return vec![Err(failed(format!("the folder cannot be read: {error}")))],
    };
    let too_many = paths.get(MAX_FILES).map(|first| {
        let (all, first) = (paths.len(), first.file_name().unwrap_or_default().display());
        Err(failed(format!("it has {all} agent files and {MAX_FILES} are read, those before {first}")))
    });
    paths.truncate(MAX_FILES);
    paths.into_iter().map(|path| read(path, beneath, scope)).chain(too_many).collect()
}

fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        entries => entries?,
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| is_agent_file(&entry.ok()?.path())).collect();
    paths.sort();
    Ok(paths)
}

fn is_agent_file(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let is_one = name.ends_with(".md") && !name.starts_with(['_', '.']) && path.is_file();
    is_one.then(|| path.to_owned())
}

fn read(path: PathBuf, beneath: Option<&Path>, scope: AgentScope) -> ReadFile {
    let failed = |text: &str, line, message| {
        let names = names_in(&path, text);
        AgentFileError { path: path.clone(), line, message, names }
    };
    let text = match read_text(&path, MAX_FILE_BYTES, beneath) {
        Ok(text) => text.unwrap_or_default(),
        Err(error) => return Err(failed("", 0, error.to_string())),
    };
    let failed = |line, message| failed(&text, line, message);
    let agents = parse(&text, &path, scope).map_err(|failure| match failure {
        ParseFailure::Unreadable(line, message) => failed(line, format!("{message} (line {line})")),
        ParseFailure::Invalid(what, problems) => {
            let lines: Vec<String> = problems
                .iter()
                .map(|problem| format!("\n  {} (line {})", problem.text, problem.line))
                .collect();
            let line = problems.first().map_or(0, |problem| problem.line);
            failed(line, format!("Validation failed: {what}:{}", lines.concat()))
        }
    })?;
    let digest = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((agents, digest))
}

/// The names in a file that may not be YAML, and that of the file.
fn names_in(path: &Path, text: &str) -> Vec<String> {
    let of_line = |line: &str| {
        let line = line.trim_start().trim_start_matches("- ").trim_start();
        Some(line.strip_prefix("name:")?.trim().trim_matches(['"', '\'']).to_owned())
    };
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    text.lines().filter_map(of_line).chain(stem).collect()
}

/// Identified by the whole file and the address, so a change of either has to be accepted again.
fn allowance(agent: &AgentDefinition, digest: &str) -> Allowance {
    let AgentKind::Remote(remote) = &agent.kind else {
        let words = format!("the agent {} works with instructions of the project", agent.name);
        return described(agent, &words, digest);
    };
    let addresses = remote.card.addresses();
    let target = match &remote.card {
        CardDefinition::Url(url) => format!("the agent whose card is at {url}"),
        CardDefinition::Inline(_) if addresses.is_empty() => "an agent at no address".to_owned(),
        CardDefinition::Inline(_) => format!("the agent at {}", addresses.join(", ")),
    };
    let mut words = format!("{} is {target}: tasks can be given to it", agent.name);
    if !remote.allowed_origins.is_empty() {
        words.push_str(&format!(", also at {}", remote.allowed_origins.join(", ")));
    }
    if let Some(auth) = &remote.auth {
        words.push_str(&format!(", and it is sent your credentials ({})", auth.name()));
        let sources = credential_words(auth);
        if !sources.is_empty() {
            words.push_str(&format!(": {}", sources.join(", ")));
        }
    }
    described(agent, &words, digest)
}

/// Everything that is read or run for a credential, and every address that the file has for it.
fn credential_words(auth: &AgentAuth) -> Vec<String> {
    let values = auth.values().into_iter().filter_map(|(field, value)| match value {
        DynamicValue::Variable(name) => Some(format!("{field} is your variable ${name}")),
        DynamicValue::Command(line) => Some(format!("{field} is what `{line}` prints")),
        // It is the project's own.
        DynamicValue::Literal(_) => None,
    });
    let addresses = auth.addresses();
    let of_card = match auth {
        AgentAuth::OAuth2 { .. } if addresses.is_empty() => {
            Some("you sign in where its card says".to_owned())
        }
        AgentAuth::GoogleCredentials { .. } => Some("tokens of your Google account".to_owned()),
        _ => None,
    };
    let addresses = addresses.into_iter().map(|(field, url)| format!("{field} is {url}"));
    values.chain(addresses).chain(of_card).collect()
}

fn described(agent: &AgentDefinition, words: &str, digest: &str) -> Allowance {
    let origin = SettingOrigin::File { path: agent.path.as_path().into(), line: agent.line };
    Allowance::agent(origin, words, &format!("{}\0{words}\0{digest}", agent.name))
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
