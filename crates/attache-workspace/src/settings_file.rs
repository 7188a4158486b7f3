//! Edits a `settings.json` in place, and keeps comments and everything else.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use attache_document::{EditError, JsonDocument};

use crate::HomeFolders;
use crate::read_file::read_text;
use crate::write_file::{owner_only, replace};

const NAME: &str = "settings.json";
/// A larger file is no settings file.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// The owner of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsScope {
    User,
    Project,
}

/// The `settings.json` of a user or of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsFile {
    /// The folder `.gemini`.
    folder: PathBuf,
    path: PathBuf,
    scope: SettingsScope,
}

/// Why a settings file cannot be read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsFileError {
    #[error("cannot read {}", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot use {}", path.display())]
    Invalid {
        path: PathBuf,
        #[source]
        source: EditError,
    },
    #[error("{} leads out of this project, so it is not written", path.display())]
    LeadsOut { path: PathBuf },
    #[error("cannot write {}", path.display())]
    Unwritten {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl SettingsFile {
    /// The user's; none without a home folder.
    pub fn of_user(homes: &HomeFolders) -> Option<Self> {
        homes.gemini().map(|folder| Self::in_folder(folder, SettingsScope::User))
    }

    /// The file of the project at `root`; none if that is the user's own.
    pub fn of_project(root: &Path, homes: &HomeFolders) -> Option<Self> {
        let folder = root.join(".gemini");
        (Some(folder.as_path()) != homes.gemini()).then(|| Self::in_folder(&folder, SettingsScope::Project))
    }

    /// `folder` is a folder `.gemini`.
    pub fn in_folder(folder: &Path, scope: SettingsScope) -> Self {
        Self { folder: folder.to_owned(), path: folder.join(NAME), scope }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn scope(&self) -> SettingsScope {
        self.scope
    }

    /// The document; an empty one if the file is missing.
    pub fn read(&self) -> Result<JsonDocument, SettingsFileError> {
        let unreadable = |source| SettingsFileError::Unreadable { path: self.path.clone(), source };
        let text = read_text(&self.path, MAX_FILE_BYTES, None).map_err(unreadable)?.unwrap_or_default();
        JsonDocument::parse(&text).map_err(|error| self.invalid(error))
    }

    /// Replaces the file atomically with the text that `change` returns. Writers take turns. False if `change` changes
    /// nothing.
    pub fn edit(
        &self,
        change: impl FnOnce(&JsonDocument) -> Result<Option<String>, EditError>,
    ) -> Result<bool, SettingsFileError> {
        let unwritten = |source| SettingsFileError::Unwritten { path: self.path.clone(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder).map_err(unwritten)?;
        // A link is followed, so that it stays one.
        let target = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        self.check_place(&target)?;
        // The lock ends with the handle.
        let lock = File::open(&self.folder).map_err(unwritten)?;
        lock.lock().map_err(unwritten)?;
        let Some(text) = change(&self.read()?).map_err(|error| self.invalid(error))? else {
            return Ok(false);
        };
        // Settings may contain keys, so a new file is private to its owner. An existing file keeps its mode.
        let permissions = fs::metadata(&target).map_or_else(|_| owner_only(), |known| known.permissions());
        replace(&target, &text, permissions).map_err(unwritten)?;
        Ok(true)
    }

    fn invalid(&self, source: EditError) -> SettingsFileError {
        SettingsFileError::Invalid { path: self.path.clone(), source }
    }

    /// A project is untrusted, so its links must not lead writes out of it.
    fn check_place(&self, target: &Path) -> Result<(), SettingsFileError> {
        if self.scope == SettingsScope::User {
            return Ok(());
        }
        let project = self.folder.parent().and_then(|project| project.canonicalize().ok());
        let folder = target.parent().and_then(|folder| folder.canonicalize().ok());
        match (project, folder) {
            (Some(project), Some(folder)) if folder.starts_with(&project) => Ok(()),
            _ => Err(SettingsFileError::LeadsOut { path: self.path.clone() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use serde_json::json;

    use super::*;

    fn project(root: &Path) -> SettingsFile {
        SettingsFile::of_project(root, &HomeFolders::default()).unwrap()
    }

    fn set(file: &SettingsFile) -> Result<bool, SettingsFileError> {
        file.edit(|document| document.with("a", "b", &json!(1)).map(Some))
    }

    #[test]
    fn a_file_keeps_its_comments_and_its_mode_and_a_new_one_is_the_owners() {
        let root = tempfile::tempdir().unwrap();
        let file = project(root.path());
        assert!(set(&file).unwrap());
        let mode = |file: &SettingsFile| fs::metadata(file.path()).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&file), 0o600);
        fs::write(file.path(), "{\n  // why\n  \"x\": 1\n}\n").unwrap();
        fs::set_permissions(file.path(), Permissions::from_mode(0o644)).unwrap();
        assert!(set(&file).unwrap());
        assert_eq!(mode(&file), 0o644);
        assert!(fs::read_to_string(file.path()).unwrap().starts_with("{\n  // why\n  \"x\": 1,"));
        assert!(!file.edit(|_| Ok(None)).unwrap());
    }

    #[test]
    fn a_broken_file_is_not_touched() {
        let root = tempfile::tempdir().unwrap();
        let file = project(root.path());
        fs::create_dir(root.path().join(".gemini")).unwrap();
        fs::write(file.path(), "{ no").unwrap();
        assert!(matches!(set(&file), Err(SettingsFileError::Invalid { .. })));
        assert_eq!(fs::read_to_string(file.path()).unwrap(), "{ no");
    }

    #[test]
    fn a_link_out_of_the_project_is_not_written_through() {
        let (root, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(root.path().join(".gemini")).unwrap();
        let outside = other.path().join("settings.json");
        fs::write(&outside, "{}").unwrap();
        let file = project(root.path());
        std::os::unix::fs::symlink(&outside, file.path()).unwrap();
        assert!(matches!(set(&file), Err(SettingsFileError::LeadsOut { .. })));
        assert_eq!(fs::read_to_string(&outside).unwrap(), "{}");
    }

    #[test]
    fn the_home_folder_has_no_project_file() {
        let homes = HomeFolders::new(Some("/folder/of/me".into()), &|_| None);
        assert_eq!(SettingsFile::of_project(Path::new("/folder/of/me"), &homes), None);
        assert!(SettingsFile::of_user(&homes).unwrap().path().ends_with("me/.gemini/settings.json"));
    }
}
