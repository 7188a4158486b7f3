//! `attache call` with the name of an agent that is part of the program: a question and its answer, without a connection.

use std::process::ExitCode;

use anyhow::anyhow;
use attache_client::{ContextId, Message, MessageId, StreamEvent};
use attache_help::Manual;
use uuid::Uuid;

use super::arguments::CallArguments;
use crate::ProcessContext;
use crate::agents::{built_in_answer, is_built_in, print};
use crate::message_input;
use crate::report::with_hint;

/// None unless `arguments` name such an agent.
pub(super) fn run(
    arguments: &CallArguments,
    process: ProcessContext<'_>,
    manual: &Manual,
) -> Option<anyhow::Result<ExitCode>> {
    is_built_in(&arguments.url).then(|| answer(arguments, process, manual))
}

fn answer(
    arguments: &CallArguments,
    process: ProcessContext<'_>,
    manual: &Manual,
) -> anyhow::Result<ExitCode> {
    let name = &arguments.url;
    if let Some(flag) = flag_for_others(arguments) {
        let error = anyhow!("{name} is built in and has no use for {flag}");
        return Err(with_hint(error, format!("it takes a question, and --json: attache call {name} \"…\"")));
    }
    let mut question = arguments.text.join(" ");
    if question.trim().is_empty() {
        question = message_input::piped()?;
    }
    if question.trim().is_empty() {
        let error = anyhow!("there is no question");
        return Err(with_hint(error, format!("say it after the name: attache call {name} \"…\"")));
    }
    let answer = built_in_answer(name, &question, process, manual)?;
    if arguments.json {
        let (id, no_context) = (MessageId::new(Uuid::new_v4().to_string()), ContextId::new(""));
        let message = Message { context: None, ..Message::from_agent(id, no_context, None, answer) };
        print(&StreamEvent::Message(Box::new(message)).to_json().to_string())?;
    } else {
        print(&answer)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The first flag that means something for remote agents only.
fn flag_for_others(arguments: &CallArguments) -> Option<&'static str> {
    let flags = [
        ("--task", arguments.task.is_some()),
        ("--context", arguments.context.is_some()),
        ("--file", !arguments.file.is_empty()),
        ("--answer", !arguments.answer.is_empty()),
        ("--follow", arguments.follow),
        ("--detach", arguments.detach),
        ("--list", arguments.list),
        ("--extended-card", arguments.extended_card),
        ("--command", arguments.command.is_some()),
        ("--commands", arguments.commands),
        ("--development", arguments.development),
        ("--binding", arguments.binding.is_some()),
        ("--version", arguments.version.is_some()),
        ("--card", arguments.card.is_some()),
        ("--allow-origin", !arguments.allow_origin.is_empty()),
        ("--same-host", arguments.same_host),
        ("--token-file", arguments.token_file.is_some()),
        ("--api-key-file", arguments.api_key_file.is_some()),
        ("--ca", !arguments.ca.is_empty()),
        ("--client-cert", arguments.client_cert.is_some()),
        ("--extension", !arguments.extension.is_empty()),
        ("--signatures", arguments.signatures.is_some()),
        ("--keys", !arguments.keys.is_empty()),
    ];
    flags.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag))
}
