//! Commands that are known to change nothing and to read nothing outside the workspace.

use std::path::{Path, PathBuf};

use super::dangerous::{finds_and_acts, is_short, searches_with_program};
use super::inside::inside;
use super::{FileLookup, git};
use crate::shell::{Segment, ShellWord};

/// Their arguments are not paths, and none of their flags does more.
pub(super) const WORDS: &[&str] =
    &["[", "echo", "expr", "false", "id", "numfmt", "pwd", "seq", "tr", "true", "uname", "which", "whoami"];
/// They read the given files, and none of their flags does more.
const FILES: &[&str] = &[
    "cat", "cut", "egrep", "fgrep", "grep", "head", "ls", "nl", "paste", "rev", "stat", "tac", "tail", "wc",
];
/// Folders of system programs.
const SYSTEM: &[&str] = &["/bin/", "/usr/bin/"];

/// Where a command runs.
#[derive(Clone, Copy)]
pub(super) struct CommandLocation<'a> {
    /// Where the line starts.
    pub(super) directory: &'a Path,
    /// Where the command may run when the line changes folders; the first is the start.
    pub(super) directories: &'a [PathBuf],
    pub(super) roots: &'a [PathBuf],
    pub(super) files: &'a dyn FileLookup,
    /// Whether the line changes folders, so that `..` is ambiguous.
    pub(super) moves: bool,
}

impl CommandLocation<'_> {
    /// All paths that a name can mean.
    pub(super) fn paths(&self, name: &str) -> impl Iterator<Item = PathBuf> {
        self.directories.iter().map(move |directory| directory.join(name))
    }
}

/// Where the commands of a line may run: where it starts, and where each `cd` leads.
pub(super) fn directories(segments: &[Segment], start: &Path) -> Vec<PathBuf> {
    let mut all = vec![start.to_path_buf()];
    let mut current = start.to_path_buf();
    for segment in segments.iter().filter(|segment| matches!(segment.base(), Some("cd" | "pushd"))) {
        let Some(target) = segment.words.get(1).and_then(ShellWord::text) else { continue };
        current.push(target);
        for location in [start.join(target), current.clone()] {
            if !all.contains(&location) {
                all.push(location);
            }
        }
    }
    all
}

/// Whether the command is one of them. Checks redirected input, not output.
pub(super) fn known_safe(segment: &Segment, location: CommandLocation<'_>) -> bool {
    let reads = segment.redirections.iter().filter(|redirection| !redirection.write);
    reads.into_iter().all(|redirection| is_inside(&redirection.target, location))
        && is_safe(segment, location)
}

fn is_safe(segment: &Segment, location: CommandLocation<'_>) -> bool {
    // Assignments alone last no longer than the line.
    let Some(program) = segment.words.first() else { return true };
    let Some(program) = program.text() else { return false };
    let program = SYSTEM.iter().find_map(|folder| program.strip_prefix(folder)).unwrap_or(program);
    let arguments = &segment.words[1..];
    if !segment.assignments.is_empty() || arguments.contains(&ShellWord::Unknown) {
        return false;
    }
    if WORDS.contains(&program) {
        return true;
    }
    let names: Vec<&str> = arguments.iter().filter_map(ShellWord::text).collect();
    if names.iter().any(|name| follows_links(program, name)) {
        return false;
    }
    if FILES.contains(&program) {
        return files_are_inside(arguments, location);
    }
    // A glob can match a file whose name is a flag.
    let steady = arguments
        .iter()
        .all(|word| !matches!(word, ShellWord::Pattern(text) if text.starts_with(['*', '?', '['])));
    steady
        && match program {
            "cd" => {
                names.len() == 1
                    && arguments.len() == 1
                    && !names[0].starts_with('-')
                    && files_are_inside(arguments, location)
            }
            "uniq" => {
                names.len() == arguments.len()
                    && uniq_writes_nothing(&names)
                    && files_are_inside(arguments, location)
            }
            "base64" => {
                !names.iter().any(|name| is_short(name, 'o') || name.starts_with("--o"))
                    && files_are_inside(arguments, location)
            }
            "find" => {
                !names.iter().any(|name| finds_and_acts(name) || name.starts_with("-files0"))
                    && files_are_inside(arguments, location)
            }
            "rg" => {
                !names.iter().any(|name| searches_with_program(name)) && files_are_inside(arguments, location)
            }
            "sed" => prints_lines(&names) && files_are_inside(arguments, location),
            "git" => names.len() == arguments.len() && git_looks_inside(&names, location),
            _ => false,
        }
}

/// Whether the option makes the program follow every link.
fn follows_links(program: &str, option: &str) -> bool {
    let long = |names: &[&str]| names.iter().any(|name| option.len() > 4 && name.starts_with(option));
    match program {
        "grep" | "egrep" | "fgrep" => is_short(option, 'R') || long(&["--dereference-recursive"]),
        "rg" => is_short(option, 'L') || long(&["--follow"]),
        "ls" | "stat" => is_short(option, 'L') || long(&["--dereference"]),
        "find" => option == "-L" || option == "-follow",
        _ => false,
    }
}

/// Git's folders and arguments are all inside.
fn git_looks_inside(names: &[&str], location: CommandLocation<'_>) -> bool {
    let Some(look) = git::parse_read(names) else { return false };
    let mut directory = location.directory.to_path_buf();
    for folder in look.folders {
        if !is_inside(
            &ShellWord::Text(folder.to_owned()),
            CommandLocation { directory: &directory, ..location },
        ) {
            return false;
        }
        directory.push(folder);
    }
    let location = CommandLocation { directory: &directory, ..location };
    look.paths.into_iter().all(|path| is_inside(&ShellWord::Text(path.to_owned()), location))
}

fn files_are_inside(arguments: &[ShellWord], location: CommandLocation<'_>) -> bool {
    arguments.iter().all(|word| match word.text() {
        // A value may be joined to a flag.
        Some(flag) if flag.starts_with('-') => {
            !flag.contains('/') && !flag.contains('~') && !flag.contains("..")
        }
        _ => is_inside(word, location),
    })
}

fn is_inside(word: &ShellWord, location: CommandLocation<'_>) -> bool {
    match word {
        ShellWord::Text(text) => {
            !(location.moves && text.contains("..")) && inside(text, location.directory, location.roots)
        }
        ShellWord::Pattern(text) => !text.contains("..") && inside(text, location.directory, location.roots),
        ShellWord::Unknown => false,
    }
}

/// The second name is the output file.
fn uniq_writes_nothing(names: &[&str]) -> bool {
    const FLAGS: &[&str] = &["-c", "-d", "-u", "-i", "-D", "-z"];
    names.iter().all(|name| !name.starts_with('-') || FLAGS.contains(name))
        && names.iter().filter(|name| !name.starts_with('-')).count() <= 1
}

/// `sed -n 5p`, `sed -n 5,9p file`: sed can also write files and run programs.
fn prints_lines(names: &[&str]) -> bool {
    let number =
        |text: &str| text == "$" || (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()));
    match names {
        ["-n", script, files @ ..] => {
            let lines = script
                .strip_suffix('p')
                .is_some_and(|lines| lines.split(',').all(number) && lines.matches(',').count() < 2);
            lines && files.iter().all(|file| !file.starts_with('-'))
        }
        _ => false,
    }
}
