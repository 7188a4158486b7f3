//! `attache tasks`: looks after the tasks of a running server.

mod answer;
mod arguments;
mod call;
mod follow;
mod list;
mod send;
mod server;
mod show;
mod time;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Context;
use arguments::{CancelArguments, TasksCommand};
use server::ServerConnection;

use crate::{ProcessContext, report};
pub use arguments::TasksArguments;

const INTERRUPTED: u8 = 130;

pub fn run(arguments: TasksArguments, process: ProcessContext<'_>) -> ExitCode {
    attempt(arguments, process).unwrap_or_else(|error| report::failure(&error))
}

fn attempt(arguments: TasksArguments, process: ProcessContext<'_>) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start the runtime")?;
    runtime.block_on(async {
        tokio::select! {
            biased;
            _ = tokio::signal::ctrl_c() => Ok(ExitCode::from(INTERRUPTED)),
            result = Box::pin(run_command(arguments, process)) => result,
        }
    })
}

async fn run_command(arguments: TasksArguments, process: ProcessContext<'_>) -> anyhow::Result<ExitCode> {
    let token = (process.environment)("ATTACHE_TOKEN");
    let server = ServerConnection::connect(&arguments, token).await?;
    match arguments.command {
        TasksCommand::List(arguments) => list::run(&server, arguments).await.map(|()| ExitCode::SUCCESS),
        TasksCommand::Show(arguments) => show::run(&server, arguments).await.map(|()| ExitCode::SUCCESS),
        TasksCommand::Follow(arguments) => follow::run(&server, arguments).await,
        TasksCommand::Send(arguments) => send::run(&server, arguments).await,
        TasksCommand::Cancel(arguments) => cancel(&server, &arguments).await,
        TasksCommand::Answer(arguments) => answer::run(&server, arguments).await,
    }
}

async fn cancel(server: &ServerConnection, arguments: &CancelArguments) -> anyhow::Result<ExitCode> {
    let task = server.find(&arguments.id).await?;
    let task = server.client.cancel(&task.id).await.map_err(|error| server.describe_error(error))?;
    writeln!(io::stdout(), "task {} is {}", task.id, task.status.state)?;
    Ok(ExitCode::SUCCESS)
}
