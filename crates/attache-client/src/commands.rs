//! Commands of the development-tool extension.

use attache_domain::{ListCommands, Operation, SendMessage};
use attache_wire::client::{CommandExecution, CommandStatus, DevelopmentToolOffer, Protocol, RemoteCommand};
use attache_wire::replay;

use crate::client::other_version;
use crate::{Client, ClientError, EventStream, OutgoingMessage, StreamEvent};

/// The cursor before the first event of a task, where the agent numbers its events.
const START_CURSOR: &str = "0";

impl Client {
    /// The commands that the agent takes, in a conversation if one is named.
    pub async fn commands(&self, context: Option<&str>) -> Result<Vec<RemoteCommand>, ClientError> {
        self.require_commands()?;
        let list = ListCommands { context: context.map(Into::into), task: None, settings: None };
        self.call(&Operation::Commands(list), Protocol::decode_commands).await
    }

    /// Starts the command of `message`; see [`OutgoingMessage::command`].
    pub async fn execute(&self, message: OutgoingMessage) -> Result<CommandExecution, ClientError> {
        self.require_commands()?;
        let send = SendMessage::from(message);
        self.call(&Operation::Execute(send), Protocol::decode_execution).await
    }

    /// Starts a command and follows its task. A command that does not start is an error that says why.
    pub async fn run_command(&self, message: OutgoingMessage) -> Result<EventStream, ClientError> {
        let execution = self.execute(message).await?;
        if execution.status == CommandStatus::FailedToStart || execution.task.is_empty() {
            return Err(ClientError::CommandNotStarted { why: execution.message });
        }
        let after = self.card().extension(replay::URI).map(|_| START_CURSOR);
        match self.subscribe(&execution.task, after).await {
            // It may be over already.
            Err(error) if error.is_refused_subscription() => {
                let task = self.get(&execution.task, None).await?;
                Ok(EventStream::with_first(self.clone(), StreamEvent::Task(Box::new(task)), None))
            }
            result => result,
        }
    }

    fn require_commands(&self) -> Result<(), ClientError> {
        match self.card().development_tool() {
            DevelopmentToolOffer::Understood { .. } => Ok(()),
            DevelopmentToolOffer::OtherVersion { version } => {
                Err(ClientError::NoCommands { why: other_version(version) })
            }
            DevelopmentToolOffer::None => {
                let why = "the agent does not offer the development-tool extension, so it takes no commands";
                Err(ClientError::NoCommands { why: why.into() })
            }
        }
    }
}
