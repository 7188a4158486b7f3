//! Whether a folder's own settings, rules and words count.
//!
//! The operator who starts a server in a folder trusts it, unless somebody said otherwise. A folder that a client wishes
//! for is trusted only if it is listed: the client did not put those files there, and may not know who did.

use std::path::{Path, PathBuf};

use crate::agent::gather::Gathered;
use crate::agent::nearest::nearest;
use crate::agent::{OperatorAgent, Place, resolve};
use crate::environment::{Environment, variable};
use crate::reading::read_text;
use crate::sighting;
use crate::tree::{Kind, Node};
use crate::{AgentFlags, ConfigError, Homes, Settings};

const MOST_BYTES: u64 = 1 << 20;
const LEVELS: [&str; 3] = ["TRUST_FOLDER", "TRUST_PARENT", "DO_NOT_TRUST"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    Trusted,
    Untrusted { why: String },
}

impl Trust {
    pub fn is_trusted(&self) -> bool {
        *self == Self::Trusted
    }

    fn no(why: impl Into<String>) -> Self {
        Self::Untrusted { why: why.into() }
    }
}

/// Who chose the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChosenBy {
    /// By starting there, or by name.
    Operator,
    Client,
}

/// All that an answer depends on.
#[derive(Debug, Clone)]
pub struct TrustQuestion<'a> {
    /// Absolute and without links.
    pub folder: &'a Path,
    pub chosen_by: ChosenBy,
    /// `--skip-trust`.
    pub skip: bool,
    /// `GEMINI_CLI_TRUST_WORKSPACE`.
    pub variable: Option<bool>,
    /// `security.folderTrust.enabled`, if anybody set it.
    pub enabled: Option<bool>,
    pub listed: &'a TrustedFolders,
}

pub fn trust_of(question: &TrustQuestion<'_>) -> Trust {
    let operator = question.chosen_by == ChosenBy::Operator;
    if question.variable == Some(false) {
        return Trust::no("GEMINI_CLI_TRUST_WORKSPACE is false");
    }
    if operator && (question.variable == Some(true) || question.skip) {
        return Trust::Trusted;
    }
    match question.listed.says(question.folder) {
        Some(true) => Trust::Trusted,
        Some(false) => Trust::no("trustedFolders.json says DO_NOT_TRUST"),
        None if !operator => Trust::no("trustedFolders.json does not list it, and a client chose it"),
        None if question.enabled == Some(true) => {
            Trust::no("security.folderTrust.enabled is true and trustedFolders.json does not list it")
        }
        None => Trust::Trusted,
    }
}

/// The same, with everything looked up.
pub fn look_up_trust(
    folder: &Path,
    chosen_by: ChosenBy,
    flags: &AgentFlags,
    environment: Environment<'_>,
    operator: &Settings,
) -> Result<Trust, ConfigError> {
    answer(folder, chosen_by, flags.skip_trust, environment, &operator.agent)
}

pub(crate) fn answer(
    folder: &Path,
    chosen_by: ChosenBy,
    skip: bool,
    environment: Environment<'_>,
    operator: &OperatorAgent,
) -> Result<Trust, ConfigError> {
    let homes = Homes::of(environment);
    let listed = TrustedFolders::load(&homes)?;
    // Of what was said so far only those may have a say who are not in question.
    let place = Place { workspace: folder, homes: &homes, environment, operator, trusted: false };
    let (mut gathered, env_file) = place.gather()?;
    let keys = crate::Keys::default();
    crate::agent::variables(&mut gathered, environment, env_file.as_ref(), &keys)?;
    Ok(trust_of(&TrustQuestion {
        folder,
        chosen_by,
        skip,
        variable: said(environment)?,
        enabled: enabled(&gathered),
        listed: &listed,
    }))
}

fn enabled(gathered: &Gathered) -> Option<bool> {
    resolve::resolve(gathered).get("security.folderTrust.enabled").and_then(|it| it.value.as_bool())
}

fn said(environment: Environment<'_>) -> Result<Option<bool>, ConfigError> {
    let name = "GEMINI_CLI_TRUST_WORKSPACE";
    let Some(value) = variable(environment, name) else { return Ok(None) };
    crate::agent::truth(&value, &crate::Origin::Variable(name.to_owned())).map(Some)
}

/// What `trustedFolders.json` lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedFolders {
    /// The folder that it is about, and whether it is trusted with all below it.
    folders: Vec<(PathBuf, bool)>,
}

impl TrustedFolders {
    pub fn load(homes: &Homes) -> Result<Self, ConfigError> {
        let Some(path) = homes.gemini().map(|gemini| gemini.join("trustedFolders.json")) else {
            return Ok(Self::default());
        };
        let read = read_text(&path, MOST_BYTES, None);
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
        let Kind::Table(entries) = &tree.kind else {
            return Err(wrong(tree.line, None, "must be a table of folders".into()));
        };
        let mut folders = Vec::new();
        for (folder, node) in entries {
            let level = match &node.kind {
                Kind::Text(level) => level.as_str(),
                _ => "",
            };
            let place = PathBuf::from(folder);
            sighting::place(&place);
            // A folder that is gone stays as it is written.
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

    /// What the nearest entry above says; of two about the same folder, the one that does not trust.
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
        let question = |folder: &'static str, chosen_by| TrustQuestion {
            folder: Path::new(folder),
            chosen_by,
            skip: false,
            variable: None,
            enabled: None,
            listed: &list,
        };
        let check = |question: TrustQuestion<'_>, expected: bool| {
            assert_eq!(trust_of(&question).is_trusted(), expected, "{question:?}");
        };
        check(question("/new", Operator), true);
        check(question("/new", Client), false);
        check(question("/yes/x", Client), true);
        check(question("/yes/no", Operator), false);
        check(TrustQuestion { enabled: Some(true), ..question("/new", Operator) }, false);
        check(TrustQuestion { enabled: Some(true), ..question("/yes", Operator) }, true);
        check(TrustQuestion { enabled: Some(false), ..question("/new", Operator) }, true);
        check(TrustQuestion { enabled: Some(false), ..question("/new", Client) }, false);
        check(TrustQuestion { skip: true, ..question("/yes/no", Operator) }, true);
        check(TrustQuestion { skip: true, ..question("/new", Client) }, false);
        check(TrustQuestion { variable: Some(true), ..question("/yes/no", Operator) }, true);
        check(TrustQuestion { variable: Some(true), ..question("/new", Client) }, false);
        check(TrustQuestion { variable: Some(false), skip: true, ..question("/yes", Operator) }, false);
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
