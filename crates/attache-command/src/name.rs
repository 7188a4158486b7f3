//! Valid names of commands.

use crate::nearest::shown;
use crate::{Command, CommandError};

const MAX_NAME_LENGTH: usize = 100;
/// Commands below commands; also what keeps one that is its own sub-command from going on for ever.
const MAX_DEPTH: usize = 4;

/// One word that can be written after a slash.
pub(crate) fn check(name: &str) -> Result<(), String> {
    let wrong = if name.is_empty() {
        "it is empty"
    } else if name.chars().count() > MAX_NAME_LENGTH {
        "it is too long"
    } else if name.contains('/') {
        "it has a slash"
    } else if name.chars().any(|letter| letter.is_whitespace() || letter.is_control()) {
        "it is not one word"
    } else if name.starts_with('*') {
        "it begins with `*`"
    } else {
        return Ok(());
    };
    Err(format!(
        "`{}` cannot be a command's name: {wrong}; take one word without slash or blank, up to {MAX_NAME_LENGTH} characters",
        shown(name)
    ))
}

/// The names of a command and of all below it.
pub(crate) fn check_tree(command: &dyn Command) -> Result<(), CommandError> {
    check_at(command, 1).map_err(|what| CommandError::Failed { what })
}

/// Two commands want the name.
pub(crate) fn taken(other: &str, command: &dyn Command) -> CommandError {
    CommandError::Failed { what: twice(command, other) }
}

fn check_at(command: &dyn Command, depth: usize) -> Result<(), String> {
    check(command.name())?;
    let subs = command.sub_commands();
    if depth == MAX_DEPTH && !subs.is_empty() {
        return Err(format!(
            "`{}` has sub-commands, and {MAX_DEPTH} words are the most that name a command",
            shown(command.name())
        ));
    }
    for (at, sub) in subs.iter().enumerate() {
        check_at(&**sub, depth + 1)?;
        if let Some(other) = subs[..at].iter().find(|other| other.name() == sub.name()) {
            return Err(twice(&**sub, other.description()));
        }
    }
    Ok(())
}

fn twice(command: &dyn Command, other: &str) -> String {
    format!(
        "two commands are called `{}`: \"{}\" and \"{}\"; give one of them another name",
        command.name(),
        shown(other),
        shown(command.description())
    )
}
