//! Runs a command for a client that waits for its result.

use std::sync::Arc;

use attache_domain::{
    CommandCall, CommandSpec, Fault, ListCommands, Scope, SendMessage, TaskEnding, TaskView,
};
use attache_session::{CommandOutcome, CommandRefusal, SendReply, StartedTask};

use crate::app::{App, RequestOrigin};
use crate::open_requests::{OpenRequest, RequestPurpose};

pub(crate) enum CommandRun {
    Refused(CommandRefusal),
    /// The model works on it: its task goes on.
    Started {
        started: StartedTask,
        open_request: OpenRequest,
    },
    /// The task is settled. `command` is what was run: a word after the name may have been a sub-command.
    Settled {
        command: CommandCall,
        view: Arc<TaskView>,
    },
}

/// `ending` is how the task of the command ends, given whether the model works on it.
pub(crate) async fn run(
    app: &App,
    scope: &Scope,
    origin: RequestOrigin,
    mut send: SendMessage,
    ending: impl FnOnce(bool) -> Option<TaskEnding>,
) -> Result<CommandRun, Fault> {
    let Some(command) = send.message.command.as_deref().cloned() else { return Err(Fault::Internal) };
    let list = ListCommands { settings: send.message.requested.clone(), ..ListCommands::default() };
    let specs = app.session.commands(scope, list).await?;
    let is_followed = CommandSpec::find(&specs, &command.path).is_some_and(|spec| spec.is_followed);
    send.options.ending = ending(is_followed);
    let open_request = app.open_requests.take(origin.caller, origin.connection, RequestPurpose::Any)?;
    let started = match app.session.run_command(scope, send).await? {
        CommandOutcome::Refused(refusal) => return Ok(CommandRun::Refused(refusal)),
        CommandOutcome::Started { started, .. } => started,
    };
    if is_followed {
        return Ok(CommandRun::Started { started, open_request });
    }
    let mut received = started.view.history.iter().rev();
    let command = received.find_map(|message| message.command.as_deref().cloned()).unwrap_or(command);
    match app.session.settle(started).await? {
        SendReply::Task(view) => Ok(CommandRun::Settled { command, view }),
        SendReply::Message(_) => Err(Fault::Internal),
    }
}
