//! Finds a mistyped command, so that it is not taken for a prompt.

use std::ffi::OsString;

use attache_domain::terminal_safe;
use clap::Command;

/// Commands that other programs have and attache does not.
const FOREIGN: &[&str] =
    &["auth", "completion", "completions", "daemon", "doctor", "login", "logout", "version"];

/// The message about `arguments` if their first word is a mistyped command. They are all that follows the program's name.
pub fn find(program: &Command, arguments: &[OsString]) -> Option<String> {
    let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
    let (first, rest) = words.split_first()?;
    let is_word =
        |word: &str| !word.is_empty() && word.chars().all(|letter| letter.is_alphanumeric() || letter == '-');
    if first.starts_with('-')
        || !is_word(first)
        || first == "help"
        || program.find_subcommand(first.as_ref()).is_some()
    {
        return None;
    }
    // What follows up to the first flag.
    let rest: Vec<&str> =
        rest.iter().map(AsRef::as_ref).take_while(|word: &&str| !word.starts_with('-')).collect();
    let unknown = format!("there is no command `{}`", terminal_safe(first));
    if let Some(meant) = nearest(first, program) {
        let below = rest.first().and_then(|word| nearest(word, meant));
        // More words after one that is no command are more likely a prompt.
        let is_sure = match (&rest[..], below) {
            ([], _) | ([_], Some(_)) => true,
            ([word, ..], Some(below)) => below.get_name() == *word,
            _ => false,
        };
        if is_sure {
            let below = below.map(|below| format!(" {}", below.get_name())).unwrap_or_default();
            return Some(format!("{unknown}; did you mean `attache {}{below}`?", meant.get_name()));
        }
    }
    let is_foreign = FOREIGN.contains(&first.to_lowercase().as_str());
    (is_foreign && rest.len() <= 1).then_some(unknown)
}

fn nearest<'a>(word: &str, command: &'a Command) -> Option<&'a Command> {
    let word = word.to_lowercase();
    let distance = |candidate: &Command| strsim::osa_distance(&word, candidate.get_name());
    let near = |candidate: &&Command| distance(candidate) <= 1 + candidate.get_name().len() / 6;
    command.get_subcommands().filter(near).min_by_key(|candidate| distance(candidate))
}
