//! The extensions that a user has installed.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::file_stamps;
use crate::home_folders::HomeFolders;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InstalledExtension {
    pub(crate) name: String,
    pub(crate) version: String,
    /// Whether it is enabled in the workspace.
    pub(crate) enabled: bool,
    pub(crate) folder: PathBuf,
}

const FILE: &str = "gemini-extension.json";
/// Beside the folders of the extensions: by name, in which folders each is enabled.
const ENABLEMENT_FILE: &str = "extension-enablement.json";
/// More folders and longer files are ignored.
const MAX_EXTENSIONS: usize = 256;
const MAX_FILE_BYTES: u64 = 256 << 10;

#[derive(Deserialize)]
struct ExtensionFile {
    name: String,
    version: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Enablement {
    overrides: Vec<String>,
}

impl Enablement {
    /// The last override for `workspace` counts; without one an extension is enabled.
    fn is_enabled(&self, workspace: &Path) -> bool {
        let covering = |text: &&String| covers(text.strip_prefix('!').unwrap_or(text), workspace);
        self.overrides.iter().rev().find(covering).is_none_or(|text| !text.starts_with('!'))
    }
}

/// Is `pattern` the folder itself, or `*` below one that holds it? `/srv/app/*` holds `/srv/app` too.
fn covers(pattern: &str, folder: &Path) -> bool {
    match pattern.strip_suffix('*') {
        Some(above) => folder.starts_with(above),
        None => folder == Path::new(pattern),
    }
}

/// Sorted by name, for the workspace `root`. An unreadable folder is no extension.
pub(crate) fn installed(homes: &HomeFolders, root: &Path) -> Vec<InstalledExtension> {
    let Some(folder) = homes.gemini().map(|gemini| gemini.join("extensions")) else { return Vec::new() };
    file_stamps::content(&folder);
    let Ok(entries) = fs::read_dir(&folder) else { return Vec::new() };
    let folders = entries.filter_map(Result::ok).map(|entry| entry.path()).take(MAX_EXTENSIONS);
    let enablement: HashMap<String, Enablement> =
        read_json(&folder.join(ENABLEMENT_FILE)).unwrap_or_default();
    let is_enabled = |name: &str| enablement.get(name).is_none_or(|found| found.is_enabled(root));
    let mut found: Vec<_> = folders.filter_map(|folder| read(&folder, is_enabled)).collect();
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

fn read(folder: &Path, is_enabled: impl Fn(&str) -> bool) -> Option<InstalledExtension> {
    let file: ExtensionFile = read_json(&folder.join(FILE))?;
    let enabled = is_enabled(&file.name);
    Some(InstalledExtension { name: file.name, version: file.version, enabled, folder: folder.to_owned() })
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    file_stamps::content(path);
    let is_small = fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() <= MAX_FILE_BYTES);
    let bytes = is_small.then(|| fs::read(path).ok())??;
    serde_json::from_slice(&bytes).ok()
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
        let found = installed(&homes, Path::new("/srv/app"));
        assert!(found.iter().all(|found| found.enabled));
        let names: Vec<_> = found.into_iter().map(|found| (found.name, found.version)).collect();
        assert_eq!(names, [("also".to_owned(), "0.1.0".to_owned()), ("good".into(), "1.2.0".into())]);
        assert_eq!(installed(&HomeFolders::new(None, &|_| None), Path::new("/srv/app")), []);
    }

    #[test]
    fn the_last_override_for_the_workspace_says_whether_it_is_enabled() {
        let home = tempfile::tempdir().unwrap();
        let extensions = home.path().join(".gemini/extensions");
        fs::create_dir_all(extensions.join("e")).unwrap();
        fs::write(extensions.join("e").join(FILE), r#"{"name":"e","version":"1"}"#).unwrap();
        let homes = HomeFolders::new(Some(home.path().to_owned()), &|_| None);
        for (overrides, root, enabled) in [
            (&["!/srv/app/*"][..], "/srv/app", false),
            (&["!/srv/app/*"], "/srv/app/a", false),
            (&["!/srv/app/*"], "/srv/app2", true),
            (&["!/srv/app/*", "/srv/app/a/*"], "/srv/app/a/b", true),
            (&["/srv/app/a/*", "!/srv/app/*"], "/srv/app/a/b", false),
            (&["!/srv/app/"], "/srv/app", false),
            (&["!/srv/app/"], "/srv/app/a", true),
            (&["!*"], "/srv/app", false),
            (&["!/*"], "/srv/app", false),
        ] {
            let file =
                serde_json::json!({ "e": { "overrides": overrides }, "other": { "overrides": ["!/*"] } });
            fs::write(extensions.join(ENABLEMENT_FILE), file.to_string()).unwrap();
            let found = installed(&homes, Path::new(root));
            assert_eq!(found[0].enabled, enabled, "{overrides:?} {root}");
        }
        fs::write(extensions.join(ENABLEMENT_FILE), "{").unwrap();
        assert!(installed(&homes, Path::new("/srv/app"))[0].enabled);
    }
}
