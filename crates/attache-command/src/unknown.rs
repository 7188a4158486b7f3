//! The error for an unknown command.

use crate::CommandError;
use crate::nearest::{nearest, shown};

/// Names that are listed; a workspace may have hundreds of commands.
const MAX_LISTED: usize = 40;

pub(crate) fn unknown(word: &str, names: &[&str]) -> CommandError {
    if word.is_empty() {
        return CommandError::Unknown { what: format!("no command is named; {}", there_are(names, "/")) };
    }
    let guess = guess(word, names, "/");
    let there_are = there_are(names, "/");
    CommandError::Unknown { what: format!("there is no command `/{}`{guess}; {there_are}", shown(word)) }
}

/// The word stands behind a known command.
pub(crate) fn unknown_below(path: &[String], word: &str, names: &[&str]) -> CommandError {
    let path = format!("/{}", path.join(" "));
    let guess = guess(word, names, &format!("{path} "));
    let there_are = there_are(names, "");
    CommandError::Unknown { what: format!("`{path}` has no `{}`{guess}; {there_are}", shown(word)) }
}

fn guess(word: &str, names: &[&str], before: &str) -> String {
    let near: Vec<String> = nearest(word, names).iter().map(|name| format!("`{before}{name}`")).collect();
    if near.is_empty() { String::new() } else { format!(" (did you mean {}?)", near.join(" or ")) }
}

fn there_are(names: &[&str], before: &str) -> String {
    let listed: Vec<String> = names.iter().take(MAX_LISTED).map(|name| format!("{before}{name}")).collect();
    match names.len().saturating_sub(MAX_LISTED) {
        _ if names.is_empty() => "there are none".into(),
        0 => format!("there are: {}", listed.join(", ")),
        more => format!("there are: {} and {more} more, which /help lists", listed.join(", ")),
    }
}
