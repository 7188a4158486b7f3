//! `attache card`: shows, checks, signs and verifies agent cards, one's own and others'.

mod arguments;
mod fetch;
mod lint;
mod show;
mod sign;
mod source;
mod verify;

use std::io;
use std::process::ExitCode;

use anyhow::Context;

pub(crate) use arguments::CardArguments;

use crate::report;
use arguments::CardCommand;

pub(crate) fn run(arguments: CardArguments) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let done = runtime
        .context("cannot start the runtime")
        .and_then(|runtime| runtime.block_on(Box::pin(perform(arguments.command))));
    match done {
        Ok(code) => code,
        // Whoever read it has read enough.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => report::failure(&error),
    }
}

async fn perform(command: CardCommand) -> anyhow::Result<ExitCode> {
    match command {
        CardCommand::Show(arguments) => show::run(arguments).await,
        CardCommand::Lint(arguments) => lint::run(arguments).await,
        CardCommand::Sign(arguments) => sign::run(arguments).await,
        CardCommand::Verify(arguments) => verify::run(arguments).await,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let of_io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let of_json = cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        of_io.or(of_json) == Some(io::ErrorKind::BrokenPipe)
    })
}

/// What a card said, on one line and without what would steer a terminal.
fn shown(text: &str) -> String {
    crate::plain::plain(text).replace(['\n', '\t', '\r'], " ")
}
