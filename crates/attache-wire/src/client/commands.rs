//! The commands of the development-tool extension, as clients ask for them.

use attache_domain::{ListCommands, Metadata, SendMessage};
use serde::Deserialize;
use serde_json::Value;

use super::grpc::ReplyMessage;
use super::{DecodeError, Protocol, decode};

/// A command that the agent takes, with those below it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RemoteCommand {
    /// Without the slash.
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub arguments: Vec<RemoteCommandArgument>,
    #[serde(default, alias = "subCommands")]
    pub sub_commands: Vec<RemoteCommand>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RemoteCommandArgument {
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub description: String,
    #[serde(default, alias = "isRequired")]
    pub is_required: bool,
}

/// The outcome of starting a command. Its task shows the rest.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CommandExecution {
    /// The task that it runs in; empty if it did not start.
    #[serde(default, rename = "execution_id", alias = "executionId")]
    pub task: String,
    #[serde(default)]
    pub status: CommandStatus,
    /// Why it did not start.
    #[serde(default)]
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CommandStatus {
    Started,
    FailedToStart,
    AwaitingShellConfirmation,
    AwaitingActionConfirmation,
    #[default]
    #[serde(other)]
    Unknown,
}

#[derive(Deserialize)]
struct CommandList {
    #[serde(default)]
    commands: Vec<RemoteCommand>,
}

pub(super) fn list(protocol: Protocol, status: u16, body: &[u8]) -> Result<Vec<RemoteCommand>, DecodeError> {
    let list: CommandList = read(decode::open(protocol, ReplyMessage::Commands, status, body)?)?;
    Ok(list.commands)
}

pub(super) fn execution(
    protocol: Protocol,
    status: u16,
    body: &[u8],
) -> Result<CommandExecution, DecodeError> {
    read(decode::open(protocol, ReplyMessage::Execution, status, body)?)
}

fn read<T: for<'de> Deserialize<'de>>(value: Value) -> Result<T, DecodeError> {
    serde_json::from_value(value).map_err(|error| DecodeError::Malformed { what: error.to_string() })
}

/// The members of a request for commands.
pub(super) fn list_members(list: &ListCommands) -> Vec<(&'static str, Value)> {
    let context = list.context.as_ref().map(|context| ("contextId", context.as_str().into()));
    let task = list.task.as_ref().map(|task| ("taskId", task.as_str().into()));
    context.into_iter().chain(task).collect()
}

/// The members of a request to execute the command in a message.
pub(super) fn execute_members(send: &SendMessage) -> Vec<(&'static str, Value)> {
    let message = &send.message;
    let (path, arguments) = match message.command.as_deref() {
        Some(command) => (command.path.clone(), command.arguments.as_str()),
        None => (Vec::new(), ""),
    };
    let mut members = vec![("command_path", path.into()), ("args", arguments.into())];
    let ids = [
        ("messageId", Some(message.id.as_str())),
        ("contextId", message.context.as_ref().map(|id| id.as_str())),
        ("taskId", message.task.as_ref().map(|id| id.as_str())),
    ];
    members.extend(ids.into_iter().filter_map(|(name, id)| Some((name, id?.into()))));
    let metadata = message.metadata.as_ref().filter(|metadata: &&Metadata| !metadata.is_empty());
    members.extend(metadata.map(|metadata| ("metadata", Value::Object(metadata.clone()))));
    members
}
