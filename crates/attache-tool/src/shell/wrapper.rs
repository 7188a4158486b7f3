//! Expands commands that start another command.

use super::options::Options;
use super::suspicion::suspicious;
use super::{Assignment, MAX_NESTING, ParsedCommand, Segment, SegmentRole, ShellWord, nested};

/// Adds `segment` and every command that it starts.
pub(super) fn expand(mut segment: Segment, depth: usize, parsed: &mut ParsedCommand) {
    parsed.sure &= !suspicious(&segment);
    let look = if depth > MAX_NESTING { WrapperAnalysis::unclear() } else { analyze(&segment) };
    parsed.sure &= look.sure;
    segment.role = look.role;
    // What a wrapper is given to read and write is its command's.
    let handed_on = segment.role == SegmentRole::Wrapper && !look.started.is_empty();
    let redirections = if handed_on { std::mem::take(&mut segment.redirections) } else { vec![] };
    let background = segment.background;
    parsed.segments.push(segment);
    for started in look.started {
        match started {
            StartedCommand::Words { words, assignments } => {
                let inner = Segment {
                    words,
                    assignments,
                    redirections: redirections.clone(),
                    background,
                    role: SegmentRole::Program,
                };
                expand(inner, depth + 1, parsed);
            }
            StartedCommand::Script(script) => {
                let mut inner = nested(&script, depth + 1);
                parsed.sure &= inner.sure;
                if inner.segments.is_empty() {
                    inner.segments.push(Segment::default());
                }
                for segment in &mut inner.segments {
                    segment.redirections.extend(redirections.iter().cloned());
                    segment.background |= background;
                }
                parsed.segments.extend(inner.segments);
            }
        }
    }
}

struct WrapperAnalysis {
    role: SegmentRole,
    started: Vec<StartedCommand>,
    sure: bool,
}

enum StartedCommand {
    Words { words: Vec<ShellWord>, assignments: Vec<Assignment> },
    Script(String),
}

impl WrapperAnalysis {
    /// Starts nothing else.
    fn program() -> Self {
        Self { role: SegmentRole::Program, started: vec![], sure: true }
    }

    /// Starts an unknown command.
    fn unclear() -> Self {
        Self { sure: false, ..Self::program() }
    }

    fn wrapper(started: StartedCommand) -> Self {
        Self { role: SegmentRole::Wrapper, started: vec![started], sure: true }
    }

    /// Starts commands and does work itself.
    fn beside(started: Vec<StartedCommand>) -> Self {
        Self { role: SegmentRole::Program, started, sure: true }
    }
}

const NONE: Options = Options { plain: &[], valued: &[] };
const NICE: Options = Options { plain: &[], valued: &["-n", "--adjustment"] };
const TIME: Options = Options { plain: &["-p"], valued: &[] };
const COMMAND: Options = Options { plain: &["-p"], valued: &[] };
const EXEC: Options = Options { plain: &["-c", "-l", "-cl"], valued: &["-a"] };
const SETSID: Options = Options { plain: &["-c", "-f", "-w", "--ctty", "--fork", "--wait"], valued: &[] };
const STDBUF: Options = Options { plain: &[], valued: &["-i", "-o", "-e", "--input", "--output", "--error"] };
const IONICE: Options = Options { plain: &["-t"], valued: &["-c", "-n", "--class", "--classdata"] };
const TIMEOUT: Options = Options {
    plain: &["--foreground", "--preserve-status", "-v", "--verbose"],
    valued: &["-k", "-s", "--kill-after", "--signal"],
};
const ENV: Options = Options { plain: &["-i", "--ignore-environment", "-"], valued: &["-u", "--unset"] };
const SUDO: Options = Options {
    plain: &["-n", "--non-interactive", "-E", "-H", "-S", "-k", "-b"],
    valued: &["-u", "--user", "-g", "--group", "-p", "--prompt"],
};
const XARGS: Options = Options {
    plain: &["-0", "--null", "-r", "--no-run-if-empty", "-t", "--verbose", "-x", "--exit", "-p"],
    valued: &[
        "-n",
        "--max-args",
        "-P",
        "--max-procs",
        "-L",
        "--max-lines",
        "-d",
        "--delimiter",
        "-s",
        "-E",
        "-I",
        "--replace",
    ],
};

