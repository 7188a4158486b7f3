//! Which variables the values of an agent file may be, and where its commands run.
//!
//! A user's own file may name every variable of the environment and of the user's `.env` file. A project could have all of
//! them sent to a server of its choice, so its files may name few, as its settings may.

use std::path::{Path, PathBuf};

use attache_config::{Environment, SecretText};

use super::definition::{AgentDefinition, AgentScope};
use crate::{EnvFile, HomeFolders};

/// The variables of one agent file.
#[derive(Clone, Copy)]
pub(super) struct Variables<'a> {
    environment: Environment<'a>,
    /// None: all.
    allowed: Option<&'a [String]>,
    /// The folder of the project that the file belongs to.
    project: Option<&'a Path>,
}

impl<'a> Variables<'a> {
    pub(super) fn of(agent: &'a AgentDefinition, environment: Environment<'a>) -> Self {
        // It is PROJECT/.gemini/agents/NAME.md.
        let project = agent.path.ancestors().nth(3).filter(|_| agent.scope == AgentScope::Project);
        Self { environment, allowed: agent.variables.as_deref(), project }
    }

    #[cfg(test)]
    pub(super) fn users(environment: Environment<'a>) -> Self {
        Self { environment, allowed: None, project: None }
    }

    /// Where a command runs: in its project, else at home. The current folder may be a stranger's repository, whose files would
    /// steer a command of the user, such as `npx` or `git`.
    pub(super) fn folder(&self) -> PathBuf {
        let home = || HomeFolders::of(self.environment).home.filter(|home| home.is_dir());
        self.project.map(Path::to_owned).or_else(home).unwrap_or_else(|| PathBuf::from("/"))
    }

    /// Reads the environment, which nothing keeps.
    pub(super) fn prepare(&self, name: &str) -> PreparedVariable {
        let is_allowed = may_name(self.allowed, name);
        PreparedVariable {
            name: name.to_owned(),
            is_allowed,
            value: (self.environment)(name).filter(|_| is_allowed).map(SecretText::new),
            homes: HomeFolders::of(self.environment),
        }
    }
}

/// Whether a file with these variables may name `name`.
pub(super) fn may_name(allowed: Option<&[String]>, name: &str) -> bool {
    allowed.is_none_or(|allowed| allowed.iter().any(|known| known == name))
}

/// The value that the environment had, and where else it may be.
#[derive(Debug, Clone)]
pub(super) struct PreparedVariable {
    name: String,
    is_allowed: bool,
    value: Option<SecretText>,
    homes: HomeFolders,
}

impl PreparedVariable {
    /// Reads the user's file of variables if the environment does not have it. The error never holds a value.
    pub(super) fn value(&self) -> Result<SecretText, String> {
        let name = &self.name;
        if !self.is_allowed {
            return Err(format!("a project's agent file may not use ${name}; {ALLOWS}"));
        }
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

/// What lets a project's file use a variable.
pub(super) const ALLOWS: &str = "security.projectVariables in your own settings allows it";

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
        let value = |name: &str, allowed: Option<&[String]>| {
            let variable = Variables { environment: &environment, allowed, project: None }.prepare(name);
            variable.value().map(|value| value.expose().to_owned())
        };
        assert_eq!(value("KEY", None).unwrap(), "of-environment");
        assert_eq!(value("OTHER", None).unwrap(), "of-file");
        assert_eq!(value("EMPTY", None).unwrap_err(), "the variable EMPTY is empty");
        assert_eq!(value("NONE", None).unwrap_err(), "the variable NONE is not set");
        let other = Variables::users(&environment).prepare("OTHER");
        write("OTHER=later\n");
        assert_eq!(other.value().unwrap().expose(), "later");

        let allowed = ["OTHER".to_owned()];
        assert_eq!(value("OTHER", Some(&allowed)).unwrap(), "later");
        let error = value("KEY", Some(&allowed)).unwrap_err();
        assert!(
            error.starts_with("a project's agent file may not use $KEY; security.projectVariables"),
            "{error}"
        );
    }
}
