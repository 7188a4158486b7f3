//! The files that a reading command really touches: follows links, and checks ignore rules and the repository's settings.
//!
//! Globs such as `*` are not expanded; the confinement limits what they match.

use std::path::Path;

use super::git;
use super::inside::inside_path;
use super::safe::{CommandLocation, WORDS};
use crate::shell::{Segment, ShellWord};

/// Programs that print the given files.
const READERS: &[&str] = &[
    "base64", "cat", "cut", "egrep", "fgrep", "grep", "head", "nl", "paste", "rev", "rg", "sed", "tac",
    "tail", "uniq", "wc",
];
/// Their first argument is a pattern.
const SEARCHERS: &[&str] = &["egrep", "fgrep", "grep", "rg"];

/// The argument of a known command that leads out of the workspace over a link.
pub(super) fn leading_out(segment: &Segment, location: CommandLocation<'_>) -> Option<String> {
    let words = segment.base().is_some_and(|base| WORDS.contains(&base));
    let names = named(segment, if words { usize::MAX } else { 0 });
    let out = |name: &&str| location.paths(name).any(|path| !is_inside_resolved(&path, location));
    names.into_iter().find(out).map(|name| format!("{name} is a link that leads out of the workspace"))
}

/// Whether the resolved path is inside.
pub(super) fn is_inside_resolved(path: &Path, location: CommandLocation<'_>) -> bool {
    location.files.resolve(path).is_some_and(|path| inside_path(&path, location.roots))
}

/// A file that ignore rules hide from the other tools and the command would print.
pub(super) fn ignored(segment: &Segment, location: CommandLocation<'_>) -> Option<String> {
    let base = segment.base().filter(|base| READERS.contains(base))?;
    let skipped = usize::from(SEARCHERS.contains(&base) && !gives_pattern(segment));
    let names = named(segment, skipped);
    let hidden = |path: &Path| {
        let resolved = location.files.resolve(path);
        location.files.is_ignored(path)
            || resolved.is_some_and(|resolved| location.files.is_ignored(&resolved))
    };
    let found = names.into_iter().find(|name| location.paths(name).any(|path| hidden(&path)));
    found.map(|name| format!("ignore rules hide {name} from the agent"))
}

/// A setting of the repository that would start a program.
pub(super) fn configured_program(segment: &Segment, location: CommandLocation<'_>) -> Option<String> {
    if segment.base() != Some("git") {
        return None;
    }
    let names = segment.known_arguments()?;
    let folders = git::parse_read(&names)?.folders;
    let found = location.directories.iter().find_map(|directory| {
        let mut directory = directory.clone();
        directory.extend(&folders);
        git::configured_program(location.files, &directory)
    });
    found.map(|setting| format!("the repository's settings name a program that git would start ({setting})"))
}

/// Words that can name files: operands after `skipped`, values joined to options, and redirected input.
fn named(segment: &Segment, skipped: usize) -> Vec<&str> {
    let words = segment.words.iter().skip(1).filter_map(ShellWord::text);
    let (options, operands): (Vec<&str>, Vec<&str>) = words.partition(|word| word.starts_with('-'));
    let joined = options.into_iter().flat_map(|option| {
        let value = option.split_once('=').map(|(_, value)| value);
        value.into_iter().chain(option.get(2..).filter(|_| !option.starts_with("--")))
    });
    let reads = segment.redirections.iter().filter(|redirection| !redirection.write);
    let reads = reads.filter_map(|redirection| redirection.target.text());
    let names = operands.into_iter().skip(skipped).chain(joined).chain(reads);
    names.filter(|name| !name.is_empty()).collect()
}

/// Whether an option gives the pattern, so that every argument is a file.
fn gives_pattern(segment: &Segment) -> bool {
    let options = segment.words.iter().filter_map(ShellWord::text).filter(|word| word.starts_with('-'));
    let mut options = options.map(|option| option.trim_start_matches('-'));
    options.any(|option| option.starts_with(['e', 'f']) || option.starts_with("regexp") || option == "files")
}
