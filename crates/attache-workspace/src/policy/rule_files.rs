//! Rules from files and folders.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use attache_config::ConfigError;
use attache_tool::policy::{PolicyRule, PolicyTier, read};

use super::AUTO_SAVED;
use crate::file_stamps;
use crate::read_file::{is_absence, read_text};

const MAX_BYTES: u64 = 1 << 20;
const MAX_FILES: usize = 256;

pub(super) const ROOT: u32 = 0;

/// The `.toml` files of a folder, by name; none when there is no such folder.
pub(super) fn folder(
    path: &Path,
    tier: PolicyTier,
    beneath: Option<&Path>,
    saved: bool,
) -> Result<Vec<PolicyRule>, ConfigError> {
    let mut rules = Vec::new();
    for file in files(path)? {
        if saved || file.file_name().is_none_or(|name| name != AUTO_SAVED) {
            rules.extend(from_file(&file, tier, beneath)?);
        }
    }
    Ok(rules)
}

/// The `.toml` files of a project's folder, each with its rules.
pub(super) fn files_of(
    path: &Path,
    tier: PolicyTier,
    beneath: &Path,
    saved: bool,
) -> Result<Vec<(PathBuf, Vec<PolicyRule>)>, ConfigError> {
    let mut found = Vec::new();
    for file in files(path)? {
        if saved || file.file_name().is_none_or(|name| name != AUTO_SAVED) {
            let rules = from_file(&file, tier, Some(beneath))?;
            found.push((file, rules));
        }
    }
    Ok(found)
}

/// The rules in the file of permanent answers, if there is one.
pub(super) fn answers(path: &Path, tier: PolicyTier) -> Result<Vec<PolicyRule>, ConfigError> {
    let text = read_text(path, MAX_BYTES, None).map_err(|source| unreadable(path, source))?;
    text.map_or_else(|| Ok(Vec::new()), |text| rules_in(path, &text, tier))
}

/// The rules of a file or folder that was named explicitly, so it must exist.
pub(super) fn named(path: &Path, tier: PolicyTier) -> Result<Vec<PolicyRule>, ConfigError> {
    file_stamps::content(path);
    let metadata = fs::metadata(path).map_err(|source| unreadable(path, source))?;
    if metadata.is_dir() { folder(path, tier, None, true) } else { from_file(path, tier, None) }
}

/// The administrator's rules. Only `owner` can be allowed to write them.
pub(super) fn of_administrator(path: &Path, owner: u32) -> Result<Vec<PolicyRule>, ConfigError> {
    let files = files(path)?;
    if files.is_empty() {
        return Ok(Vec::new());
    }
    for place in std::iter::once(path).chain(files.iter().map(PathBuf::as_path)) {
        file_stamps::content(place);
        let metadata = fs::metadata(place).map_err(|source| unreadable(place, source))?;
        if let Some(why) = unsafe_because(metadata.uid(), metadata.mode(), owner) {
            return Err(ConfigError::UnsafeRules { path: place.to_owned(), why });
        }
    }
    let mut rules = Vec::new();
    for file in files {
        rules.extend(from_file(&file, PolicyTier::Admin, None)?);
    }
    Ok(rules)
}

fn unsafe_because(uid: u32, mode: u32, owner: u32) -> Option<&'static str> {
    if uid != owner {
        return Some("it does not belong to root");
    }
    (mode & 0o022 != 0).then_some("others than root can write it")
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, ConfigError> {
    file_stamps::content(folder);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if is_absence(&error) => return Ok(Vec::new()),
        Err(source) => return Err(unreadable(folder, source)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|source| unreadable(folder, source))?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
        if files.len() > MAX_FILES {
            let source = std::io::Error::other(format!("it holds more than {MAX_FILES} files"));
            return Err(unreadable(folder, source));
        }
    }
    files.sort();
    Ok(files)
}

fn from_file(path: &Path, tier: PolicyTier, beneath: Option<&Path>) -> Result<Vec<PolicyRule>, ConfigError> {
    let text = read_text(path, MAX_BYTES, beneath).map_err(|source| unreadable(path, source))?;
    let text = text.ok_or_else(|| unreadable(path, std::io::ErrorKind::NotFound.into()))?;
    rules_in(path, &text, tier)
}

/// The rules in the text of a file.
pub(super) fn rules_in(path: &Path, text: &str, tier: PolicyTier) -> Result<Vec<PolicyRule>, ConfigError> {
    read(&path.display().to_string(), text, tier).map_err(|error| ConfigError::BadRules(Box::new(error)))
}

fn unreadable(path: &Path, source: std::io::Error) -> ConfigError {
    ConfigError::Unreadable { what: "rules in", path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_owner_may_be_able_to_write() {
        for (uid, mode, safe) in
            [(0, 0o755, true), (0, 0o644, true), (0, 0o775, false), (0, 0o646, false), (1000, 0o755, false)]
        {
            assert_eq!(unsafe_because(uid, mode, ROOT).is_none(), safe, "{uid} {mode:o}");
        }
    }
}
