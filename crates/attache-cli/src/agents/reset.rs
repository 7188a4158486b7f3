//! `attache agents reset`: a conversation of a running server forgets its exchange with an agent.

use std::process::ExitCode;

use attache_config::Environment;
use clap::Args;

use crate::report::{UsageError, with_hint};
use crate::tasks::{self, ConversationCommand, ConversationPlace, ServerArguments};

#[derive(Debug, Args)]
pub(super) struct ResetArguments {
    name: String,
    /// In the conversation of this task, by its id or the beginning of it
    #[arg(long, visible_alias = "session", value_name = "ID", conflicts_with = "context")]
    task: Option<String>,
    /// In this conversation, by its id or the beginning of it
    #[arg(long, value_name = "ID")]
    context: Option<String>,
    #[command(flatten)]
    server: ServerArguments,
}

pub(super) fn run(arguments: &ResetArguments, environment: Environment<'_>) -> anyhow::Result<ExitCode> {
    let place = match (&arguments.task, &arguments.context) {
        (Some(task), _) => ConversationPlace::OfTask(task),
        (None, Some(context)) => ConversationPlace::Context(context),
        (None, None) => {
            let hint = "name one with --context ID or --task ID, as `attache tasks list` shows them; in a session at the terminal \
                        type /agents reset NAME";
            return Err(with_hint(UsageError("it is not said which conversation is meant"), hint));
        }
    };
    let command = ConversationCommand { path: &["agents", "reset"], arguments: &arguments.name, place };
    tasks::run_in_conversation(&arguments.server, command, environment)
}
