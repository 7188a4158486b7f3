//! `attache tasks`: manages the tasks of a running server.

mod answer;
mod arguments;
mod call;
mod conversation_command;
mod follow;
mod list;
mod printed_calls;
mod send;
mod server;
mod show;
#[cfg(test)]
mod test_values;
mod time;

use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use arguments::{CancelArguments, TasksCommand};
use attache_config::Environment;
use attache_domain::visible_line;
use server::{ServerAddress, ServerConnection};

use crate::report;
use crate::standard_streams::stdout;
pub(crate) use arguments::ServerArguments;
pub use arguments::TasksArguments;
pub(crate) use conversation_command::{ConversationCommand, ConversationPlace};

pub(crate) use answer::answer_parts;
pub(crate) use printed_calls::{CallNotice, PrintedCalls};
pub(crate) use server::token;
pub(crate) use show::{how_to_answer, page_of, parts, pieces};
#[cfg(test)]
pub(crate) use test_values::decode_event;

const INTERRUPTED: u8 = 130;

pub fn run(arguments: TasksArguments, environment: Environment<'_>) -> ExitCode {
    attempt(arguments, environment).unwrap_or_else(|error| report::failure(&error))
}

fn attempt(arguments: TasksArguments, environment: Environment<'_>) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start the runtime")?;
    runtime.block_on(async {
        // A person who stops it stops the task too.
        if matches!(arguments.command, TasksCommand::Send(_)) {
            return run_command(arguments, environment).await;
        }
        tokio::select! {
            biased;
            _ = tokio::signal::ctrl_c() => Ok(ExitCode::from(INTERRUPTED)),
            result = Box::pin(run_command(arguments, environment)) => result,
        }
    })
}

async fn run_command(arguments: TasksArguments, environment: Environment<'_>) -> anyhow::Result<ExitCode> {
    let TasksArguments { server, command } = arguments;
    let shows_work = match &command {
        TasksCommand::Send(send) => send.development || send.command.is_some(),
        _ => true,
    };
    let connecting = connect(&server, environment, shows_work)?;
    match command {
        TasksCommand::List(arguments) => {
            list::run(&connecting.await?, arguments).await.map(|()| ExitCode::SUCCESS)
        }
        TasksCommand::Show(arguments) => {
            show::run(&connecting.await?, arguments).await.map(|()| ExitCode::SUCCESS)
        }
        TasksCommand::Follow(arguments) => Ok(follow::run(&connecting.await?, arguments).await?.code()),
        TasksCommand::Send(arguments) => send::run(connecting, &arguments).await,
        TasksCommand::Cancel(arguments) => cancel(&connecting.await?, &arguments).await,
        TasksCommand::Answer(arguments) => answer::run(&connecting.await?, arguments).await,
    }
}

fn connect<'a>(
    ServerArguments { server, token_file }: &'a ServerArguments,
    environment: Environment<'_>,
    shows_work: bool,
) -> anyhow::Result<impl Future<Output = anyhow::Result<ServerConnection>> + use<'a>> {
    let place = ServerAddress { address: server, token_file: token_file.as_deref() };
    let network = crate::network::of_user(environment)?;
    Ok(ServerConnection::connect(place, environment("ATTACHE_TOKEN"), network, shows_work))
}

/// Runs a command of the agent in a conversation of a running server.
pub(crate) fn run_in_conversation(
    server: &ServerArguments,
    command: ConversationCommand<'_>,
    environment: Environment<'_>,
) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start the runtime")?;
    runtime.block_on(async { command.run(connect(server, environment, true)?).await })
}

async fn cancel(server: &ServerConnection, arguments: &CancelArguments) -> anyhow::Result<ExitCode> {
    let task = server.find(&arguments.id).await?;
    if let Some(call) = &arguments.call {
        let task = server.client.cancel_call(task.id.as_str(), call).await;
        let task = task.map_err(|error| server.describe_error(error))?;
        let call = visible_line(call);
        writeln!(stdout(), "call {call} is cancelled; task {} is {}", task.id, task.status.state_name())?;
        return Ok(ExitCode::SUCCESS);
    }
    let task = server.client.cancel(task.id.as_str()).await.map_err(|error| server.describe_error(error))?;
    writeln!(stdout(), "task {} is {}", task.id, task.status.state_name())?;
    Ok(ExitCode::SUCCESS)
}
