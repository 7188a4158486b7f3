//! attache: a coding agent that lives on the network.
//!
//! The binary: command line, wiring, logging, exit codes. The only place that reads the environment and the
//! current folder, prints, or exits.

mod cli;
mod environment;
#[cfg(debug_assertions)]
mod failpoints;
mod headless;
mod implementations;
mod live_endpoint;
mod logging;
mod manual;
mod mcp_probe;
mod mcp_servers;
mod models;
mod open_files;
mod own_card;
mod remote_agents;
mod runtime;
mod sandbox;
mod serve;
mod signing;
mod standard_tools;
mod store_command;
mod terminal;
mod wiring;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use anyhow::Context;
use attache_cli::card::CardContext;
use attache_cli::{ProcessContext, report};
use clap::{CommandFactory, Parser};

use crate::cli::{Cli, Command};

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Huge pages would make two megabytes resident wherever a few bytes are used. Comes first, because it counts for memory
    // that is touched from now on. A system without huge pages reports an error, which does not matter.
    let _ = nix::sys::prctl::set_thp_disable(true);
    // A confined command is started by a copy of this program that does nothing else.
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == attache_tool_sandbox::ENTER) {
        return attache_tool_sandbox::enter(arguments);
    }
    environment::hide_secrets();
    #[cfg(debug_assertions)]
    failpoints::install();
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    if let Some(mistake) = attache_cli::typo::find(&Cli::command(), &arguments) {
        return report::usage(&mistake);
    }
    let Cli { command, headless } = Cli::parse();
    match command {
        Some(Command::Agents(arguments)) => {
            in_folder(|process| attache_cli::agents::run(arguments, process, &manual::MANUAL))
        }
        Some(Command::Card(arguments)) => {
            let context = CardContext { own_card: &own_card::own_card, environment: &environment::variable };
            attache_cli::card::run(arguments, context)
        }
        Some(Command::Config(arguments)) => {
            in_folder(|process| Ok(attache_cli::config::run(arguments, process, &sandbox::description)))
        }
        Some(Command::Keys(arguments)) => report::end(attache_cli::keys::run(arguments)),
        Some(Command::Mcp(arguments)) => {
            in_folder(|process| attache_cli::mcp::run(arguments, process, &mcp_probe::probe))
        }
        Some(Command::Serve(arguments)) => report::end(serve::run(*arguments)),
        Some(Command::Store(arguments)) => store_command::run(arguments),
        Some(Command::Call(arguments)) => {
            in_folder(|process| Ok(attache_cli::call::run(*arguments, process, &manual::MANUAL)))
        }
        Some(Command::Tasks(arguments)) => attache_cli::tasks::run(arguments, &environment::variable),
        Some(Command::Trust(arguments)) => {
            in_folder(|process| attache_cli::trust::run(arguments, process).map(|()| ExitCode::SUCCESS))
        }
        None if headless.is_interactive() => terminal::run(&headless),
        None if headless.asks_nothing() && io::stdin().is_terminal() => explain(),
        None => headless::run(&headless),
    }
}

/// Runs a command that depends on the current folder.
#[expect(
    clippy::disallowed_methods,
    reason = "the binary is where the environment and current folder are read"
)]
fn in_folder(run: impl FnOnce(ProcessContext<'_>) -> anyhow::Result<ExitCode>) -> ExitCode {
    let current_dir = std::env::current_dir().context("cannot tell the current folder");
    let result = current_dir.and_then(|current_dir| {
        run(ProcessContext { current_dir: &current_dir, environment: &environment::variable })
    });
    result.unwrap_or_else(|error| report::failure(&error))
}

/// Prints the help, because there is no prompt and no command.
fn explain() -> ExitCode {
    // If printing fails, nothing is left to do.
    let _ = Cli::command().print_help();
    ExitCode::from(2)
}
