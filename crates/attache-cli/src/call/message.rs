//! Builds the message: text and files.

use attache_client::OutgoingMessage;
use uuid::Uuid;

use super::arguments::CallArguments;
use crate::message_input;

pub(super) fn new(arguments: &CallArguments, text: String) -> anyhow::Result<OutgoingMessage> {
    let parts = message_input::parts(text, &arguments.file)?;
    let message = to_place(OutgoingMessage::parts(Uuid::new_v4(), parts), arguments);
    Ok(if arguments.detach { message.return_immediately() } else { message })
}

pub(super) fn command(arguments: &CallArguments, path: Vec<String>, words: String) -> OutgoingMessage {
    to_place(OutgoingMessage::command(Uuid::new_v4(), path, words), arguments)
}

/// To the task or in the conversation that the flags name.
fn to_place(mut message: OutgoingMessage, arguments: &CallArguments) -> OutgoingMessage {
    if let Some(task) = &arguments.task {
        message = message.to_task(task.as_str());
    }
    if let Some(context) = &arguments.context {
        message = message.in_context(context.as_str());
    }
    message
}
