//! `attache tasks send`: starts or continues a task.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{anyhow, bail};
use attache_client::{OutgoingMessage, StreamEvent};
use attache_domain::visible_line;
use uuid::Uuid;

use super::arguments::SendArguments;
use super::follow::{FollowFormat, FollowStart, follow};
use super::server::ServerConnection;
use super::show;
use crate::message_input;
use crate::report::with_hint;

pub(crate) async fn run(server: &ServerConnection, arguments: SendArguments) -> anyhow::Result<ExitCode> {
    let parts = message_input::parts(text(&arguments)?, &arguments.file)?;
    let mut message = OutgoingMessage::parts(Uuid::new_v4(), parts);
    let mut start = FollowStart::Beginning;
    if let Some(id) = &arguments.task {
        let task = server.find(id).await?;
        message = message.to_task(task.id.as_str()).in_context(task.context.as_str());
        start = FollowStart::After(Box::new(task.status));
    } else if let Some(context) = &arguments.context {
        message = message.in_context(server.find_context(context).await?);
    }
    let sent = server.client.send(message.return_immediately()).await;
    let task = match sent.map_err(|error| server.describe_error(error))? {
        StreamEvent::Task(task) => task,
        // An agent may answer at once and make no task.
        StreamEvent::Message(message) => {
            writeln!(io::stdout(), "{}", show::parts(&message.parts).trim_end())?;
            return Ok(ExitCode::SUCCESS);
        }
        StreamEvent::StatusUpdate(_) | StreamEvent::ArtifactUpdate(_) => {
            bail!("the agent answered with an event, where a task or a message was due")
        }
    };
    if arguments.follow {
        writeln!(io::stderr(), "[task {}]", visible_line(task.id.as_str()))?;
        let form = if arguments.json { FollowFormat::Json } else { FollowFormat::Text };
        return follow(server, *task, form, start).await;
    }
    let mut out = io::stdout().lock();
    if arguments.json {
        crate::printable::write_pretty_json(&mut out, &task.to_json())?;
        writeln!(out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let id = visible_line(task.id.as_str());
    writeln!(out, "task {id} is {}; attache tasks follow {id} shows what it does", task.status.state_name())?;
    Ok(ExitCode::SUCCESS)
}

/// The words on the command line; without any and without a file, what is piped in.
fn text(arguments: &SendArguments) -> anyhow::Result<String> {
    let mut text = arguments.text.join(" ");
    if text.is_empty() && arguments.file.is_empty() {
        text = message_input::piped()?;
    }
    if text.trim().is_empty() && arguments.file.is_empty() {
        let hint = "say what the agent should do: attache tasks send \"make the tests pass\" --follow";
        return Err(with_hint(anyhow!("there is no message"), hint));
    }
    Ok(text)
}
