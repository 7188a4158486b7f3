//! The command line.

use attache_cli::agents::AgentsArguments;
use attache_cli::call::CallArguments;
use attache_cli::card::CardArguments;
use attache_cli::config::ConfigArguments;
use attache_cli::keys::KeysArguments;
use attache_cli::mcp::McpArguments;
use attache_cli::tasks::TasksArguments;
use attache_cli::trust::TrustArguments;
use attache_cli::{ServeArguments, environment_help};
use clap::{Parser, Subcommand};

use crate::headless::HeadlessArguments;
use crate::store_command::StoreArguments;

const ABOUT: &str = "A coding agent that lives on the network: without a command, a session at this terminal, or one task with -p";

#[derive(Debug, Parser)]
#[command(name = "attache", version, about = ABOUT, after_help = environment_help())]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) headless: HeadlessArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Manage the agents that agent files define, and show what is wrong with these files
    Agents(AgentsArguments),
    /// Call any A2A agent: send a message, print its answer, answer its questions
    Call(Box<CallArguments>),
    /// Show, check, sign and verify agent cards
    Card(CardArguments),
    /// Show the effective settings
    Config(ConfigArguments),
    /// Create the keys that sign your card
    Keys(KeysArguments),
    /// Manage the MCP servers in the settings files
    Mcp(McpArguments),
    /// Serve the agent to A2A clients over HTTP
    Serve(Box<ServeArguments>),
    /// Check, back up, restore and compact the store of tasks
    Store(StoreArguments),
    /// Manage the tasks of a running server
    Tasks(TasksArguments),
    /// Show what a folder's own files allow, and accept it
    Trust(TrustArguments),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use std::ffi::OsString;

    use super::*;
    use attache_cli::typo::find;

    #[track_caller]
    fn check(line: &str, expected: Option<&str>) {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        assert_eq!(find(&Cli::command(), &words).as_deref(), expected, "{line}");
    }

    #[test]
    fn a_mistyped_command_is_found() {
        check("serv", Some("there is no command `serv`; did you mean `attache serve`?"));
        check("server --port 8080", Some("there is no command `server`; did you mean `attache serve`?"));
        check("task list", Some("there is no command `task`; did you mean `attache tasks list`?"));
        check("Tasks lst", Some("there is no command `Tasks`; did you mean `attache tasks list`?"));
        check("completions bash", Some("there is no command `completions`"));
        check("version", Some("there is no command `version`"));
    }

    #[test]
    fn prompts_and_commands_are_left_alone() {
        for line in [
            "serve --port 1",
            "help serve",
            "server tests fail, why?",
            "test this code",
            "trust me and go on",
            "task lists are long",
            "login does not work any more",
            "-p serv",
            "/memory show",
            "what is 12 * 7",
        ] {
            check(line, None);
        }
    }
}
