//! The folders of a user's own files.

use std::path::{Path, PathBuf};

use attache_config::{Environment, variable};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HomeFolders {
    pub(crate) home: Option<PathBuf>,
    gemini: Option<PathBuf>,
}

impl HomeFolders {
    /// `GEMINI_CLI_HOME` names the folder that holds `.gemini`, if that is not the home folder. Links are resolved, as in the
    /// paths of workspaces, so that a home folder is known as what it is.
    pub fn new(home: Option<PathBuf>, environment: Environment<'_>) -> Self {
        let absolute = |path: PathBuf| path.is_absolute().then(|| path.canonicalize().unwrap_or(path));
        let home = home.and_then(absolute);
        let other = variable(environment, "GEMINI_CLI_HOME").map(PathBuf::from).and_then(absolute);
        Self { gemini: other.or_else(|| home.clone()).map(|home| home.join(".gemini")), home }
    }

    pub fn of(environment: Environment<'_>) -> Self {
        Self::new(variable(environment, "HOME").map(PathBuf::from), environment)
    }

    /// The user's `.gemini`.
    pub fn gemini(&self) -> Option<&Path> {
        self.gemini.as_deref()
    }

    /// The folder of attache's own files, beside those of Gemini CLI.
    pub(crate) fn attache(&self) -> Option<PathBuf> {
        self.gemini.as_ref().map(|gemini| gemini.join("attache"))
    }

    pub(crate) fn user_settings(&self) -> Option<PathBuf> {
        self.gemini.as_ref().map(|gemini| gemini.join("settings.json"))
    }

    pub(crate) fn user_yaml(&self) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(".config/gemini-cli/config.yaml"))
    }
}
