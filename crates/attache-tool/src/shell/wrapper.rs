//! Looks through commands whose work is to start another one.

use super::options::Options;
use super::suspicion::suspicious;
use super::{Assignment, MOST_NESTED, Parsed, Role, Segment, Word, nested};

/// Adds `segment` and all that it starts.
pub(super) fn look_through(mut segment: Segment, depth: usize, parsed: &mut Parsed) {
    parsed.sure &= !suspicious(&segment);
    let look = if depth > MOST_NESTED { Look::unclear() } else { look(&segment) };
    parsed.sure &= look.sure;
    segment.role = look.role;
    // What a wrapper is given to read and write is its command's.
    let handed_on = segment.role == Role::Wrapper && !look.started.is_empty();
    let redirections = if handed_on { std::mem::take(&mut segment.redirections) } else { vec![] };
    let background = segment.background;
    parsed.segments.push(segment);
    for started in look.started {
        match started {
            Started::Words { words, assignments } => {
                let inner = Segment {
                    words,
                    assignments,
                    redirections: redirections.clone(),
                    background,
                    role: Role::Program,
                };
                look_through(inner, depth + 1, parsed);
            }
            Started::Script(script) => {
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

struct Look {
    role: Role,
    started: Vec<Started>,
    sure: bool,
}

enum Started {
    Words { words: Vec<Word>, assignments: Vec<Assignment> },
    Script(String),
}

impl Look {
    /// Starts nothing else.
    fn program() -> Self {
        Self { role: Role::Program, started: vec![], sure: true }
    }

    /// Starts something, and what it is cannot be told.
    fn unclear() -> Self {
        Self { sure: false, ..Self::program() }
    }

    fn wrapper(started: Started) -> Self {
        Self { role: Role::Wrapper, started: vec![started], sure: true }
    }

    /// Starts something, and is no small thing itself.
    fn beside(started: Vec<Started>) -> Self {
        Self { role: Role::Program, started, sure: true }
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

fn look(segment: &Segment) -> Look {
    let Some((_, words)) = segment.words.split_first() else { return Look::program() };
    match segment.base().unwrap_or_default() {
        "nohup" | "builtin" => plain(&NONE, words),
        "nice" => plain(&NICE, words),
        "time" => plain(&TIME, words),
        "exec" => plain(&EXEC, words),
        "setsid" => plain(&SETSID, words),
        "stdbuf" => plain(&STDBUF, words),
        "ionice" => plain(&IONICE, words),
        "command" if words.first().and_then(Word::text).is_some_and(|flag| matches!(flag, "-v" | "-V")) => {
            Look::program()
        }
        "command" => plain(&COMMAND, words),
        "timeout" => skipped(&TIMEOUT, words).map_or_else(Look::unclear, timed),
        "env" => {
            skipped(&ENV, words).map_or_else(Look::unclear, |rest| with_environment(rest, Role::Wrapper))
        }
        "sudo" => {
            skipped(&SUDO, words).map_or_else(Look::unclear, |rest| with_environment(rest, Role::Program))
        }
        "xargs" => xargs(words),
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "rbash" => shell(words),
        "eval" => {
            script_of(words).map_or_else(Look::unclear, |script| Look::wrapper(Started::Script(script)))
        }
        "trap" => trap(words),
        "find" => find(words),
        _ => Look::program(),
    }
}

fn skipped<'a>(options: &Options, words: &'a [Word]) -> Option<&'a [Word]> {
    options.skip(words).and_then(|at| words.get(at..))
}

fn plain(options: &Options, words: &[Word]) -> Look {
    match skipped(options, words) {
        Some([]) => Look::program(),
        Some(rest) => Look::wrapper(Started::Words { words: rest.to_vec(), assignments: vec![] }),
        None => Look::unclear(),
    }
}

/// The first word is how long.
fn timed(words: &[Word]) -> Look {
    let duration = |text: &str| text.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.');
    match words {
        [] => Look::program(),
        [Word::Text(text), rest @ ..] if duration(text) => plain(&NONE, rest),
        _ => Look::unclear(),
    }
}

/// `A=1 B=2 command …`
fn with_environment(words: &[Word], role: Role) -> Look {
    let mut assignments = Vec::new();
    for (at, word) in words.iter().enumerate() {
        match word.text().map(|text| text.split_once('=')) {
            None => return Look::unclear(),
            Some(Some((name, value))) => {
                assignments.push(Assignment { name: name.to_owned(), value: Word::Text(value.to_owned()) });
            }
            Some(None) => {
                let started = Started::Words { words: words[at..].to_vec(), assignments };
                return Look { role, ..Look::wrapper(started) };
            }
        }
    }
    Look::program()
}

/// Words are added to the command, and with `-I` put in its middle: none of them is known.
fn xargs(words: &[Word]) -> Look {
    let Some(rest) = skipped(&XARGS, words) else { return Look::unclear() };
    let options = &words[..words.len() - rest.len()];
    let replaces = options
        .iter()
        .any(|word| word.text().is_some_and(|text| text.starts_with("-I") || text.starts_with("--replace")));
    if rest.is_empty() {
        return Look::program();
    }
    // With `-I` any word can hold the mark, whatever the mark is; the program is still the one that is written there.
    let mark = options.last().and_then(Word::text).unwrap_or_default();
    let mark = mark.strip_prefix("-I").filter(|mark| !mark.is_empty()).unwrap_or(mark);
    let holds = |word: &Word| {
        word.text().is_none_or(|text| replaces && (mark.starts_with('-') || text.contains(mark)))
    };
    let mut inner: Vec<Word> =
        rest.iter().map(|word| if holds(word) { Word::Unknown } else { word.clone() }).collect();
    inner.push(Word::Unknown);
    Look::wrapper(Started::Words { words: inner, assignments: vec![] })
}

/// With `-c` the text is read; a file that holds commands is like any program; commands from elsewhere are unknown.
fn shell(words: &[Word]) -> Look {
    let mut commands = false;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let Some(text) = word.text() else { return Look::unclear() };
        match text {
            "--norc" | "--noprofile" | "--posix" | "--login" => {}
            "--version" | "--help" if words.len() == 1 => return Look::program(),
            "-o" | "+o" => match rest.next().and_then(Word::text) {
                Some("pipefail" | "errexit" | "nounset" | "xtrace") => {}
                _ => return Look::unclear(),
            },
            "--" => return shell_text(rest.next(), commands),
            flags if flags.len() > 1 && flags.starts_with('-') => {
                if !flags[1..].bytes().all(|flag| b"celuxv".contains(&flag)) {
                    return Look::unclear();
                }
                commands |= flags.contains('c');
            }
            _ => return shell_text(Some(word), commands),
        }
    }
    Look::unclear()
}

fn shell_text(word: Option<&Word>, commands: bool) -> Look {
    match word {
        Some(Word::Text(script)) if commands => Look::wrapper(Started::Script(script.clone())),
        Some(Word::Text(file)) if !file.starts_with('-') && !file.starts_with("/dev/") => Look::program(),
        _ => Look::unclear(),
    }
}

fn script_of(words: &[Word]) -> Option<String> {
    let words: Option<Vec<&str>> = words.iter().map(Word::text).collect();
    words.map(|words| words.join(" "))
}

fn trap(words: &[Word]) -> Look {
    match words {
        [] => Look::program(),
        [Word::Text(script), ..] if script.starts_with('-') => match script.as_str() {
            "-" | "-l" | "-p" => Look::program(),
            _ => Look::unclear(),
        },
        [Word::Text(script), ..] => Look::beside(vec![Started::Script(script.clone())]),
        _ => Look::unclear(),
    }
}

/// Every `-exec … ;` and its kin.
fn find(words: &[Word]) -> Look {
    let mut started = Vec::new();
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        match word {
            Word::Text(text) if matches!(text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") => {
                let ends = |word: &Word| word.text().is_some_and(|text| matches!(text, ";" | "+"));
                let Some(end) = after.iter().position(ends) else { return Look::unclear() };
                let inner = after[..end].iter().map(|word| match word {
                    Word::Text(text) if !text.contains("{}") => word.clone(),
                    _ => Word::Unknown,
                });
                started.push(Started::Words { words: inner.collect(), assignments: vec![] });
                rest = &after[end + 1..];
            }
            Word::Text(_) | Word::Pattern(_) => {}
            Word::Unknown => return Look { sure: false, ..Look::beside(started) },
        }
    }
    Look::beside(started)
}
