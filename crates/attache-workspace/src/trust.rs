//! Folder trust: whether a folder's own settings and rules count.
//!
//! A folder is not trusted until a person says so: on the command line, in `trustedFolders.json`, in the operator's file,
//! or when asked. What a trusted folder allows must be accepted as well; see [`Allowance`](crate::Allowance).

use std::path::{Path, PathBuf};

use attache_config::{ConfigError, Environment, OperatorAgentSettings, Settings, variable};
use attache_document::{Node, NodeKind};

use crate::accepted_allowances::no_home;
use crate::file_stamps;
use crate::read_file::read_text;
use crate::settings::gather::GatheredSettings;
use crate::settings::nearest::nearest;
use crate::settings::{SettingsFiles, resolve};
use crate::write_file::rewrite;
use crate::{AgentFlags, HomeFolders};

const MAX_BYTES: u64 = 1 << 20;
const LEVELS: [&str; 3] = ["TRUST_FOLDER", "TRUST_PARENT", "DO_NOT_TRUST"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FolderTrust {
    Trusted {
        why: String,
    },
    Untrusted {
        why: String,
        /// A person has said that it is not trusted, so the question is not asked again.
        decided: bool,
    },
}

impl FolderTrust {
    pub fn is_trusted(&self) -> bool {
        matches!(self, Self::Trusted { .. })
    }

    pub fn why(&self) -> &str {
        match self {
            Self::Trusted { why } | Self::Untrusted { why, .. } => why,
        }
    }

    fn yes(why: impl Into<String>) -> Self {
        Self::Trusted { why: why.into() }
    }

    fn no(why: impl Into<String>) -> Self {
        Self::Untrusted { why: why.into(), decided: false }
    }

    fn never(why: impl Into<String>) -> Self {
        Self::Untrusted { why: why.into(), decided: true }
    }
}

/// Who chose the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChosenBy {
    /// They started there, or named it.
    Operator,
    Client,
}

/// Everything that the decision depends on.
#[derive(Debug, Clone)]
pub struct TrustQuestion<'a> {
    /// Absolute and without links.
    pub folder: &'a Path,
    pub chosen_by: ChosenBy,
    /// `--trust`.
    pub flag: bool,
    /// `GEMINI_CLI_TRUST_WORKSPACE`.
    pub variable: Option<bool>,
    /// `security.folderTrust.enabled`, if it is set.
    pub enabled: Option<bool>,
    pub listed: &'a TrustedFolders,
    /// `trusted_folders` of the operator's file, without links.
    pub operator: &'a [PathBuf],
}

pub fn trust_of(question: &TrustQuestion<'_>) -> FolderTrust {
    let operator = question.chosen_by == ChosenBy::Operator;
    if question.variable == Some(false) {
        return FolderTrust::never("GEMINI_CLI_TRUST_WORKSPACE is false");
    }
    if operator && question.flag {
        return FolderTrust::yes("--trust was given");
    }
    if operator && question.variable == Some(true) {
        return FolderTrust::yes("GEMINI_CLI_TRUST_WORKSPACE is true");
    }
    match question.listed.says(question.folder) {
        Some(true) => return FolderTrust::yes("trustedFolders.json lists it"),
        Some(false) => return FolderTrust::never("trustedFolders.json says DO_NOT_TRUST"),
        None => {}
    }
    if question.operator.iter().any(|folder| question.folder.starts_with(folder)) {
        return FolderTrust::yes("trusted_folders of the operator's file names it");
    }
    match question.enabled {
        _ if !operator => FolderTrust::no("trustedFolders.json does not list it, and a client chose it"),
        Some(false) => FolderTrust::yes("security.folderTrust.enabled is false"),
        Some(true) => {
            FolderTrust::no("security.folderTrust.enabled is true and trustedFolders.json does not list it")
        }
        None => FolderTrust::no("not decided yet"),
    }
}

/// Looks up everything that [`trust_of`] needs, and decides.
pub fn look_up_trust(
    folder: &Path,
    chosen_by: ChosenBy,
    flags: &AgentFlags,
    environment: Environment<'_>,
    operator: &Settings,
) -> Result<FolderTrust, ConfigError> {
    let homes = HomeFolders::of(environment);
    let listed = TrustedFolders::load(&homes)?;
    Ok(trust_of(&TrustQuestion {
        folder,
        chosen_by,
        flag: flags.trust,
        variable: trust_variable(environment)?,
        enabled: enabled(folder, &homes, environment, &operator.agent)?,
        listed: &listed,
        operator: &operator.trusted_folders,
    }))
}

