//! Which uses of git only read, and which do more than they seem to. Parses options as git does.

mod arguments;
mod repository;
mod table;

use super::dangerous::is_short;
use crate::shell::{Segment, ShellWord};

pub(super) use repository::{common_directory, configured_program};

/// Options before the subcommand that only affect output or paths.
const GLOBAL: &[&str] = &[
    "-p",
    "--paginate",
    "-P",
    "--no-pager",
    "--no-replace-objects",
    "--no-lazy-fetch",
    "--no-optional-locks",
    "--no-advice",
    "--literal-pathspecs",
    "--glob-pathspecs",
    "--noglob-pathspecs",
    "--icase-pathspecs",
];
/// Options before the subcommand that set something, or say which repository and whose programs are used; followed by a
/// value.
const STEERING: &[&str] = &[
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
    "--config-env",
    "--super-prefix",
    "--attr-source",
    "--list-cmds",
];
/// Alone, they only print something.
const TELLING: &[&str] = &["-v", "--version", "--exec-path", "--html-path", "--man-path", "--info-path"];

/// The options before the subcommand.
#[derive(Default)]
struct Globals<'a> {
    folders: Vec<&'a str>,
    /// An option changes what git runs or which repository it uses.
    steered: bool,
}

/// A use of git that only reads.
pub(super) struct GitRead<'a> {
    /// The folders of `-C`, in order.
    pub(super) folders: Vec<&'a str>,
    /// The arguments that can be paths.
    pub(super) paths: Vec<&'a str>,
}

/// None when it does more than read, or when that is unknown.
pub(super) fn parse_read<'a>(words: &[&'a str]) -> Option<GitRead<'a>> {
    if let [word] = words
        && TELLING.contains(word)
    {
        return Some(GitRead { folders: Vec::new(), paths: Vec::new() });
    }
    let known: Vec<Option<&str>> = words.iter().copied().map(Some).collect();
    let (globals, at) = globals(&known)?;
    let paths = arguments::paths(words.get(at..)?).filter(|_| !globals.steered)?;
    let mut all = Vec::new();
    for path in paths {
        // `HEAD:file` and `1,5:file` name a file behind the colon.
        all.extend(path.match_indices(':').map(|(at, _)| &path[at + 1..]));
        all.push(path);
    }
    Some(GitRead { folders: globals.folders, paths: all })
}

/// The folders of `-C`, and the subcommand with its words. None when an option is unknown.
pub(super) fn subcommand<'a, 'w>(words: &'w [&'a str]) -> Option<(Vec<&'a str>, &'w [&'a str])> {
    let known: Vec<Option<&str>> = words.iter().copied().map(Some).collect();
    let (globals, at) = globals(&known)?;
    Some((globals.folders, words.get(at..)?))
}

/// The options before the subcommand, and its index. None when an option is unknown.
fn globals<'a>(words: &[Option<&'a str>]) -> Option<(Globals<'a>, usize)> {
    let mut globals = Globals::default();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let Some(text) = *word else { return Some((globals, at)) };
        if !text.starts_with('-') {
            return Some((globals, at));
        }
        let name = text.split('=').next().unwrap_or(text);
        at += match text {
            "-C" => {
                globals.folders.push((*words.get(at + 1)?)?);
                2
            }
            plain if GLOBAL.contains(&plain) => 1,
            "--bare" => {
                globals.steered = true;
                1
            }
            _ if STEERING.contains(&name) => {
                globals.steered = true;
                if name == text { 2 } else { 1 }
            }
            _ => return None,
        };
    }
    Some((globals, at))
}

/// Subcommands that run other programs or discard work.
const RUNNERS: &[&str] = &[
    "citool",
    "clean",
    "credential",
    "daemon",
    "difftool",
    "filter-branch",
    "for-each-repo",
    "gui",
    "hook",
    "instaweb",
    "maintenance",
    "mergetool",
    "p4",
    "send-email",
    "svn",
    "web--browse",
];

/// Options of any subcommand that run a program or write elsewhere.
const RUNNING: &[&str] = &[
    "--config-env",
    "--exec",
    "--ext-diff",
    "--extcmd",
    "--open-files-in-pager",
    "--output",
    "--output-directory",
    "--receive-pack",
    "--textconv",
    "--upload-pack",
];

/// Whether it overrides settings, runs another program, or discards work. Unknown words count as dangerous.
pub(super) fn is_dangerous(segment: &Segment) -> bool {
    let words: Vec<Option<&str>> = segment.words.iter().skip(1).map(ShellWord::text).collect();
    if let [Some(word)] = words[..]
        && (TELLING.contains(&word) || word == "--help")
    {
        return false;
    }
    let Some((globals, at)) = globals(&words) else { return true };
    let rest = words.get(at..).unwrap_or_default();
    match rest.split_first() {
        None => globals.steered,
        Some((None, _)) => true,
        Some((Some(name), rest)) => {
            let rest: Vec<&str> = rest.iter().copied().flatten().collect();
            globals.steered || RUNNERS.contains(name) || does_more(name, &rest)
        }
    }
}

fn does_more(subcommand: &str, words: &[&str]) -> bool {
    let first = words.iter().find(|word| !word.starts_with('-')).copied();
    let letter = |letter: char| words.iter().any(|word| is_short(word, letter));
    let long = |names: &[&str]| words.iter().any(|word| is_beginning(word, names));
    long(RUNNING)
        || match subcommand {
            "push" => {
                letter('f')
                    || long(&["--force", "--force-with-lease"])
                    || words.iter().any(|word| word.starts_with('+'))
            }
            "reset" => long(&["--hard"]),
            "bisect" => first == Some("run"),
            "rebase" => letter('x'),
            "submodule" => first == Some("foreach"),
            "branch" => letter('D'),
            "grep" => letter('O'),
            "clone" => letter('u') || letter('c') || long(&["--config", "--template"]),
            "init" => long(&["--template"]),
            "archive" => letter('o') || long(&["--remote"]),
            "fetch" | "pull" | "ls-remote" => words.iter().any(|word| word.contains("::")),
            "config" => !only_reads(words),
            "help" => letter('w') || letter('i') || long(&["--web", "--info"]),
            _ => false,
        }
}

/// Settings decide what git runs, so only plain reads are safe.
fn only_reads(words: &[&str]) -> bool {
    const READING: &[&str] = &["--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l"];
    const WRITING: &[&str] = &[
        "--add",
        "--replace-all",
        "--unset",
        "--unset-all",
        "--rename-section",
        "--remove-section",
        "--edit",
        "-e",
    ];
    let reads =
        matches!(words.first(), Some(&("get" | "list"))) || words.iter().any(|word| READING.contains(word));
    reads && !words.iter().any(|word| WRITING.contains(word))
}

/// Whether git would complete the word to one of these options.
fn is_beginning(word: &str, names: &[&str]) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    // An option of its own.
    name != "--text" && name.len() > 2 && names.iter().any(|known| known.starts_with(name))
}
