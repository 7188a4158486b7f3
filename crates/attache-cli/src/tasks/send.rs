//! `attache tasks send`: starts a task, or goes on with one.

use std::io::{self, IsTerminal, Read, Write};
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use attache_client::{OutgoingMessage, StreamEvent};
use attache_domain::visible_line;
use uuid::Uuid;

use super::arguments::SendArguments;
use super::follow::{FollowFormat, FollowStart, follow};
use super::server::ServerConnection;
use super::show::parts;
use crate::report::with_hint;

/// Bytes of a message that is piped in.
const MAX_PIPED: u64 = 8 << 20;

pub(crate) async fn run(server: &ServerConnection, arguments: SendArguments) -> anyhow::Result<ExitCode> {
    let text = text(&arguments.text)?;
    let mut message = OutgoingMessage::text(Uuid::new_v4(), text);
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
            writeln!(io::stdout(), "{}", parts(&message.parts).trim_end())?;
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
        serde_json::to_writer_pretty(&mut out, &task.to_json())?;
        writeln!(out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let id = visible_line(task.id.as_str());
    writeln!(out, "task {id} is {}; attache tasks follow {id} shows what it does", task.status.state_name())?;
    Ok(ExitCode::SUCCESS)
}

/// The words on the command line; without any, what is piped in.
fn text(words: &[String]) -> anyhow::Result<String> {
    let mut text = words.join(" ");
    if words.is_empty() && !io::stdin().is_terminal() {
        let piped = io::stdin().lock().take(MAX_PIPED + 1).read_to_string(&mut text);
        piped.context("cannot read the message from standard input")?;
        if text.len() as u64 > MAX_PIPED {
            bail!("the piped message is larger than {} MiB", MAX_PIPED >> 20);
        }
    }
    if text.trim().is_empty() {
        let hint = "say what the agent should do: attache tasks send \"make the tests pass\" --follow";
        return Err(with_hint(anyhow!("there is no message"), hint));
    }
    Ok(text)
}
