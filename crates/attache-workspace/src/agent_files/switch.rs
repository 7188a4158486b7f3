//! Switches an agent on or off in the settings files, as `agents.overrides.NAME.enabled`.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::built_in;
use super::load::LoadedAgents;
use crate::{AgentOverrides, HomeFolders, SettingsFile, SettingsFileError, SettingsScope};

/// A change that can be made: which agent, which way, in which files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSwitch {
    name: String,
    enabled: bool,
    files: Vec<SettingsFile>,
}

/// What has been changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchedAgent {
    pub name: String,
    pub enabled: bool,
    pub files: Vec<PathBuf>,
}

/// Why an agent is not switched on or off.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SwitchError {
    #[error("Agent \"{name}\" not found.")]
    NotFound { name: String },
    #[error("Agent \"{name}\" is already {}.", state(*enabled))]
    Already { name: String, enabled: bool },
    #[error(
        "Agent \"{name}\" of this project is not used before you have accepted it; `attache trust` shows it and accepts it."
    )]
    Unaccepted { name: String },
    #[error("Agent \"{name}\" cannot be used: {error}")]
    Broken { name: String, error: String },
    #[error(
        "Agent \"{name}\" cannot be used: agents are switched off; {{\"experimental\": {{\"enableAgents\": true}}}} in \
         ~/.gemini/settings.json switches them on."
    )]
    SwitchedOff { name: String },
    #[error("Agent \"{name}\" is disabled in {origin}, which is not changed from here.")]
    DisabledElsewhere { name: String, origin: String },
    #[error("There is no settings file to change: no home folder is known.")]
    NoFile,
    #[error(transparent)]
    File(#[from] SettingsFileError),
}

impl SwitchError {
    /// Why there is no agent of this name that can be used or switched.
    pub(crate) fn unknown(agents: Option<&LoadedAgents>, name: &str) -> Self {
        let name = name.to_owned();
        let Some(agents) = agents else { return Self::SwitchedOff { name } };
        if agents.unaccepted.iter().any(|agent| agent.name == name) {
            return Self::Unaccepted { name };
        }
        match agents.error_about(&name) {
            Some(error) => Self::Broken { error: error.to_string(), name },
            None => Self::NotFound { name },
        }
    }
}

/// What decides about a switch.
#[derive(Clone, Copy)]
pub(crate) struct SwitchContext<'a> {
    pub(crate) homes: &'a HomeFolders,
    pub(crate) root: &'a Path,
    pub(crate) overrides: &'a AgentOverrides,
    /// None while the agents of files are switched off.
    pub(crate) agents: Option<&'a LoadedAgents>,
}

impl AgentSwitch {
    /// Checks the change and finds its files. An agent is switched on wherever it is off, and off in the project (without one,
    /// for the user), unless `scope` says where.
    pub(crate) fn plan(
        context: SwitchContext<'_>,
        name: &str,
        enabled: bool,
        scope: Option<SettingsScope>,
    ) -> Result<Self, SwitchError> {
        let SwitchContext { homes, root, overrides, agents } = context;
        let name = name.to_owned();
        let is_known =
            built_in::find(&name).is_some() || agents.is_some_and(|agents| agents.find_any(&name).is_some());
        if !is_known {
            return Err(SwitchError::unknown(agents, &name));
        }
        let disabled_in = overrides.disabled_in(&name);
        if enabled == disabled_in.is_none() {
            return Err(SwitchError::Already { name, enabled });
        }
        let (user, project) = (SettingsFile::of_user(homes), SettingsFile::of_project(root, homes));
        let in_scope = |file: &SettingsFile| scope.is_none_or(|scope| file.scope() == scope);
        let files: Vec<SettingsFile> = if enabled {
            let mut files = Vec::new();
            for file in user.into_iter().chain(project).filter(in_scope) {
                if file.read()?.at(&path(&name)) == Some(&Value::Bool(false)) {
                    files.push(file);
                }
            }
            files
        } else {
            project.into_iter().chain(user).filter(in_scope).take(1).collect()
        };
        match disabled_in {
            _ if files.is_empty() && !enabled => Err(SwitchError::NoFile),
            Some(origin) if enabled => {
                let changed = |file: &SettingsFile| origin.file() == Some(file.path());
                match files.iter().any(changed) {
                    true => Ok(Self { name, enabled, files }),
                    false => Err(SwitchError::DisabledElsewhere { name, origin: origin.to_string() }),
                }
            }
            _ => Ok(Self { name, enabled, files }),
        }
    }

    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(SettingsFile::path)
    }

    /// Writes the files.
    pub fn apply(self) -> Result<SwitchedAgent, SwitchError> {
        for file in &self.files {
            file.edit(|document| document.with_at(&path(&self.name), &json!(self.enabled)).map(Some))?;
        }
        let files = self.files().map(Path::to_owned).collect();
        Ok(SwitchedAgent { name: self.name, enabled: self.enabled, files })
    }
}

impl SwitchedAgent {
    /// What has been done, in one sentence.
    pub fn message(&self) -> String {
        let files: Vec<String> =
            self.files.iter().map(|file| crate::visible(&file.display().to_string())).collect();
        format!("Agent \"{}\" is {} now, in {}.", self.name, state(self.enabled), files.join(" and "))
    }
}

fn path(name: &str) -> [&str; 4] {
    ["agents", "overrides", name, "enabled"]
}

fn state(enabled: bool) -> &'static str {
    if enabled { "enabled" } else { "disabled" }
}
