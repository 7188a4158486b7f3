//! Commands in the REST API.

use attache_domain::{CommandSpec, Fault, ListCommands, TaskEnding};
use attache_session::{CommandOutcome, CommandRefusal, SendReply};
use attache_wire::devtool::rest_api::{self, CommandResult, ExecuteCommand};
use serde_json::Value;

use super::{JSON, Request, complete};
use crate::framing::json as answer;
use crate::http::Response;
use crate::open_calls::CallPurpose;

impl Request<'_> {
    /// Runs the command and answers with its result. A command that the model works on goes on in its task.
    pub(super) async fn run_command(&self, body: Value) -> Result<Response, Fault> {
        let (app, scope) = (self.app, self.scope());
        let mut send = ExecuteCommand::read(body)?.into_send(&self.parameter);
        let Some(command) = send.message.command.as_deref().cloned() else { return Err(Fault::Internal) };
        complete(app, &self.head.headers, &mut send, self.origin);
        let list = ListCommands { settings: send.message.requested.clone(), ..ListCommands::default() };
        let specs = app.session.commands(&scope, list).await?;
        let is_followed = CommandSpec::find(&specs, &command.path).is_some_and(|spec| spec.is_followed);
        send.options.ending = Some(TaskEnding::Completes);
        let _open_call = app.open_calls.take(self.origin.caller, self.origin.connection, CallPurpose::Any)?;
        let started = match app.session.run_command(&scope, send).await? {
            CommandOutcome::Refused(CommandRefusal::Unknown(why)) => {
                return Ok(response(404, &rest_api::command_refused(why)));
            }
            CommandOutcome::Refused(CommandRefusal::BadArguments(why)) => {
                return Ok(response(400, &rest_api::command_refused(why)));
            }
            CommandOutcome::Started { started, .. } => started,
        };
        if is_followed {
            return Ok(response(200, &rest_api::command_started(&started.view)));
        }
        match app.session.settle(started).await? {
            SendReply::Task(view) => Ok(response(200, &rest_api::command_result(&command, &view))),
            SendReply::Message(_) => Err(Fault::Internal),
        }
    }
}

fn response(status: u16, result: &CommandResult<'_>) -> Response {
    answer(status, JSON, rest_api::to_bytes(result))
}
