//! A command that was given: what is answered about it.

use attache_session::{CommandOutcome, CommandStatus, StartedTask};
use attache_wire::devtool::commands::{ExecutionStatus, write_execution};
use attache_wire::proto;
use http::header;
use http::request::Parts;

use crate::framing::{self, Framing};
use crate::http::Response;
use crate::open_calls::OpenCall;

pub(crate) struct ExecutedCommand {
    /// None: nothing was started.
    pub(crate) started: Option<StartedTask>,
    /// Counts the stream of its events, if there is one.
    pub(crate) open_call: Option<OpenCall>,
    pub(crate) response: CommandResponse,
}

pub(crate) struct CommandResponse {
    task: String,
    status: ExecutionStatus,
    message: String,
}

impl ExecutedCommand {
    pub(crate) fn new(execution: CommandOutcome, open_call: Option<OpenCall>) -> Self {
        match execution {
            CommandOutcome::Refused(why) => {
                let (status, message) = (ExecutionStatus::FailedToStart, why.to_string());
                let response = CommandResponse { task: String::new(), status, message };
                Self { started: None, open_call: None, response }
            }
            CommandOutcome::Started { started, standing } => {
                let task = started.view.task.to_string();
                let (status, message) = match standing {
                    CommandStatus::Running => (ExecutionStatus::Started, ""),
                    CommandStatus::Queued => {
                        (ExecutionStatus::Started, "the command is queued: it runs when the task is at rest")
                    }
                    CommandStatus::AsksForShell => {
                        let message = "the command waits for somebody to agree to what it would run";
                        (ExecutionStatus::AwaitingShellConfirmation, message)
                    }
                    CommandStatus::AsksForAction => {
                        let message = "the command waits for somebody to agree to what it would do";
                        (ExecutionStatus::AwaitingActionConfirmation, message)
                    }
                };
                let response = CommandResponse { task, status, message: message.to_owned() };
                Self { started: Some(started), open_call, response }
            }
        }
    }
}

impl CommandResponse {
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        write_execution(&self.task, self.status, &self.message, out);
    }

    /// The same in protobuf.
    pub(crate) fn write_proto(&self, out: &mut Vec<u8>) -> Result<(), String> {
        proto::write_execution(&self.task, self.status, &self.message, out)
    }

    /// A stream of nothing else.
    pub(crate) fn alone(&self, framing: &Framing) -> Response {
        let mut frame = b"data: ".to_vec();
        framing.open(&mut frame);
        self.write(&mut frame);
        framing.close(&mut frame);
        frame.extend_from_slice(b"\n\n");
        framing::json(200, "text/event-stream", frame)
    }
}

/// The client wants to see what happens, and not only that it begins.
pub(crate) fn wants_events(head: &Parts) -> bool {
    let accepted = head.headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.into_iter().any(|value| value.contains("text/event-stream"))
}
