//! Commands, which the agent runs itself instead of asking its model.

use serde::{Deserialize, Serialize};

/// Stands in place of a model's name when a command calls tools.
pub const COMMAND_MODEL: &str = "command";

/// A command in a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandCall {
    /// Such as `memory`, `add` for `/memory add`.
    pub path: Vec<String>,
    /// Everything after the path, as it was written.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub arguments: String,
}

impl CommandCall {
    /// As people write it.
    pub fn line(&self) -> String {
        let mut line = format!("/{}", self.path.join(" "));
        if !self.arguments.is_empty() {
            line.push(' ');
            line.push_str(&self.arguments);
        }
        line
    }
}

/// A command that can be given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSpec {
    pub name: String,
    pub description: String,
    pub arguments: Vec<CommandArgument>,
    pub sub_commands: Vec<CommandSpec>,
    /// The model works on it for a while: the caller follows its task instead of waiting for the end.
    pub is_followed: bool,
}

impl CommandSpec {
    /// The command at `path`, or the last one on the way: what follows are its arguments.
    pub fn find<'a>(specs: &'a [Self], path: &[String]) -> Option<&'a Self> {
        let (first, rest) = path.split_first()?;
        let spec = specs.iter().find(|spec| spec.name == *first)?;
        Some(Self::find(&spec.sub_commands, rest).unwrap_or(spec))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandArgument {
    pub name: String,
    pub description: String,
    pub required: bool,
}
