//! `attache call`: calls any A2A agent.

mod agent;
mod answers;
mod arguments;
mod connection;
mod conversation;
mod end;
mod message;
mod printer;
mod single;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, anyhow};
use attache_client::Client;
use attache_domain::visible_line;

use self::arguments::Request;
use self::conversation::Conversation;
use self::end::CallEnd;
use crate::ProcessContext;
use crate::report::{self, with_hint};

pub use self::arguments::CallArguments;

pub fn run(arguments: CallArguments, process: ProcessContext<'_>) -> ExitCode {
    attempt(arguments, process).unwrap_or_else(|error| report::failure(&error))
}

fn attempt(arguments: CallArguments, process: ProcessContext<'_>) -> anyhow::Result<ExitCode> {
    let request = arguments.request()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start the runtime")?;
    runtime.block_on(async {
        let connecting = connection::connect(&arguments, process);
        let client = tokio::select! {
            biased;
            _ = tokio::signal::ctrl_c() => return Ok(CallEnd::Interrupted.code()),
            client = Box::pin(connecting) => client?,
        };
        for notice in client.notices() {
            writeln!(io::stderr(), "note: {}", visible_line(notice))?;
        }
        let end = match request {
            Request::Follow { task } => talk(&client, &arguments, Some(task), None).await,
            Request::Send { text } => {
                let message = message::new(&arguments, text)?;
                talk(&client, &arguments, None, Some(message)).await
            }
            single => single::run(&client, single, &arguments).await,
        };
        Ok(end?.code())
    })
}

/// Sends and follows, until the task settles, the time is over, or the person stops it.
async fn talk(
    client: &Client,
    arguments: &CallArguments,
    task: Option<String>,
    message: Option<attache_client::OutgoingMessage>,
) -> anyhow::Result<CallEnd> {
    let mut conversation = Conversation::new(client, arguments);
    let limit = Duration::from_secs(arguments.timeout.unwrap_or(u64::from(u32::MAX)));
    let end = tokio::select! {
        biased;
        _ = tokio::signal::ctrl_c() => CallEnd::Interrupted,
        () = tokio::time::sleep(limit) => CallEnd::TimedOut,
        end = conversation.run(task, message) => return end,
    };
    conversation.leave(&end).await?;
    Ok(end)
}

/// A person can be shown a question and answer it.
fn is_at_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

fn nothing_to_say() -> anyhow::Error {
    with_hint(
        anyhow!("there is no message"),
        "say it after the URL: attache call https://agent.example \"What can you do?\"",
    )
}
