//! Commands: what a person tells the agent itself to do, rather than its model.

use serde::{Deserialize, Serialize};

/// Who answers when a command wants tools to be used, in place of the name of a model.
pub const COMMAND_MODEL: &str = "command";

/// A command that somebody gave, as part of a message.
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
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandArgument {
    pub name: String,
    pub description: String,
    pub required: bool,
}
