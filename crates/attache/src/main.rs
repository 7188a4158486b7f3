//! attache: a coding agent that lives on the network.
//!
//! The binary: command line, wiring, logging, exit codes. The only place that reads the environment and the
//! current folder, prints, or exits.

mod card_command;
mod cli;
mod config_command;
mod environment;
#[cfg(debug_assertions)]
mod failpoints;
mod headless;
mod implementations;
mod keys_command;
mod logging;
mod mcp;
mod mcp_servers;
mod models;
mod open_files;
mod port;
mod printable;
mod report;
mod runtime;
mod sandbox;
mod serve;
mod signing;
mod standard_tools;
mod store_command;
mod tasks;
mod trust_command;
mod typo;
mod wiring;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::cli::{Cli, Command};

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // The system's huge pages would make two megabytes resident wherever a few bytes are used. First, because
    // it counts for memory touched from now on; a system without them has nothing to switch off.
    let _ = nix::sys::prctl::set_thp_disable(true);
    // Before anything else: a confined command is started by a copy of this program that does nothing but that.
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == attache_tool_sandbox::ENTER) {
        return attache_tool_sandbox::enter(arguments);
    }
    environment::hide_secrets();
    #[cfg(debug_assertions)]
    failpoints::install();
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    if let Some(mistake) = typo::find(&Cli::command(), &arguments) {
        return report::usage(&mistake);
    }
    let Cli { command, headless } = Cli::parse();
    let result = match command {
        Some(Command::Card(arguments)) => return card_command::run(arguments),
        Some(Command::Config(arguments)) => return config_command::run(arguments),
        Some(Command::Keys(arguments)) => keys_command::run(arguments),
        Some(Command::Mcp(arguments)) => {
            return mcp::run(arguments).unwrap_or_else(|error| report::failure(&error));
        }
        Some(Command::Serve(arguments)) => serve::run(arguments),
        Some(Command::Store(arguments)) => return store_command::run(arguments),
        Some(Command::Tasks(arguments)) => return tasks::run(arguments),
        Some(Command::Trust(arguments)) => trust_command::run(arguments),
        None if headless.asks_nothing() && io::stdin().is_terminal() => return explain(),
        None => return headless::run(&headless),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report::failure(&error),
    }
}

/// Nothing was asked, and nothing will come: what could be asked.
fn explain() -> ExitCode {
    // There is nobody to tell when it cannot be printed.
    let _ = Cli::command().print_help();
    ExitCode::from(2)
}
