//! `attache tasks send`: starts or continues a task, as `attache call` does with any agent.

use std::io::Write;
use std::process::ExitCode;

use attache_client::OutgoingMessage;
use uuid::Uuid;

use super::arguments::SendArguments;
use super::server::ServerConnection;
use crate::call::{self, CallEnd, Opening, Partner, TalkOptions, TimeLimit, command_path};
use crate::message_input;
use crate::report::{UsageError, with_hint};
use crate::standard_streams::stderr;

/// `connecting` ends with the server.
pub(crate) async fn run(
    connecting: impl Future<Output = anyhow::Result<ServerConnection>>,
    arguments: &SendArguments,
) -> anyhow::Result<ExitCode> {
    let limit = TimeLimit::new(arguments.timeout);
    let beginning = async {
        let server = connecting.await?;
        let opening = opening(&server, arguments).await?;
        anyhow::Ok((server, opening))
    };
    let (server, opening) = match limit.apply(beginning).await {
        Ok(begun) => begun?,
        Err(end) => {
            if end == CallEnd::TimedOut {
                writeln!(stderr(), "[the time is over; the server has not answered]")?;
            }
            return Ok(end.code());
        }
    };
    let options = TalkOptions {
        partner: Partner::Server,
        answers: &arguments.answer,
        waits: arguments.follow,
        detaches: arguments.detach,
        json: arguments.json,
    };
    let end = call::talk(&server.client, options, &limit, opening).await;
    Ok(end.map_err(|error| server.with_credential_hint(error))?.code())
}

async fn opening(server: &ServerConnection, arguments: &SendArguments) -> anyhow::Result<Opening> {
    let command = arguments.command.as_deref().map(command_path).transpose()?;
    let mut message = match command.clone() {
        Some(path) => OutgoingMessage::command(Uuid::new_v4(), path, arguments.text.join(" ")),
        None => {
            let parts = message_input::parts(text(arguments)?, &arguments.file)?;
            OutgoingMessage::parts(Uuid::new_v4(), parts)
        }
    };
    if let Some(id) = &arguments.task {
        let task = server.find(id).await?;
        message = message.to_task(task.id.as_str()).in_context(task.context.as_str());
    } else if let Some(context) = &arguments.context {
        message = message.in_context(server.find_context(context).await?);
    }
    if arguments.detach {
        message = message.return_immediately();
    }
    Ok(if command.is_some() { Opening::Command(message) } else { Opening::Say(message) })
}

/// The words on the command line; without any and without a file, what is piped in.
fn text(arguments: &SendArguments) -> anyhow::Result<String> {
    let mut text = arguments.text.join(" ");
    if text.is_empty() && arguments.file.is_empty() {
        text = message_input::piped()?;
    }
    if text.trim().is_empty() && arguments.file.is_empty() {
        let hint = "say what the agent should do: attache tasks send \"make the tests pass\"";
        return Err(with_hint(UsageError("there is no message"), hint));
    }
    Ok(text)
}
