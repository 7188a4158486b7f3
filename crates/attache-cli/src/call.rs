//! `attache call`: calls any A2A agent.

pub(crate) mod agent;
mod answers;
mod arguments;
mod built_in;
mod connection;
mod conversation;
mod end;
mod message;
mod printer;
mod single;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use attache_client::Client;
use attache_domain::visible_line;
use attache_help::Manual;
use tokio::time::Instant;

use self::arguments::Request;
use self::conversation::Conversation;
use crate::ProcessContext;
use crate::report::{self, UsageError, with_hint};
use crate::standard_streams::stderr;

pub use self::arguments::CallArguments;
pub(crate) use self::arguments::command_path;
pub(crate) use self::connection::{CredentialOrigin, with_credential_hint};
pub(crate) use self::conversation::{Opening, Partner, TalkOptions};
pub(crate) use self::end::CallEnd;

/// `manual` answers for the agent that is built in.
pub fn run(arguments: CallArguments, process: ProcessContext<'_>, manual: &Manual) -> ExitCode {
    let built_in = built_in::run(&arguments, process, manual);
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
            writeln!(stderr(), "note: {}", visible_line(notice))?;
        }
        let talking = TalkOptions {
            partner: Partner::Agent(&arguments.url),
            answers: &arguments.answer,
            waits: arguments.follow,
            detaches: arguments.detach,
            json: arguments.json,
        };
        let end = match request {
            Request::Follow { task } => talk(&client, talking, &limit, Opening::Follow(task)).await,
            Request::Send { text } => {
                let message = message::new(&arguments, text)?;
                talk(&client, talking, &limit, Opening::Say(message)).await
            }
            Request::Command { path, arguments: words } => {
                let command = message::command(&arguments, path, words);
                talk(&client, talking, &limit, Opening::Command(command)).await
            }
            single => match limit.apply(single::run(&client, single, &arguments)).await {
                Ok(end) => end,
                Err(end) => return leave(end, "the agent has not answered"),
            },
        };
        if let Some(change) = client.interface_change() {
            writeln!(stderr(), "note: {}", visible_line(change))?;
        }
        let place = (arguments.url.as_str(), client.url());
        let named = |error| connection::with_credential_hint(connection::named(error, place), &credential);
        Ok(end.map_err(named)?.code())
    })
}

/// How long a call may take in all.
pub(crate) struct TimeLimit(Option<Instant>);

impl TimeLimit {
    pub(crate) fn new(seconds: Option<u64>) -> Self {
        Self(seconds.and_then(|seconds| Instant::now().checked_add(Duration::from_secs(seconds))))
    }

    /// The result of `work`, unless the person stops it or the time is over before.
    pub(crate) async fn apply<T>(&self, work: impl Future<Output = T>) -> Result<T, CallEnd> {
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
        writeln!(stderr(), "[the time is over; {what}]")?;
    }
    Ok(end.code())
}

/// Sends and follows, until the task settles, the time is over, or the person stops it.
pub(crate) async fn talk(
    client: &Client,
    options: TalkOptions<'_>,
    limit: &TimeLimit,
    opening: Opening,
) -> anyhow::Result<CallEnd> {
    let mut conversation = Conversation::new(client, options);
    let end = match limit.apply(conversation.run(opening)).await {
        Ok(end) => return end,
        Err(end) => end,
    };
    conversation.leave(&end).await?;
    Ok(end)
}

/// A person can be shown a question and answer it.
pub(crate) fn is_at_terminal() -> bool {
    io::stdin().is_terminal() && stderr().is_terminal()
}

fn nothing_to_say() -> anyhow::Error {
    with_hint(
        UsageError("there is no message"),
        "say it after the URL: attache call https://agent.example \"What can you do?\"",
    )
}
