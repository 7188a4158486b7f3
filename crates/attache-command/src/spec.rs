//! The public description of a command.

use std::fmt::Write;

use attache_domain::{CommandArgument, CommandSpec};

use crate::Command;

/// How a command is given: `/memory add <text>`, with what may be left out as `[name]`.
pub fn usage(path: &[impl AsRef<str>], arguments: &[CommandArgument]) -> String {
    let path: Vec<&str> = path.iter().map(AsRef::as_ref).collect();
    let mut usage = format!("/{}", path.join(" "));
    for CommandArgument { name, required, .. } in arguments {
        let (open, close) = if *required { ('<', '>') } else { ('[', ']') };
        // Writing into a string does not fail.
        let _ = write!(usage, " {open}{name}{close}");
    }
    usage
}

pub(crate) fn of(command: &dyn Command) -> CommandSpec {
    CommandSpec {
        name: command.name().to_owned(),
        description: command.description().to_owned(),
        arguments: command.arguments(),
        sub_commands: command.sub_commands().iter().map(|sub| of(&**sub)).collect(),
        is_followed: command.is_followed(),
    }
}

pub(crate) fn argument(name: &str, description: &str, required: bool) -> CommandArgument {
    CommandArgument { name: name.into(), description: description.into(), required }
}
