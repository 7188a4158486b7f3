//! Which form of a command "always" allows, and whether a command has that form.

use super::inside::inside;
use super::named_files::is_inside_resolved;
use super::safe::CommandLocation;
use crate::policy::{CommandPattern, CommandShape};
use crate::shell::{Segment, ShellWord};

/// Programs whose arguments are files and names: none of them starts another program that an argument names.
const PLAIN: &[&str] = &[
    "black",
    "chmod",
    "clang-format",
    "cmp",
    "cp",
    "date",
    "df",
    "diff",
    "du",
    "eslint",
    "file",
    "flake8",
    "gofmt",
    "jest",
    "jq",
    "mkdir",
    "mv",
    "mypy",
    "prettier",
    "pytest",
    "rm",
    "rmdir",
    "ruff",
    "rustfmt",
    "shellcheck",
    "sort",
    "touch",
    "tree",
    "tsc",
    "vitest",
];

/// Subcommands that work on files and names of the workspace.
const SUBCOMMANDS: &[(&str, &[&str])] = &[
    ("git", &["add", "apply", "commit", "mv", "rm"]),
    (
        "cargo",
        &[
            "b", "bench", "build", "c", "check", "clean", "clippy", "doc", "fmt", "metadata", "r", "run",
            "t", "test", "tree",
        ],
    ),
    ("go", &["build", "fmt", "generate", "list", "run", "test", "vet"]),
    ("npm", &["ls", "outdated", "start", "t", "test"]),
    ("pnpm", &["ls", "outdated", "start", "t", "test"]),
    ("yarn", &["start", "test"]),
    ("bun", &["test"]),
    ("pip", &["check", "freeze", "list", "show"]),
    ("pip3", &["check", "freeze", "list", "show"]),
    ("dotnet", &["build", "format", "test"]),
    ("swift", &["build", "test"]),
];
/// Subcommands whose second word says what they do.
const DEEPER: &[(&str, &[&str])] = &[
    ("git", &["notes", "stash", "worktree"]),
    ("cargo", &["nextest"]),
    ("go", &["mod", "work"]),
    ("npm", &["run", "run-script"]),
    ("pnpm", &["run", "run-script"]),
    ("yarn", &["run"]),
    ("bun", &["run"]),
];
/// Subcommands that use the network or can discard work: same options and same arguments only.
const FIXED: &[(&str, &[&str])] = &[(
    "git",
    &[
        "branch",
        "checkout",
        "cherry-pick",
        "fetch",
        "merge",
        "pull",
        "push",
        "rebase",
        "reset",
        "restore",
        "revert",
        "switch",
        "tag",
    ],
)];

/// The form to allow. None when no form is narrow enough: a path outside, or an unknown word.
pub(super) fn shape_of(segment: &Segment, location: CommandLocation<'_>) -> Option<CommandShape> {
    let program = segment.program().filter(|program| !program.is_empty())?;
    if !segment.assignments.is_empty() || !reads_inside(segment, location) {
        return None;
    }
    let arguments = &segment.words[1..];
    if !arguments.iter().all(|word| stays_inside(word, location)) {
        return None;
    }
    let line = || segment.words.iter().map(|word| Some(word.text()?.to_owned())).collect::<Option<Vec<_>>>();
    let Some((length, free)) = subcommand(program, arguments) else {
        // A program of somewhere else than the system or the workspace may be another one the next time.
        let known = !program.contains('/') || inside(program, location.directory, location.roots);
        return line().filter(|_| known).map(CommandShape::Line);
    };
    let words =
        segment.words[..length].iter().map(|word| Some(word.text()?.to_owned())).collect::<Option<_>>()?;
    let (options, operands) = split(&segment.words[length..]);
    let special: Vec<String> = operands
        .iter()
        .filter_map(|word| word.text())
        .filter(|word| !free || is_special(word))
        .map(str::to_owned)
        .collect();
    if !free && special.len() != operands.len() {
        return None;
    }
    let inside = free && operands.len() > special.len();
    Some(CommandShape::Like(CommandPattern { words, options: sorted(options), fixed: special, inside }))
}

