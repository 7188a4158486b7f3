//! Commands that can start more than their words show.

use super::{Segment, ShellWord};

/// Change the meaning of later words, run text from elsewhere, or start other programs in ways that are not expanded.
const OPAQUE: &[&str] = &[
    ".",
    "alias",
    "ash",
    "at",
    "batch",
    "bind",
    "busybox",
    "chroot",
    "compgen",
    "complete",
    "coproc",
    "csh",
    "doas",
    "enable",
    "entr",
    "expect",
    "fc",
    "fish",
    "flock",
    "gdb",
    "hash",
    "ltrace",
    "mapfile",
    "nsenter",
    "nu",
    "parallel",
    "pkexec",
    "pwsh",
    "readarray",
    "runuser",
    "script",
    "setarch",
    "setpriv",
    "shopt",
    "source",
    "strace",
    "su",
    "systemd-run",
    "taskset",
    "tcsh",
    "toybox",
    "unbuffer",
    "unshare",
    "watch",
];

/// Evaluate an argument again when it looks like an array element.
const EVALUATING: &[&str] = &[
    "[", "declare", "export", "getopts", "let", "local", "printf", "read", "readonly", "test", "typeset",
    "unset", "wait",
];

/// Variables that decide what a shell or program starts.
const STEERING: &[&str] =
    &["ENV", "IFS", "PATH", "CDPATH", "SHELL", "SHELLOPTS", "PROMPT_COMMAND", "VISUAL", "BROWSER"];
const STEERING_STARTS: &[&str] = &[
    "BASH", "CARGO", "DYLD_", "GIT_", "JAVA", "LD_", "LESS", "MAKE", "NODE", "NPM", "npm_", "PERL", "PS",
    "PYTHON", "RUBY", "RUST", "SSH_", "SUDO_",
];
const STEERING_ENDS: &[&str] =
    &["PAGER", "EDITOR", "OPTS", "OPTIONS", "FLAGS", "COMMAND", "ASKPASS", "_PATH", "_PROXY"];

/// Where the grammar sees a brace as a program, a shell sees a group or several words.
fn groups(program: &str) -> bool {
    program.contains(['{', '}'])
}

/// Whether more may start than the segment shows.
pub(super) fn suspicious(segment: &Segment) -> bool {
    let hidden_program = segment.words.first().is_some_and(|word| word.text().is_none_or(str::is_empty));
    let base = segment.base().unwrap_or_default();
    hidden_program
        || segment.program().is_some_and(groups)
        || OPAQUE.contains(&base)
        || (EVALUATING.contains(&base) && segment.words.iter().any(evaluates))
        || declares_oddly(segment)
        || (matches!(base, "fd" | "fdfind") && segment.words.iter().any(runs_matches))
        || segment
            .assignments
            .iter()
            .any(|assignment| steers(&assignment.name) || evaluates(&assignment.value))
}

fn evaluates(word: &ShellWord) -> bool {
    match word {
        ShellWord::Text(text) | ShellWord::Pattern(text) => {
            text.contains("$(") || text.contains('`') || text.contains("${")
        }
        ShellWord::Unknown => false,
    }
}

/// `-n` makes one name stand for another, `-i` evaluates what is assigned.
fn declares_oddly(segment: &Segment) -> bool {
    let declares =
        matches!(segment.base(), Some("declare" | "typeset" | "local" | "export" | "readonly" | "let"));
    let flag = |word: &ShellWord| match word {
        ShellWord::Text(text) => {
            text.starts_with('-') && !matches!(text.as_str(), "-r" | "-x" | "-g" | "-p") || steers(text)
        }
        ShellWord::Pattern(_) | ShellWord::Unknown => true,
    };
    declares && (segment.base() == Some("let") || segment.words.iter().skip(1).any(flag))
}

fn runs_matches(word: &ShellWord) -> bool {
    word.text()
        .is_none_or(|text| text.starts_with("-x") || text.starts_with("-X") || text.starts_with("--exec"))
}

fn steers(name: &str) -> bool {
    let name = name.split(['=', '+', '[']).next().unwrap_or(name);
    STEERING.contains(&name)
        || STEERING_STARTS.iter().any(|start| name.starts_with(start))
        || STEERING_ENDS.iter().any(|end| name.ends_with(end))
}
