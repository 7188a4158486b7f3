//! `attache card`: shows, checks, signs and verifies agent cards.

mod arguments;
mod fetch;
mod lint;
mod show;
mod sign;
mod source;
mod verify;

use std::process::ExitCode;

use anyhow::Context;
use arguments::CardCommand;

use crate::report;
pub use arguments::CardArguments;
pub use arguments::DocumentVersion;
pub use source::{CardContext, OwnCard, OwnCardRequest};

pub fn run(arguments: CardArguments, context: CardContext<'_>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let done = runtime
        .context("cannot start the runtime")
        .and_then(|runtime| runtime.block_on(Box::pin(run_command(arguments.command, context))));
    done.unwrap_or_else(|error| report::failure(&error))
}

async fn run_command(command: CardCommand, context: CardContext<'_>) -> anyhow::Result<ExitCode> {
    match command {
        CardCommand::Show(arguments) => show::run(arguments, context).await,
        CardCommand::Lint(arguments) => lint::run(arguments, context).await,
        CardCommand::Sign(arguments) => sign::run(arguments, context).await,
        CardCommand::Verify(arguments) => verify::run(arguments, context).await,
    }
}

/// Text of a card on one line, without characters that control a terminal.
fn shown(text: &str) -> String {
    crate::printable::printable(text).replace(['\n', '\t', '\r'], " ")
}
