//! Finds settings of a repository that make git start programs and that no environment variable switches off.
//!
//! A repository names its own drivers for text conversion, diff and filters, so no list of settings covers them; a command
//! in such a repository needs approval. Everything else that git would start while reading is switched off when it runs.

use std::path::{Path, PathBuf};

use crate::ruling::FileLookup;

/// The first setting that names a program, of the repository or of one of its submodules.
pub(in crate::ruling) fn configured_program(files: &dyn FileLookup, directory: &Path) -> Option<String> {
    let top = directory.ancestors().find(|folder| is_repository(files, folder))?;
    let modules = submodules(files, top).into_iter().filter(|folder| is_repository(files, folder));
    std::iter::once(top.to_path_buf()).chain(modules).find_map(|top| {
        let (git, common) = directories_of(files, &top);
        let settings = [common.join("config"), git.join("config.worktree")].into_iter();
        settings.filter_map(|path| files.read(&path)).find_map(|text| program_in(&text))
    })
}

/// The folders of the submodules in `.gitmodules`.
fn submodules(files: &dyn FileLookup, top: &Path) -> Vec<PathBuf> {
    let text = files.read(&top.join(".gitmodules")).unwrap_or_default();
    let paths = text.lines().filter_map(|line| line.split_once('=')).filter(|(key, _)| key.trim() == "path");
    paths.map(|(_, value)| top.join(value.trim().trim_matches('"'))).collect()
}

/// The git folder that all worktrees of the repository share.
pub(in crate::ruling) fn common_directory(files: &dyn FileLookup, directory: &Path) -> Option<PathBuf> {
    let top = directory.ancestors().find(|folder| is_repository(files, folder))?;
    Some(directories_of(files, top).1)
}

/// Git's own folder for this worktree, and the one that all worktrees share.
fn directories_of(files: &dyn FileLookup, top: &Path) -> (PathBuf, PathBuf) {
    let git = git_directory(files, top);
    let common = files.read(&git.join("commondir")).map_or_else(|| git.clone(), |path| git.join(path.trim()));
    (git, common)
}

fn is_repository(files: &dyn FileLookup, folder: &Path) -> bool {
    let git = folder.join(".git");
    files.read(&git).is_some() || ["HEAD", "config"].iter().any(|name| files.read(&git.join(name)).is_some())
}

/// The folder itself, or the one that a file of that name points to.
fn git_directory(files: &dyn FileLookup, top: &Path) -> PathBuf {
    let git = top.join(".git");
    let pointer = files.read(&git);
    match pointer.as_deref().and_then(|text| text.strip_prefix("gitdir:")) {
        Some(target) => top.join(target.trim()),
        None => git,
    }
}

const PROGRAMS: &[&str] = &["external", "textconv", "command", "clean", "smudge", "process"];
/// The filters of git-lfs.
const KNOWN: &[&str] = &["git-lfs clean -- %f", "git-lfs smudge -- %f", "git-lfs filter-process"];

/// The first setting in the text that names a program or includes other files. Accepts more as a setting than git does,
/// never less.
fn program_in(text: &str) -> Option<String> {
    let mut section = String::new();
    for line in text.trim_start_matches('\u{FEFF}').lines() {
        let mut rest = line.trim();
        while let Some(header) = rest.strip_prefix('[') {
            let end = header_end(header);
            section = header[..end].trim().to_owned();
            rest = header[end..].trim_start_matches(']').trim_start();
            if section.to_ascii_lowercase().starts_with("include") {
                return Some(section);
            }
        }
        let (key, value) = rest.split_once('=').unwrap_or((rest, ""));
        let key = key.trim().to_ascii_lowercase();
        if PROGRAMS.contains(&key.as_str()) && !KNOWN.contains(&value.trim().trim_matches('"')) {
            return Some(format!("{section} {key}"));
        }
    }
    None
}

/// Where a section's name ends: at a bracket that is not in quotes.
fn header_end(header: &str) -> usize {
    let (mut quoted, mut escaped) = (false, false);
    for (at, letter) in header.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ']' if !quoted => return at,
            _ => {}
        }
    }
    header.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_name_programs_are_found() {
        for (text, expected) in [
            ("[core]\n\tbare = false\n[remote \"origin\"]\n\turl = x\n", None),
            ("[diff]\n\texternal = x", Some("diff external")),
            ("[DIFF \"a\"] TextConv = x", Some("DIFF \"a\" textconv")),
            ("[diff \"a]b\"] textconv=x", Some("diff \"a]b\" textconv")),
            ("[diff \"a\\\"]b\"] command=x", Some("diff \"a\\\"]b\" command")),
            ("[core][diff \"a\"]command=x", Some("diff \"a\" command")),
            ("\u{FEFF}[filter.y]\r\n  clean = x\r\n", Some("filter.y clean")),
            ("[filter \"y\"]\nprocess\n", Some("filter \"y\" process")),
            ("[include]\npath = x", Some("include")),
            ("[includeIf \"gitdir:x\"]\npath = x", Some("includeIf \"gitdir:x\"")),
            ("[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\tprocess = git-lfs filter-process\n", None),
            ("[filter \"lfs\"]\n\tclean = git-lfs clean -- %f; evil\n", Some("filter \"lfs\" clean")),
        ] {
            assert_eq!(program_in(text).as_deref(), expected, "{text}");
        }
    }
}
