//! `attache call`: calls any A2A agent.

pub(crate) mod agent;
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
use attache_help::Manual;
use tokio::time::Instant;

use self::arguments::Request;
use self::conversation::{Conversation, Opening};
use self::end::CallEnd;
use crate::ProcessContext;
use crate::agents::built_in_answer;
use crate::report::{self, with_hint};

pub use self::arguments::CallArguments;

/// `manual` answers for the agent that is built in.
pub fn run(arguments: CallArguments, process: ProcessContext<'_>, manual: &Manual) -> ExitCode {
    let built_in = built_in_answer(&arguments.url, &arguments.text, process, manual);
    let end = built_in.unwrap_or_else(|| attempt(arguments, process));
    end.unwrap_or_else(|error| report::failure(&error))
}

fn attempt(arguments: CallArguments, process: ProcessContext<'_>) -> anyhow::Result<ExitCode> {
    let request = arguments.request()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start the runtime")?;
    runtime.block_on(async {
        let limit = TimeLimit::new(arguments.timeout);
        let connected = match limit.apply(connection::connect(&arguments, process)).await {
            Ok(connected) => connected?,
            Err(end) => return leave(end, "the agent's card has not come"),
        };
        let connection::Connection { client, missing, credential } = connected;
        for notice in client.notices().iter().chain(&missing) {
            writeln!(io::stderr(), "note: {}", visible_line(notice))?;
        }
        let end = match request {
            Request::Follow { task } => talk(&client, &arguments, &limit, Opening::Follow(task)).await,
            Request::Send { text } => {
                let message = message::new(&arguments, text)?;
                talk(&client, &arguments, &limit, Opening::Say(message)).await
            }
            Request::Command { path, arguments: words } => {
                let command = message::command(&arguments, path, words);
                talk(&client, &arguments, &limit, Opening::Command(command)).await
            }
            single => match limit.apply(single::run(&client, single, &arguments)).await {
                Ok(end) => end,
                Err(end) => return leave(end, "the agent has not answered"),
            },
        };
        let place = (arguments.url.as_str(), client.url());
        let named = |error| connection::named(connection::with_credential_hint(error, &credential), place);
        Ok(end.map_err(named)?.code())
    })
}

/// How long a call may take in all.
struct TimeLimit(Option<Instant>);

impl TimeLimit {
    fn new(seconds: Option<u64>) -> Self {
        Self(seconds.and_then(|seconds| Instant::now().checked_add(Duration::from_secs(seconds))))
    }

    /// What comes of `work`, unless the person stops it or the time is over before.
    async fn apply<T>(&self, work: impl Future<Output = T>) -> Result<T, CallEnd> {
        let over = async {
            match self.0 {
                Some(end) => tokio::time::sleep_until(end).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            _ = tokio::signal::ctrl_c() => Err(CallEnd::Interrupted),
            () = over => Err(CallEnd::TimedOut),
            done = Box::pin(work) => Ok(done),
        }
    }
}

/// Ends before there is anything to go on with.
fn leave(end: CallEnd, what: &str) -> anyhow::Result<ExitCode> {
    if end == CallEnd::TimedOut {
        writeln!(io::stderr(), "[the time is over; {what}]")?;
    }
    Ok(end.code())
}

/// Sends and follows, until the task settles, the time is over, or the person stops it.
async fn talk(
    client: &Client,
    arguments: &CallArguments,
    limit: &TimeLimit,
    opening: Opening,
) -> anyhow::Result<CallEnd> {
    let mut conversation = Conversation::new(client, arguments);
    let end = match limit.apply(conversation.run(opening)).await {
        Ok(end) => return end,
        Err(end) => end,
    };
    conversation.leave(&end).await?;
    Ok(end)
}

/// A person can be shown a question and answer it.
pub(crate) fn is_at_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

fn nothing_to_say() -> anyhow::Error {
    with_hint(
        anyhow!("there is no message"),
        "say it after the URL: attache call https://agent.example \"What can you do?\"",
    )
}