fn analyze(segment: &Segment) -> WrapperAnalysis {
    let Some((_, words)) = segment.words.split_first() else { return WrapperAnalysis::program() };
    match segment.base().unwrap_or_default() {
        "nohup" | "builtin" => plain(&NONE, words),
        "nice" => plain(&NICE, words),
        "time" => plain(&TIME, words),
        "exec" => plain(&EXEC, words),
        "setsid" => plain(&SETSID, words),
        "stdbuf" => plain(&STDBUF, words),
        "ionice" => plain(&IONICE, words),
        "command"
            if words.first().and_then(ShellWord::text).is_some_and(|flag| matches!(flag, "-v" | "-V")) =>
        {
            WrapperAnalysis::program()
        }
        "command" => plain(&COMMAND, words),
        "timeout" => skipped(&TIMEOUT, words).map_or_else(WrapperAnalysis::unclear, timed),
        "env" => skipped(&ENV, words)
            .map_or_else(WrapperAnalysis::unclear, |rest| with_environment(rest, SegmentRole::Wrapper)),
        "sudo" => skipped(&SUDO, words)
            .map_or_else(WrapperAnalysis::unclear, |rest| with_environment(rest, SegmentRole::Program)),
        "xargs" => xargs(words),
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "rbash" => shell(words),
        "eval" => script_of(words).map_or_else(WrapperAnalysis::unclear, |script| {
            WrapperAnalysis::wrapper(StartedCommand::Script(script))
        }),
        "trap" => trap(words),
        "find" => find(words),
        _ => WrapperAnalysis::program(),
    }
}

fn skipped<'a>(options: &Options, words: &'a [ShellWord]) -> Option<&'a [ShellWord]> {
    options.skip(words).and_then(|at| words.get(at..))
}

fn plain(options: &Options, words: &[ShellWord]) -> WrapperAnalysis {
    match skipped(options, words) {
        Some([]) => WrapperAnalysis::program(),
        Some(rest) => {
            WrapperAnalysis::wrapper(StartedCommand::Words { words: rest.to_vec(), assignments: vec![] })
        }
        None => WrapperAnalysis::unclear(),
    }
}

/// The first word is the duration.
fn timed(words: &[ShellWord]) -> WrapperAnalysis {
    let duration = |text: &str| text.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.');
    match words {
        [] => WrapperAnalysis::program(),
        [ShellWord::Text(text), rest @ ..] if duration(text) => plain(&NONE, rest),
        _ => WrapperAnalysis::unclear(),
    }
}

/// `A=1 B=2 command …`
fn with_environment(words: &[ShellWord], role: SegmentRole) -> WrapperAnalysis {
    let mut assignments = Vec::new();
    for (at, word) in words.iter().enumerate() {
        match word.text().map(|text| text.split_once('=')) {
            None => return WrapperAnalysis::unclear(),
            Some(Some((name, value))) => {
                assignments
                    .push(Assignment { name: name.to_owned(), value: ShellWord::Text(value.to_owned()) });
            }
            Some(None) => {
                let started = StartedCommand::Words { words: words[at..].to_vec(), assignments };
                return WrapperAnalysis { role, ..WrapperAnalysis::wrapper(started) };
            }
        }
    }
    WrapperAnalysis::program()
}

