//! The allowances that a person has seen and accepted, by folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use attache_config::ConfigError;
use attache_document::{Node, NodeKind};

use crate::read_file::read_text;
use crate::write_file::rewrite;
use crate::{Allowance, HomeFolders};

const MAX_BYTES: u64 = 4 << 20;

/// The file of accepted hashes. It is beside the user's own settings, where projects cannot write.
fn file(homes: &HomeFolders) -> Option<PathBuf> {
    Some(homes.attache()?.join("acknowledged.json"))
}

/// The hashes that are accepted for `folder`, which is absolute and without links.
pub(crate) fn load(homes: &HomeFolders, folder: &Path) -> Result<BTreeSet<String>, ConfigError> {
    let Some(path) = file(homes) else { return Ok(BTreeSet::new()) };
    let unreadable =
        |source| ConfigError::Unreadable { what: "list of accepted allowances", path: path.clone(), source };
    let text = read_text(&path, MAX_BYTES, None).map_err(unreadable)?;
    let mut all = parse(&path, &text.unwrap_or_default())?;
    Ok(folder.to_str().and_then(|folder| all.remove(folder)).unwrap_or_default())
}

/// Replaces what is accepted for `folder`.
pub fn accept_allowances<'a>(
    homes: &HomeFolders,
    folder: &Path,
    allowances: impl IntoIterator<Item = &'a Allowance>,
) -> Result<(), ConfigError> {
    let path = file(homes).ok_or_else(|| no_home("acknowledged.json"))?;
    let digests: BTreeSet<String> =
        allowances.into_iter().map(|allowance| allowance.digest.clone()).collect();
    rewrite(&path, MAX_BYTES, |text| {
        let mut all = parse(&path, text)?;
        let folder = folder.display().to_string();
        if digests.is_empty() {
            all.remove(&folder)
        } else {
            all.insert(folder, digests)
        };
        Ok(serde_json::to_string_pretty(&all).unwrap_or_default() + "\n")
    })
}

pub(crate) fn no_home(file: &str) -> ConfigError {
    ConfigError::Unsaved {
        path: PathBuf::from(file),
        source: std::io::Error::other("HOME is not set, so there is no place for it"),
    }
}

fn parse(path: &Path, text: &str) -> Result<BTreeMap<String, BTreeSet<String>>, ConfigError> {
    let wrong = |line: u32, message: String| ConfigError::BadSetting {
        place: format!("{}:{line}", path.display()),
        key: None,
        message,
    };
    let tree = Node::from_json(text).map_err(|error| wrong(error.line, error.message))?;
    let NodeKind::Table(entries) = tree.kind else {
        return Err(wrong(tree.line, "must be a table of folders, each with a list of hashes".into()));
    };
    let mut all = BTreeMap::new();
    for (folder, node) in entries {
        let line = node.line;
        let digests = match node.kind {
            NodeKind::List(nodes) => nodes.into_iter().map(|node| match node.kind {
                NodeKind::Text(digest) => Some(digest),
                _ => None,
            }),
            _ => return Err(wrong(line, format!("{folder}: must be a list of hashes"))),
        };
        let digests: Option<BTreeSet<String>> = digests.collect();
        all.insert(folder, digests.ok_or_else(|| wrong(line, "must be a list of hashes".into()))?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use attache_config::SettingOrigin;

    #[test]
    fn what_is_accepted_counts_for_its_folder_alone() {
        let home = tempfile::tempdir().unwrap();
        let homes = HomeFolders::new(Some(home.path().to_owned()), &|_| None);
        let allowance = Allowance::setting("tools.allowed", &json!(["a"]), SettingOrigin::BuiltIn);
        let (one, other) = (Path::new("/one"), Path::new("/other"));
        assert!(load(&homes, one).unwrap().is_empty());
        accept_allowances(&homes, one, [&allowance]).unwrap();
        assert!(load(&homes, one).unwrap().contains(&allowance.digest));
        assert!(load(&homes, other).unwrap().is_empty());
        accept_allowances(&homes, other, [&allowance]).unwrap();
        accept_allowances(&homes, one, []).unwrap();
        assert!(load(&homes, one).unwrap().is_empty());
        assert!(!load(&homes, other).unwrap().is_empty());
        assert!(accept_allowances(&HomeFolders::default(), one, [&allowance]).is_err());
    }

    #[test]
    fn a_list_that_is_not_understood_is_refused() {
        let wrong = |text: &str| parse(Path::new("/a.json"), text).unwrap_err().to_string();
        assert!(wrong("[]").starts_with("/a.json:1: must be a table"));
        assert!(wrong("{\"/x\": true}").contains("must be a list of hashes"));
        assert!(wrong("{\"/x\": [1]}").contains("must be a list of hashes"));
    }
}