/// How many words name the program and subcommand, and whether other arguments may follow. None: only the exact line can be
/// allowed, because the program can start any other.
fn subcommand(program: &str, arguments: &[ShellWord]) -> Option<(usize, bool)> {
    if PLAIN.contains(&program) {
        return Some((1, true));
    }
    let word =
        |at: usize| arguments.get(at).and_then(ShellWord::text).filter(|word| !word.starts_with(['-', '+']));
    let first = word(0)?;
    let listed = |table: &[(&str, &[&str])]| {
        table.iter().any(|(name, subcommands)| *name == program && subcommands.contains(&first))
    };
    if listed(DEEPER) {
        return word(1).map(|_| (3, true)).or_else(|| arguments.get(1).is_none().then_some((2, false)));
    }
    if listed(FIXED) {
        return Some((2, false));
    }
    listed(SUBCOMMANDS).then_some((2, true))
}

/// Whether the command has the form. Output redirections are not checked.
pub(super) fn fits(shape: &CommandShape, segment: &Segment, location: CommandLocation<'_>) -> bool {
    if !segment.assignments.is_empty() || !reads_inside(segment, location) {
        return false;
    }
    let texts = |words: &[ShellWord], expected: &[String]| {
        words.len() == expected.len()
            && words.iter().zip(expected).all(|(word, expected)| word.text() == Some(expected))
    };
    let like = match shape {
        CommandShape::Line(words) => {
            return texts(&segment.words, words)
                && segment.words.iter().skip(1).all(|word| stays_inside(word, location));
        }
        CommandShape::Like(like) => like,
    };
    let Some(start) = segment.words.get(..like.words.len()) else { return false };
    let (options, operands) = split(&segment.words[like.words.len()..]);
    let allowed = |word: &&ShellWord| match word {
        ShellWord::Text(text) if like.fixed.contains(text) => true,
        ShellWord::Text(text) => !is_special(text) && stays_inside(word, location),
        ShellWord::Pattern(_) => stays_inside(word, location),
        ShellWord::Unknown => false,
    };
    let fitting = if like.inside {
        operands.iter().all(allowed)
    } else {
        operands.iter().map(|word| word.text()).eq(like.fixed.iter().map(|text| Some(text.as_str())))
    };
    fitting && texts(start, &like.words) && sorted(options) == like.options
}

/// Options and the rest; a value of an option counts among the rest.
fn split(words: &[ShellWord]) -> (Vec<&str>, Vec<&ShellWord>) {
    let is_option =
        |word: &ShellWord| word.text().is_some_and(|text| text.starts_with('-') && text.len() > 1);
    let (options, operands): (Vec<&ShellWord>, Vec<&ShellWord>) =
        words.iter().partition(|word| is_option(word));
    (options.into_iter().filter_map(ShellWord::text).collect(), operands)
}

fn sorted(options: Vec<&str>) -> Vec<String> {
    let mut options: Vec<String> = options.into_iter().map(str::to_owned).collect();
    options.sort();
    options.dedup();
    options
}

/// Whether the word may mean more than a name or a text: an address, a setting, a version.
fn is_special(word: &str) -> bool {
    word.starts_with(['+', '@', '!', ':', '%'])
        || word.contains("::")
        || word.contains("://")
        || (!word.contains(char::is_whitespace) && word.contains([':', '=', '@', '%', '$', '`']))
}

fn reads_inside(segment: &Segment, location: CommandLocation<'_>) -> bool {
    let mut reads = segment.redirections.iter().filter(|redirection| !redirection.write);
    reads.all(|redirection| stays_inside(&redirection.target, location))
}

fn stays_inside(word: &ShellWord, location: CommandLocation<'_>) -> bool {
    let text = match word {
        ShellWord::Unknown => return false,
        // What it stands for could be an option.
        ShellWord::Pattern(text) if text.starts_with(['*', '?', '[', '{', '-']) => return false,
        ShellWord::Pattern(text) => {
            return !text.contains("..") && inside(text, location.directory, location.roots);
        }
        ShellWord::Text(text) => text,
    };
    if let Some(option) = text.strip_prefix('-') {
        let value = option
            .split_once('=')
            .map_or_else(|| &option[option.find('/').unwrap_or(option.len())..], |(_, value)| value);
        return !option.contains('~') && !option.contains("..") && is_path_inside(value, location);
    }
    is_path_inside(text, location)
}

fn is_path_inside(text: &str, location: CommandLocation<'_>) -> bool {
    !(location.moves && text.contains(".."))
        && location.directories.iter().all(|directory| inside(text, directory, location.roots))
        && location.paths(text).all(|path| is_inside_resolved(&path, location))
}