/// xargs appends words, or with `-I` inserts them: none of them is known.
fn xargs(words: &[ShellWord]) -> WrapperAnalysis {
    let Some(rest) = skipped(&XARGS, words) else { return WrapperAnalysis::unclear() };
    let options = &words[..words.len() - rest.len()];
    let replaces = options
        .iter()
        .any(|word| word.text().is_some_and(|text| text.starts_with("-I") || text.starts_with("--replace")));
    if rest.is_empty() {
        return WrapperAnalysis::program();
    }
    // With `-I` any word can hold the mark, whatever the mark is; the program is still the one that is written there.
    let mark = options.last().and_then(ShellWord::text).unwrap_or_default();
    let mark = mark.strip_prefix("-I").filter(|mark| !mark.is_empty()).unwrap_or(mark);
    let holds = |word: &ShellWord| {
        word.text().is_none_or(|text| replaces && (mark.starts_with('-') || text.contains(mark)))
    };
    let mut inner: Vec<ShellWord> =
        rest.iter().map(|word| if holds(word) { ShellWord::Unknown } else { word.clone() }).collect();
    inner.push(ShellWord::Unknown);
    WrapperAnalysis::wrapper(StartedCommand::Words { words: inner, assignments: vec![] })
}

/// With `-c` the text is parsed; a script file is a program; commands from stdin are unknown.
fn shell(words: &[ShellWord]) -> WrapperAnalysis {
    let mut commands = false;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let Some(text) = word.text() else { return WrapperAnalysis::unclear() };
        match text {
            "--norc" | "--noprofile" | "--posix" | "--login" => {}
            "--version" | "--help" if words.len() == 1 => return WrapperAnalysis::program(),
            "-o" | "+o" => match rest.next().and_then(ShellWord::text) {
                Some("pipefail" | "errexit" | "nounset" | "xtrace") => {}
                _ => return WrapperAnalysis::unclear(),
            },
            "--" => return shell_text(rest.next(), commands),
            flags if flags.len() > 1 && flags.starts_with('-') => {
                if !flags[1..].bytes().all(|flag| b"celuxv".contains(&flag)) {
                    return WrapperAnalysis::unclear();
                }
                commands |= flags.contains('c');
            }
            _ => return shell_text(Some(word), commands),
        }
    }
    WrapperAnalysis::unclear()
}

fn shell_text(word: Option<&ShellWord>, commands: bool) -> WrapperAnalysis {
    match word {
        Some(ShellWord::Text(script)) if commands => {
            WrapperAnalysis::wrapper(StartedCommand::Script(script.clone()))
        }
        Some(ShellWord::Text(file)) if !file.starts_with('-') && !file.starts_with("/dev/") => {
            WrapperAnalysis::program()
        }
        _ => WrapperAnalysis::unclear(),
    }
}

fn script_of(words: &[ShellWord]) -> Option<String> {
    let words: Option<Vec<&str>> = words.iter().map(ShellWord::text).collect();
    words.map(|words| words.join(" "))
}

fn trap(words: &[ShellWord]) -> WrapperAnalysis {
    match words {
        [] => WrapperAnalysis::program(),
        [ShellWord::Text(script), ..] if script.starts_with('-') => match script.as_str() {
            "-" | "-l" | "-p" => WrapperAnalysis::program(),
            _ => WrapperAnalysis::unclear(),
        },
        [ShellWord::Text(script), ..] => {
            WrapperAnalysis::beside(vec![StartedCommand::Script(script.clone())])
        }
        _ => WrapperAnalysis::unclear(),
    }
}

/// Every `-exec … ;` and the like.
fn find(words: &[ShellWord]) -> WrapperAnalysis {
    let mut started = Vec::new();
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        match word {
            ShellWord::Text(text) if matches!(text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") => {
                let ends = |word: &ShellWord| word.text().is_some_and(|text| matches!(text, ";" | "+"));
                let Some(end) = after.iter().position(ends) else { return WrapperAnalysis::unclear() };
                let inner = after[..end].iter().map(|word| match word {
                    ShellWord::Text(text) if !text.contains("{}") => word.clone(),
                    _ => ShellWord::Unknown,
                });
                started.push(StartedCommand::Words { words: inner.collect(), assignments: vec![] });
                rest = &after[end + 1..];
            }
            ShellWord::Text(_) | ShellWord::Pattern(_) => {}
            ShellWord::Unknown => return WrapperAnalysis { sure: false, ..WrapperAnalysis::beside(started) },
        }
    }
    WrapperAnalysis::beside(started)
}
