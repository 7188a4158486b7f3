//! The settings file of a scope, with errors for people.

use std::path::Path;

use attache_document::JsonDocument;
use attache_workspace::{SettingsFile as File, SettingsFileError, SettingsScope};

use super::arguments::ScopeFlag;
use crate::report::with_hint;

const FOLDER: &str = ".gemini";

pub(super) struct SettingsFile(File);

impl SettingsFile {
    pub(super) fn of(base: &Path, scope: ScopeFlag) -> Self {
        let scope = match scope {
            ScopeFlag::User => SettingsScope::User,
            ScopeFlag::Project => SettingsScope::Project,
        };
        Self(File::in_folder(&base.join(FOLDER), scope))
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// What it holds; an empty document when there is none.
    pub(super) fn read(&self) -> anyhow::Result<JsonDocument> {
        self.0.read().map_err(explained)
    }

    /// Replaces the file as a whole.
    pub(super) fn write(&self, text: &str) -> anyhow::Result<()> {
        self.0.edit(|_| Ok(Some(text.to_owned()))).map(drop).map_err(explained)
    }
}

pub(crate) fn explained(error: SettingsFileError) -> anyhow::Error {
    let is_invalid = matches!(error, SettingsFileError::Invalid { .. });
    let error = anyhow::Error::new(error);
    if is_invalid { with_hint(error, "mend the file first; nothing was changed") } else { error }
}
