//! A message to an agent.

use attache_domain::{
    CommandCall, Message, MessageAnswers, MessageId, Metadata, Part, Role, SendConfiguration, SendMessage,
    SendOptions, TaskId,
};
use serde_json::Value;

/// A message of the user, and how the agent should respond.
#[derive(Debug, Clone, PartialEq)]
pub struct OutgoingMessage {
    send: SendMessage,
}

impl OutgoingMessage {
    /// One text. Sent again with the same id while the agent works on it, it counts as the same message.
    pub fn text(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self::parts(id, vec![Part::text(text)])
    }

    pub fn parts(id: impl Into<String>, parts: Vec<Part>) -> Self {
        let message = Message {
            id: MessageId::from(id.into()),
            role: Role::User,
            parts,
            context: None,
            task: None,
            reference_tasks: Vec::new(),
            extensions: Vec::new(),
            metadata: None,
            requested: None,
            command: None,
            sender: None,
        };
        Self {
            send: SendMessage {
                message,
                answers: MessageAnswers::default(),
                configuration: SendConfiguration::default(),
                metadata: None,
                options: SendOptions::default(),
            },
        }
    }

    /// A command of the development-tool extension, such as `memory`, `add` with everything after it as `arguments`.
    pub fn command(id: impl Into<String>, path: Vec<String>, arguments: impl Into<String>) -> Self {
        let command = CommandCall { path, arguments: arguments.into() };
        let mut message = Self::text(id, command.line());
        message.send.message.command = Some(Box::new(command));
        message
    }

    /// Sends the message to a task.
    #[must_use]
    pub fn to_task(mut self, task: impl Into<String>) -> Self {
        self.send.message.task = Some(TaskId::from(task.into()));
        self
    }

    /// Sends the message in a conversation.
    #[must_use]
    pub fn in_context(mut self, context: impl Into<String>) -> Self {
        self.send.message.context = Some(context.into().into());
        self
    }

    /// Adds a member to the message's metadata; an extension's has its URI as `key`.
    #[must_use]
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        let metadata: &mut Metadata = self.send.message.metadata.get_or_insert_default();
        metadata.insert(key.into(), value.into());
        self
    }

    /// The agent responds as soon as the task exists.
    #[must_use]
    pub fn return_immediately(mut self) -> Self {
        self.send.configuration.return_immediately = true;
        self
    }

    /// The task in the response has at most so many of its latest messages.
    #[must_use]
    pub fn history_length(mut self, length: usize) -> Self {
        self.send.configuration.history_length = Some(length);
        self
    }
}

impl From<OutgoingMessage> for SendMessage {
    fn from(message: OutgoingMessage) -> Self {
        message.send
    }
}
