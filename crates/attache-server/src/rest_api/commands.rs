//! Commands in the REST API.

use attache_domain::{Fault, TaskEnding};
use attache_session::CommandRefusal;
use attache_wire::devtool::rest_api::{self, CommandResult, ExecuteCommand};
use serde_json::Value;

use super::{JSON, Request, complete};
use crate::commands::{self, CommandRun};
use crate::framing::json as answer;
use crate::http::Response;

impl Request<'_> {
    /// Runs the command and answers with its result. A command that the model works on goes on in its task.
    pub(super) async fn run_command(&self, body: Value) -> Result<Response, Fault> {
        let (app, scope) = (self.app, self.scope());
        let mut send = ExecuteCommand::read(body)?.into_send(&self.parameter);
        let Some(command) = send.message.command.as_deref().cloned() else { return Err(Fault::Internal) };
        // Its settings have no key.
        let _ = complete(app, &self.head.headers, &mut send, self.origin);
        let ending = |_| Some(TaskEnding::Completes);
        Ok(match commands::run(app, &scope, self.origin, send, ending).await? {
            CommandRun::Refused(CommandRefusal::Unknown(why)) => {
                response(404, &rest_api::command_refused(why))
            }
            CommandRun::Refused(CommandRefusal::BadArguments(why)) => {
                response(400, &rest_api::command_refused(why))
            }
            CommandRun::Started { started, .. } => response(200, &rest_api::command_started(&started.view)),
            CommandRun::Settled { view, .. } => response(200, &rest_api::command_result(&command, &view)),
        })
    }
}

fn response(status: u16, result: &CommandResult<'_>) -> Response {
    answer(status, JSON, rest_api::to_bytes(result))
}
