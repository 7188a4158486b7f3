//! The protected files that a command is known to write, so that an approval can name them.

use std::path::{Path, PathBuf};

use super::git;
use super::safe::CommandLocation;
use crate::protected::is_protected_in;
use crate::shell::{Segment, ShellWord};

/// Programs that write the files they are given.
const WRITERS: &[&str] = &[
    "chmod", "cp", "install", "ln", "mkdir", "mv", "patch", "rm", "rmdir", "tee", "touch", "truncate",
    "unlink",
];

/// Protected files that the command visibly writes: redirections, and arguments of writing programs.
pub(super) fn visible_writes(segment: &Segment, location: CommandLocation<'_>) -> Vec<PathBuf> {
    let redirections = segment.redirections.iter().filter(|redirection| redirection.write);
    let targets = redirections.filter_map(|redirection| redirection.target.text());
    let edits = segment.base() == Some("sed")
        && words(segment).iter().any(|word| word.starts_with("-i") || word.starts_with("--in"));
    let writes = edits || segment.base().is_some_and(|base| WRITERS.contains(&base));
    let operands = words(segment).into_iter().filter(|word| writes && !word.starts_with('-'));
    let paths = targets.chain(operands).flat_map(|name| location.paths(name).collect::<Vec<_>>());
    let resolved = paths.map(|path| location.files.resolve(&path).unwrap_or(path));
    unique(resolved.filter(|path| is_protected_in(location.roots, path)))
}

/// The same, and files that well-known commands write without naming them.
pub(super) fn suggested_writes(segment: &Segment, location: CommandLocation<'_>) -> Vec<PathBuf> {
    let mut writes = visible_writes(segment, location);
    let directory = location.directories.last().map_or(location.directory, PathBuf::as_path);
    let names = words(segment);
    writes.extend(match segment.base() {
        Some("git") => by_git(&names, directory, location),
        Some("npm" | "pnpm" | "yarn" | "bun") => by_package_manager(&names, directory),
        _ => Vec::new(),
    });
    unique(writes.into_iter())
}

fn by_git(names: &[&str], directory: &Path, location: CommandLocation<'_>) -> Vec<PathBuf> {
    let Some((folders, rest)) = git::subcommand(names) else { return Vec::new() };
    let mut directory = directory.to_path_buf();
    directory.extend(folders);
    let Some((subcommand, rest)) = rest.split_first() else { return Vec::new() };
    let has =
        |options: &[&str]| rest.iter().any(|word| options.contains(&word.split('=').next().unwrap_or(word)));
    let first = rest.iter().find(|word| !word.starts_with('-')).copied();
    let common =
        || git::common_directory(location.files, &directory).unwrap_or_else(|| directory.join(".git"));
    let settings = || vec![common().join("config")];
    match *subcommand {
        "init" => vec![directory.join(".git")],
        "clone" => vec![directory.join(cloned_into(rest)).join(".git")],
        "config" => settings(),
        "remote" if first.is_some_and(|first| first != "get-url" && first != "show") => settings(),
        "branch"
            if has(&[
                "-u",
                "--set-upstream-to",
                "-t",
                "--track",
                "--unset-upstream",
                "--edit-description",
            ]) =>
        {
            settings()
        }
        "branch" if has(&["-d", "-D", "-m", "-M", "--delete", "--move"]) => settings(),
        "push" if has(&["-u", "--set-upstream"]) => settings(),
        "checkout" | "switch" if has(&["-t", "--track"]) => settings(),
        "checkout" | "switch"
            if has(&["-b", "-B", "-c", "-C"]) && rest.iter().any(|word| word.contains('/')) =>
        {
            settings()
        }
        "sparse-checkout" => vec![common().join("config"), common().join("config.worktree")],
        "submodule" => {
            let top = common().parent().map_or_else(|| directory.clone(), Path::to_path_buf);
            vec![common().join("config"), common().join("modules"), top.join(".gitmodules")]
        }
        _ => Vec::new(),
    }
}

/// The second name, or the last part of the address.
fn cloned_into(words: &[&str]) -> String {
    let names: Vec<&str> = words.iter().filter(|word| !word.starts_with('-')).copied().collect();
    let last = names.last().copied().unwrap_or_default();
    let is_address = last.contains(':') || last.ends_with(".git") || names.len() == 1;
    let name =
        if is_address { last.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or(last) } else { last };
    name.trim_end_matches(".git").to_owned()
}

fn by_package_manager(names: &[&str], directory: &Path) -> Vec<PathBuf> {
    const CHANGING: &[&str] =
        &["add", "init", "pkg", "remove", "rm", "un", "uninstall", "up", "update", "upgrade", "version"];
    let operands: Vec<&str> = names.iter().filter(|word| !word.starts_with('-')).copied().collect();
    match operands.as_slice() {
        ["install" | "i", _, ..] => vec![directory.join("package.json")],
        [subcommand, ..] if CHANGING.contains(subcommand) => vec![directory.join("package.json")],
        _ => Vec::new(),
    }
}

fn words(segment: &Segment) -> Vec<&str> {
    segment.words.iter().skip(1).filter_map(ShellWord::text).collect()
}

fn unique(paths: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !all.contains(&path) {
            all.push(path);
        }
    }
    all
}
