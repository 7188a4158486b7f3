//! Which uses of git only look, and which do more than they seem to.

use super::dangerous::is_short;
use crate::shell::{Segment, Word};

const LOOKING: &[&str] = &["status", "log", "diff", "show", "branch", "rev-parse", "ls-files"];

/// Flags that only shape what is shown. Git also takes beginnings of long flags, so nothing else is let through.
const SHOWING: &[&str] = &[
    "-1",
    "-2",
    "-3",
    "-5",
    "-10",
    "-20",
    "-a",
    "-b",
    "-p",
    "-r",
    "-s",
    "-u",
    "-v",
    "-vv",
    "-w",
    "--abbrev-commit",
    "--abbrev-ref",
    "--all",
    "--branch",
    "--cached",
    "--color",
    "--decorate",
    "--first-parent",
    "--follow",
    "--graph",
    "--list",
    "--merges",
    "--name-only",
    "--name-status",
    "--no-color",
    "--no-ext-diff",
    "--no-merges",
    "--no-patch",
    "--no-textconv",
    "--numstat",
    "--oneline",
    "--patch",
    "--porcelain",
    "--remotes",
    "--reverse",
    "--short",
    "--shortstat",
    "--show-current",
    "--show-toplevel",
    "--staged",
    "--stat",
    "--summary",
    "--verify",
    "--word-diff",
];
const SHOWING_VALUES: &[&str] = &[
    "--after=",
    "--author=",
    "--before=",
    "--color=",
    "--date=",
    "--diff-filter=",
    "--format=",
    "--grep=",
    "--max-count=",
    "--porcelain=",
    "--pretty=",
    "--since=",
    "--sort=",
    "--unified=",
    "--until=",
];

/// Options before the subcommand that change what runs, or after it that run something or write elsewhere.
const RUNNING: &[&str] = &[
    "--config-env",
    "--exec",
    "--ext-diff",
    "--out",
    "--open-files-in-pager",
    "--receive-pack",
    "--textc",
    "--upload-pack",
];

/// The arguments that can be paths; none when it does more than look.
pub(super) fn looks(arguments: &[&str]) -> Option<Vec<String>> {
    let (subcommand, rest) = arguments.split_first()?;
    if !LOOKING.contains(subcommand) {
        return None;
    }
    let mut paths = Vec::new();
    let mut flags = true;
    for argument in rest {
        if *argument == "--" {
            flags = false;
        } else if flags && argument.starts_with('-') {
            shows(argument).then_some(())?;
        } else {
            paths.push((*argument).to_owned());
        }
    }
    // A name after `branch` makes one.
    let lists = *subcommand != "branch" || paths.is_empty() || rest.contains(&"--list");
    lists.then_some(paths)
}

fn shows(flag: &str) -> bool {
    let number =
        |start: &str| flag.strip_prefix(start).is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_digit()));
    SHOWING.contains(&flag)
        || number("-n")
        || number("-U")
        || number("-")
        || SHOWING_VALUES.iter().any(|start| flag.starts_with(start))
}

/// Whether it sets something for this one time, runs something else, or throws work away.
pub(super) fn is_dangerous(segment: &Segment) -> bool {
    let arguments = &segment.words[1..];
    let subcommand = arguments.iter().position(|word| word.text().is_none_or(|text| !text.starts_with('-')));
    let (before, after) = arguments.split_at(subcommand.unwrap_or(arguments.len()));
    let Some(name) = after.first().map(|word| word.text()) else {
        return before.iter().any(|word| word.text().is_none_or(|text| is_short(text, 'c')));
    };
    // What is not known could be any of these.
    let Some(name) = name else { return true };
    let texts: Vec<&str> = after[1..].iter().filter_map(Word::text).collect();
    let has = |starts: &[&str]| texts.iter().any(|text| starts.iter().any(|start| text.starts_with(start)));
    let steered = |word: &Word| {
        word.text().is_none_or(|text| {
            text.starts_with("-c") || text.starts_with("--config-env") || text.starts_with("--exec")
        })
    };
    before.iter().any(steered)
        || has(RUNNING)
        || match name {
            "clean" | "filter-branch" => true,
            "push" => texts
                .iter()
                .any(|text| is_short(text, 'f') || text.starts_with("--force") || text.starts_with('+')),
            "reset" => has(&["--hard"]),
            "bisect" => texts.first() == Some(&"run"),
            "rebase" => texts.iter().any(|text| is_short(text, 'x')),
            "submodule" => texts.first() == Some(&"foreach"),
            "branch" => texts.iter().any(|text| is_short(text, 'D')),
            _ => false,
        }
}
