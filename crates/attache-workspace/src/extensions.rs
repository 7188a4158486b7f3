//! The extensions that a user has installed.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::file_stamps;
use crate::home_folders::HomeFolders;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InstalledExtension {
    pub(crate) name: String,
    pub(crate) version: String,
    /// Whether it is enabled.
    pub(crate) enabled: bool,
    pub(crate) folder: PathBuf,
}

const FILE: &str = "gemini-extension.json";
/// More folders and longer files are ignored.
const MAX_EXTENSIONS: usize = 256;
const MAX_FILE_BYTES: u64 = 256 << 10;

#[derive(Deserialize)]
struct ExtensionFile {
    name: String,
    version: String,
}

/// Sorted by name. An unreadable folder is no extension.
pub(crate) fn installed(homes: &HomeFolders) -> Vec<InstalledExtension> {
    let Some(folder) = homes.gemini().map(|gemini| gemini.join("extensions")) else { return Vec::new() };
    file_stamps::content(&folder);
    let Ok(entries) = fs::read_dir(&folder) else { return Vec::new() };
    let folders = entries.filter_map(Result::ok).map(|entry| entry.path()).take(MAX_EXTENSIONS);
    let mut found: Vec<_> = folders.filter_map(|folder| read(&folder)).collect();
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

fn read(folder: &Path) -> Option<InstalledExtension> {
    let path = folder.join(FILE);
    file_stamps::content(&path);
    let is_small = fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() <= MAX_FILE_BYTES);
    let bytes = is_small.then(|| fs::read(&path).ok())??;
    let file: ExtensionFile = serde_json::from_slice(&bytes).ok()?;
    Some(InstalledExtension {
        name: file.name,
        version: file.version,
        enabled: true,
        folder: folder.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_read_is_an_extension() {
        let home = tempfile::tempdir().unwrap();
        let extensions = home.path().join(".gemini/extensions");
        for (name, content) in [
            ("good", r#"{"name":"good","version":"1.2.0"}"#),
            ("also", r#"{"name":"also","version":"0.1.0","mcpServers":{}}"#),
            ("broken", "{"),
            ("nameless", r#"{"version":"1"}"#),
        ] {
            fs::create_dir_all(extensions.join(name)).unwrap();
            fs::write(extensions.join(name).join(FILE), content).unwrap();
        }
        let homes = HomeFolders::new(Some(home.path().to_owned()), &|_| None);
        let names: Vec<_> = installed(&homes).into_iter().map(|found| (found.name, found.version)).collect();
        assert_eq!(names, [("also".to_owned(), "0.1.0".to_owned()), ("good".into(), "1.2.0".into())]);
        assert_eq!(installed(&HomeFolders::new(None, &|_| None)), []);
    }
}