/// `security.folderTrust.enabled` of the operator and the user. The folder's own files do not count.
fn enabled(
    folder: &Path,
    homes: &HomeFolders,
    environment: Environment<'_>,
    operator: &OperatorAgentSettings,
) -> Result<Option<bool>, ConfigError> {
    let place = SettingsFiles { workspace: folder, homes, environment, operator };
    let mut gathered = GatheredSettings::default();
    let env_file = place.gather_own(&mut gathered)?;
    crate::settings::variables(
        &mut gathered,
        environment,
        env_file.as_ref(),
        &crate::ModelCredentials::default(),
    )?;
    Ok(resolve::resolve(&gathered).get("security.folderTrust.enabled").and_then(|it| it.value.as_bool()))
}

fn trust_variable(environment: Environment<'_>) -> Result<Option<bool>, ConfigError> {
    let name = "GEMINI_CLI_TRUST_WORKSPACE";
    let Some(value) = variable(environment, name) else { return Ok(None) };
    crate::settings::truth(&value, &attache_config::SettingOrigin::Variable(name.to_owned())).map(Some)
}

/// The entries of `trustedFolders.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedFolders {
    /// A folder, and whether it is trusted with all folders below it.
    folders: Vec<(PathBuf, bool)>,
}

impl TrustedFolders {
    /// Saves that `folder`, with all folders below it, is trusted or not.
    pub fn save(homes: &HomeFolders, folder: &Path, trusted: bool) -> Result<(), ConfigError> {
        let path = Self::file(homes).ok_or_else(|| no_home("trustedFolders.json"))?;
        let level = if trusted { "TRUST_FOLDER" } else { "DO_NOT_TRUST" };
        rewrite(&path, MAX_BYTES, |text| {
            Self::parse(&path, text)?;
            let tree = Node::from_json(text).map(|tree| tree.to_json()).unwrap_or_default();
            let mut entries = tree.as_object().cloned().unwrap_or_default();
            entries.insert(folder.display().to_string(), level.into());
            Ok(serde_json::to_string_pretty(&entries).unwrap_or_default() + "\n")
        })
    }

    fn file(homes: &HomeFolders) -> Option<PathBuf> {
        homes.gemini().map(|gemini| gemini.join("trustedFolders.json"))
    }

    pub fn load(homes: &HomeFolders) -> Result<Self, ConfigError> {
        let Some(path) = Self::file(homes) else { return Ok(Self::default()) };
        let read = read_text(&path, MAX_BYTES, None);
        let unreadable =
            |source| ConfigError::Unreadable { what: "list of trusted folders", path: path.clone(), source };
        read.map_err(unreadable)?.map_or_else(|| Ok(Self::default()), |text| Self::parse(&path, &text))
    }

    fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let wrong = |line: u32, key: Option<&str>, message: String| ConfigError::BadSetting {
            place: format!("{}:{line}", path.display()),
            key: key.map(str::to_owned),
            message,
        };
        let tree = Node::from_json(text).map_err(|error| wrong(error.line, None, error.message))?;
        let NodeKind::Table(entries) = &tree.kind else {
            return Err(wrong(tree.line, None, "must be a table of folders".into()));
        };
        let mut folders = Vec::new();
        for (folder, node) in entries {
            let level = match &node.kind {
                NodeKind::Text(level) => level.as_str(),
                _ => "",
            };
            let place = PathBuf::from(folder);
            file_stamps::location(&place);
            // A folder that does not exist is kept as written.
            let place = place.canonicalize().unwrap_or(place);
            folders.push(match level {
                "TRUST_FOLDER" => (place, true),
                "TRUST_PARENT" => (place.parent().map_or(place.clone(), Path::to_owned), true),
                "DO_NOT_TRUST" => (place, false),
                other => {
                    let near = nearest(other, LEVELS).map(|near| format!("; did you mean {near}?"));
                    let message = format!("must be one of {}{}", LEVELS.join(", "), near.unwrap_or_default());
                    return Err(wrong(node.line, Some(folder), message));
                }
            });
        }
        Ok(Self { folders })
    }

    /// The nearest entry above decides. Of two entries for the same folder, the one that does not trust counts.
    fn says(&self, folder: &Path) -> Option<bool> {
        let above = self.folders.iter().filter(|(place, _)| place.is_absolute() && folder.starts_with(place));
        above
            .max_by_key(|(place, trusted)| (place.components().count(), !trusted))
            .map(|(_, trusted)| *trusted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(text: &str) -> TrustedFolders {
        TrustedFolders::parse(Path::new("/h/trustedFolders.json"), text).unwrap()
    }

    const LIST: &str = r#"{
        "/yes": "TRUST_FOLDER",
        "/yes/no": "DO_NOT_TRUST",
        "/yes/no/but": "TRUST_FOLDER",
        "/family/child": "TRUST_PARENT", // and all its kin
        "/both": "TRUST_FOLDER",
        "/both/x": "TRUST_PARENT",
        "/named/no": "DO_NOT_TRUST",
        "/twice": "DO_NOT_TRUST",
        "/twice/x": "TRUST_PARENT",
    }"#;

    #[test]
    fn the_nearest_entry_counts() {
        for (folder, expected) in [
            ("/yes", Some(true)),
            ("/yes/deep/er", Some(true)),
            ("/yesterday", None),
            ("/yes/no", Some(false)),
            ("/yes/no/x", Some(false)),
            ("/yes/no/but/x", Some(true)),
            ("/family/other", Some(true)),
            ("/family", Some(true)),
            ("/", None),
            ("/both/y", Some(true)),
            ("/twice/y", Some(false)),
        ] {
            assert_eq!(listed(LIST).says(Path::new(folder)), expected, "{folder}");
        }
        assert_eq!(listed(r#"{"relative": "TRUST_FOLDER", "": "TRUST_FOLDER"}"#).says(Path::new("/x")), None);
    }

    #[test]
    fn who_chose_the_folder_matters() {
        use ChosenBy::{Client, Operator};
        let list = listed(LIST);
        let named = [PathBuf::from("/named")];
        let question = |folder: &'static str, chosen_by| TrustQuestion {
            folder: Path::new(folder),
            chosen_by,
            flag: false,
            variable: None,
            enabled: None,
            listed: &list,
            operator: &named,
        };
        let check = |question: TrustQuestion<'_>, expected: bool| {
            assert_eq!(trust_of(&question).is_trusted(), expected, "{question:?}");
        };
        check(question("/new", Operator), false);
        check(question("/new", Client), false);
        check(question("/yes/x", Operator), true);
        check(question("/yes/x", Client), true);
        check(question("/yes/no", Operator), false);
        check(question("/named/x", Operator), true);
        check(question("/named/x", Client), true);
        check(question("/named/no", Operator), false);
        check(TrustQuestion { enabled: Some(true), ..question("/new", Operator) }, false);
        check(TrustQuestion { enabled: Some(true), ..question("/yes", Operator) }, true);
        check(TrustQuestion { enabled: Some(false), ..question("/new", Operator) }, true);
        check(TrustQuestion { enabled: Some(false), ..question("/new", Client) }, false);
        check(TrustQuestion { flag: true, ..question("/yes/no", Operator) }, true);
        check(TrustQuestion { flag: true, ..question("/new", Client) }, false);
        check(TrustQuestion { variable: Some(true), ..question("/yes/no", Operator) }, true);
        check(TrustQuestion { variable: Some(true), ..question("/new", Client) }, false);
        check(TrustQuestion { variable: Some(false), flag: true, ..question("/yes", Operator) }, false);
    }

    #[test]
    fn what_a_person_says_is_kept_beside_what_was_said_before() {
        let home = tempfile::tempdir().unwrap();
        let homes = HomeFolders::new(Some(home.path().to_owned()), &|_| None);
        TrustedFolders::save(&homes, Path::new("/a"), true).unwrap();
        TrustedFolders::save(&homes, Path::new("/b"), false).unwrap();
        TrustedFolders::save(&homes, Path::new("/a/c"), false).unwrap();
        let listed = TrustedFolders::load(&homes).unwrap();
        let says = |folder: &str| listed.says(Path::new(folder));
        assert_eq!(
            (says("/a/x"), says("/a/c"), says("/b"), says("/c")),
            (Some(true), Some(false), Some(false), None)
        );
    }

    #[test]
    fn a_list_that_is_not_understood_is_refused() {
        let wrong = |text: &str| TrustedFolders::parse(Path::new("/t.json"), text).unwrap_err().to_string();
        assert_eq!(
            wrong("{\n\"/x\": \"TRUST_FOLDERS\"}"),
            "/t.json:2: /x: must be one of TRUST_FOLDER, TRUST_PARENT, DO_NOT_TRUST; did you mean TRUST_FOLDER?"
        );
        assert!(wrong("{\"/x\": true}").contains("/x: must be one of"));
        assert!(wrong("[]").contains("must be a table of folders"));
        assert!(wrong("{").starts_with("/t.json:1: "));
    }

    #[test]
    fn links_in_the_list_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap().join("real");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, real.with_file_name("link")).unwrap();
        let text = format!("{{{:?}: \"TRUST_FOLDER\"}}", real.with_file_name("link"));
        assert_eq!(listed(&text).says(&real.join("x")), Some(true));
    }
}
