//! The response to a command.

use attache_session::{CommandOutcome, CommandStatus, StartedTask};
use attache_wire::Encoder;
use attache_wire::devtool::commands::ExecutionStatus;

use crate::open_requests::OpenRequest;

pub(crate) struct ExecutedCommand {
    /// None when the command was refused.
    pub(crate) started: Option<StartedTask>,
    /// Counts the stream of the task's events, if there is one.
    pub(crate) open_request: Option<OpenRequest>,
    pub(crate) response: CommandResponse,
}

pub(crate) struct CommandResponse {
    task: String,
    status: ExecutionStatus,
    message: String,
}

impl ExecutedCommand {
    pub(crate) fn new(execution: CommandOutcome, open_request: Option<OpenRequest>) -> Self {
        match execution {
            CommandOutcome::Refused(why) => {
                let (status, message) = (ExecutionStatus::FailedToStart, why.to_string());
                let response = CommandResponse { task: String::new(), status, message };
                Self { started: None, open_request: None, response }
            }
            CommandOutcome::Started { started, status } => {
                let task = started.view.task.to_string();
                let (status, message) = match status {
                    CommandStatus::Running => (ExecutionStatus::Started, ""),
                    CommandStatus::Queued => {
                        (ExecutionStatus::Started, "the command is queued: it runs when the task is at rest")
                    }
                    CommandStatus::AsksForShell => {
                        let message = "the command waits for approval of what it would run";
                        (ExecutionStatus::AwaitingShellConfirmation, message)
                    }
                    CommandStatus::AsksForAction => {
                        let message = "the command waits for approval of what it would do";
                        (ExecutionStatus::AwaitingActionConfirmation, message)
                    }
                };
                let response = CommandResponse { task, status, message: message.to_owned() };
                Self { started: Some(started), open_request, response }
            }
        }
    }
}

impl CommandResponse {
    pub(crate) fn write(&self, encoder: &Encoder, out: &mut Vec<u8>) -> Result<(), String> {
        encoder.write_execution(&self.task, self.status, &self.message, out)
    }
}
