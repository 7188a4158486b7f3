//! Commands on the wire: the RFC's `commands/get` and `command/execute`.

use attache_domain::{
    CommandArgument, CommandCall, CommandSpec, ContextId, ListCommands, Message, MessageAnswers, MessageId,
    OperationKind, Part, Role, SendConfiguration, SendMessage, SendOptions, TaskId,
};
use serde_json::{Value, json};

use super::{Dialect, incoming};
use crate::decode::decoder::{Decoder, Members, kind_of};
use crate::encode::text::write_value;

/// The command methods, under the RFC's names and under the names that match the other method's form.
pub fn method(name: &str) -> Option<OperationKind> {
    match name {
        "commands/get" | "command/get" | "commands/list" => Some(OperationKind::Commands),
        "command/execute" | "commands/execute" => Some(OperationKind::Execute),
        _ => None,
    }
}

/// The state of an execution in its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecutionStatus {
    Started,
    FailedToStart,
    AwaitingShellConfirmation,
    AwaitingActionConfirmation,
}

impl ExecutionStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Started => "STARTED",
            Self::FailedToStart => "FAILED_TO_START",
            Self::AwaitingShellConfirmation => "AWAITING_SHELL_CONFIRMATION",
            Self::AwaitingActionConfirmation => "AWAITING_ACTION_CONFIRMATION",
        }
    }
}

/// The response to `commands/get`.
pub fn write_list(commands: &[CommandSpec], out: &mut Vec<u8>) {
    let commands: Vec<Value> = commands.iter().map(command).collect();
    write_value(&json!({ "commands": commands }), out);
}

fn command(spec: &CommandSpec) -> Value {
    let argument = |argument: &CommandArgument| {
        json!({
            "name": argument.name,
            "description": argument.description,
            "is_required": argument.required,
        })
    };
    json!({
        "name": spec.name,
        "description": spec.description,
        "arguments": spec.arguments.iter().map(argument).collect::<Vec<_>>(),
        "sub_commands": spec.sub_commands.iter().map(command).collect::<Vec<_>>(),
    })
}

/// The response to `command/execute`; `task` is empty when nothing was started.
pub fn write_execution(task: &str, status: ExecutionStatus, message: &str, out: &mut Vec<u8>) {
    write_value(&json!({ "execution_id": task, "status": status.as_str(), "message": message }), out);
}

/// Reads the parameters of `commands/get`: none are needed.
pub(crate) fn read_list(decoder: &mut Decoder, mut members: Members<'_>) -> ListCommands {
    let here = members.path();
    let context = members.id(decoder, "contextId").map(ContextId::from);
    let task = members.id(decoder, "taskId").map(TaskId::from);
    let mut metadata = members.object(decoder, "metadata");
    let requested = incoming::read_settings(decoder, metadata.as_mut(), here);
    decoder.set_dialect(Some(Dialect::Developer));
    ListCommands { context, task, settings: requested }
}

/// Reads the parameters of `command/execute`. Besides the RFC's, a client may name a conversation or task, a message
/// id, and settings in `metadata`.
pub(crate) fn read_execute(decoder: &mut Decoder, mut members: Members<'_>) -> Option<SendMessage> {
    let here = members.path();
    let path = read_path(decoder, &mut members);
    let arguments = read_arguments(decoder, &mut members).unwrap_or_default();
    let id = members.id(decoder, "messageId").unwrap_or_default();
    let context = members.id(decoder, "contextId").map(ContextId::from);
    let task = members.id(decoder, "taskId").map(TaskId::from);
    let metadata = members.object(decoder, "metadata");
    let command = CommandCall { path: path?, arguments };
    let mut message = Message {
        id: MessageId::from(id),
        role: Role::User,
        parts: vec![Part::text(command.line())],
        context,
        task,
        reference_tasks: Vec::new(),
        extensions: Vec::new(),
        metadata,
        requested: None,
        command: Some(Box::new(command)),
        sender: None,
    };
    let (_, dialect) = incoming::read(decoder, &mut message, here);
    // A client that sends commands knows the extension.
    decoder.set_dialect(dialect.or(Some(Dialect::Developer)));
    let configuration = SendConfiguration::default();
    Some(SendMessage {
        message,
        answers: MessageAnswers::default(),
        configuration,
        metadata: None,
        options: SendOptions::default(),
    })
}

fn read_path(decoder: &mut Decoder, members: &mut Members<'_>) -> Option<Vec<String>> {
    let here = members.path();
    let path = here.member("command_path");
    let Some(value) = members.take("commandPath") else {
        return decoder
            .refuse(path, "is required: the command's name and those of its sub-commands, in an array");
    };
    let items = decoder.array(value, path)?;
    if items.is_empty() {
        return decoder.refuse(path, "must hold at least the command's name");
    }
    let count = items.len();
    let words = items.into_iter().enumerate();
    let words: Vec<String> = words.filter_map(|(index, word)| decoder.text(word, path.item(index))).collect();
    (words.len() == count).then_some(words)
}

/// One text, as in the RFC; a list of words is accepted too.
fn read_arguments(decoder: &mut Decoder, members: &mut Members<'_>) -> Option<String> {
    let here = members.path();
    match members.take("args")? {
        Value::String(text) => Some(text),
        Value::Array(items) => {
            let words = items.into_iter().filter_map(|item| decoder.text(item, here.member("args")));
            Some(words.collect::<Vec<_>>().join(" "))
        }
        other => decoder.refuse(here.member("args"), format!("must be a string, not {}", kind_of(&other))),
    }
}
