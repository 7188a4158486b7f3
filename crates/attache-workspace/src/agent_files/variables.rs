//! The variables that the values of an agent file name, and where its commands run.
//!
//! A file may name every variable of the environment and of the user's `.env` file. That of a project counts only after a
//! person has seen which variables go where, and has accepted exactly this file.

use std::path::{Path, PathBuf};

use attache_config::{Environment, SecretText};

use super::definition::{AgentDefinition, AgentScope};
use crate::{EnvFile, HomeFolders};

/// The variables of one agent file.
#[derive(Clone, Copy)]
pub(super) struct Variables<'a> {
    environment: Environment<'a>,
    /// The folder of the project that the file belongs to.
    project: Option<&'a Path>,
    is_users_own: bool,
}

impl<'a> Variables<'a> {
    pub(super) fn of(agent: &'a AgentDefinition, environment: Environment<'a>) -> Self {
        // It is PROJECT/.gemini/agents/NAME.md.
        let project = agent.path.ancestors().nth(3).filter(|_| agent.scope == AgentScope::Project);
        Self { environment, project, is_users_own: agent.is_users_own() }
    }

    #[cfg(test)]
    pub(super) fn users(environment: Environment<'a>) -> Self {
        Self { environment, project: None, is_users_own: true }
    }

    /// Of a file that a project or an extension brings.
    #[cfg(test)]
    pub(super) fn strangers(environment: Environment<'a>) -> Self {
        Self { environment, project: None, is_users_own: false }
    }

    pub(super) fn environment(&self) -> Environment<'a> {
        self.environment
    }

    /// The user wrote the file.
    pub(super) fn is_users_own(&self) -> bool {
        self.is_users_own
    }

    /// Where a command runs: in its project, else at home. The current folder may be a stranger's repository, whose files would
    /// steer a command of the user, such as `npx` or `git`.
    pub(super) fn folder(&self) -> PathBuf {
        let home = || HomeFolders::of(self.environment).home.filter(|home| home.is_dir());
        self.project.map(Path::to_owned).or_else(home).unwrap_or_else(|| PathBuf::from("/"))
    }

    /// Reads the environment, which nothing keeps.
    pub(super) fn prepare(&self, name: &str) -> PreparedVariable {
        PreparedVariable {
            name: name.to_owned(),
            value: (self.environment)(name).map(SecretText::new),
            homes: HomeFolders::of(self.environment),
        }
    }
}

/// The value that the environment had, and where else it may be.
#[derive(Debug, Clone)]
pub(super) struct PreparedVariable {
    name: String,
    value: Option<SecretText>,
    homes: HomeFolders,
}

impl PreparedVariable {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Reads the user's file of variables if the environment does not have it. The error never holds a value.
    pub(super) fn value(&self) -> Result<SecretText, String> {
        let name = &self.name;
        if let Some(value) = self.value.as_ref().filter(|value| !value.expose().is_empty()) {
            return Ok(value.clone());
        }
        let file = EnvFile::of_user(&self.homes, &mut Vec::new());
        match file.as_ref().and_then(|file| file.get(name)) {
            Some((value, _)) => Ok(SecretText::new(value)),
            None if self.value.is_some() => Err(format!("the variable {name} is empty")),
            None => Err(format!("the variable {name} is not set")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_in_the_environment_or_in_the_users_file_which_may_change() {
        let home = tempfile::tempdir().unwrap();
        let write = |text: &str| std::fs::write(home.path().join(".env"), text).unwrap();
        write("KEY=of-file\nOTHER=of-file\n");
        let folder = home.path().display().to_string();
        let environment = |name: &str| match name {
            "HOME" => Some(folder.clone()),
            "KEY" => Some("of-environment".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        let value = |name: &str| {
            let variable = Variables::users(&environment).prepare(name);
            variable.value().map(|value| value.expose().to_owned())
        };
        assert_eq!(value("KEY").unwrap(), "of-environment");
        assert_eq!(value("OTHER").unwrap(), "of-file");
        assert_eq!(value("EMPTY").unwrap_err(), "the variable EMPTY is empty");
        assert_eq!(value("NONE").unwrap_err(), "the variable NONE is not set");
        let other = Variables::users(&environment).prepare("OTHER");
        write("OTHER=later\n");
        assert_eq!(other.value().unwrap().expose(), "later");
    }
}
