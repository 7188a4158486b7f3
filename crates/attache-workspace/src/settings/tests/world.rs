//! A home and a workspace to try settings in.

use std::fs;
use std::path::PathBuf;

use attache_config::{ConfigError, Flags, Settings};
use serde_json::Value;

use crate::settings::SettingsSources;
use crate::{AgentFlags, ProjectTrust, WorkspaceSettings};

/// A home, a workspace, an operator's file and an environment.
pub(crate) struct World {
    folder: tempfile::TempDir,
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) flags: AgentFlags,
    pub(crate) project_trust: ProjectTrust,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home/.gemini", "home/.config/gemini-cli", "work/.gemini"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        Self {
            folder,
            variables: Vec::new(),
            flags: AgentFlags::default(),
            project_trust: ProjectTrust::for_tests(true, true),
        }
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn file(self, name: &str, text: &str) -> Self {
        fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        fs::write(self.at(name), text).unwrap();
        self
    }

    pub(crate) fn user(self, text: &str) -> Self {
        self.file("home/.gemini/settings.json", text)
    }

    pub(crate) fn project(self, text: &str) -> Self {
        self.file("work/.gemini/settings.json", text)
    }

    pub(crate) fn operator(self, text: &str) -> Self {
        self.file("attache.toml", text)
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn untrusted(mut self) -> Self {
        self.project_trust = ProjectTrust::for_tests(false, false);
        self
    }

    /// Trusted, but what it allows is not accepted.
    pub(crate) fn unaccepted(mut self) -> Self {
        self.project_trust = ProjectTrust::for_tests(true, false);
        self
    }

    pub(crate) fn operator_settings(&self) -> Result<Settings, ConfigError> {
        let config = Some(self.at("attache.toml")).filter(|path| path.exists());
        let flags = Flags { config, ..Flags::default() };
        let environment = |name: &str| self.lookup(name);
        crate::load_operator(flags, &environment, &self.at("work"))
    }

    pub(crate) fn lookup(&self, name: &str) -> Option<String> {
        if name == "HOME" {
            return Some(self.at("home").display().to_string());
        }
        self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    pub(crate) fn load(&self) -> Result<WorkspaceSettings, ConfigError> {
        let operator = self.operator_settings()?;
        WorkspaceSettings::load(&SettingsSources {
            workspace: &self.at("work"),
            home: Some(&self.at("home")),
            flags: &self.flags,
            environment: &|name: &str| self.lookup(name),
            operator: &operator,
            project_trust: &self.project_trust,
        })
    }

    /// Value and origin of a key, the origin without the folder of the test.
    pub(super) fn effective(&self, key: &str) -> (Value, String) {
        let entries = self.load().unwrap().entries();
        let entry = entries.into_iter().find(|entry| entry.key == key).expect(key);
        let origin =
            entry.shown_origin().replace(&format!("{}/", self.at("").display()).replace("//", "/"), "");
        (entry.value, origin)
    }

    #[track_caller]
    pub(super) fn check(&self, key: &str, value: Value, origin: &str) {
        assert_eq!(self.effective(key), (value, origin.to_owned()), "{key}");
    }

    #[track_caller]
    pub(super) fn fails(&self, expected: &str) {
        let error = self.load().unwrap_err().to_string();
        let error = error.replace(&format!("{}/", self.at("").display()).replace("//", "/"), "");
        assert_eq!(error, expected);
    }
}
