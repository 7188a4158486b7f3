//! The command line.

use std::path::PathBuf;

use attache_cli::agents::AgentsArguments;
use attache_cli::call::CallArguments;
use attache_cli::card::CardArguments;
use attache_cli::config::ConfigArguments;
use attache_cli::keys::KeysArguments;
use attache_cli::mcp::McpArguments;
use attache_cli::tasks::TasksArguments;
use attache_cli::trust::TrustArguments;
use attache_config::{Flags, VARIABLES};
use attache_workspace::AgentFlags;
use clap::{Args, Parser, Subcommand};

use crate::headless::HeadlessArguments;
use crate::store_command::StoreArguments;

#[derive(Debug, Parser)]
#[command(name = "attache", version, about = "A coding agent that lives on the network", after_help = variables())]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) headless: HeadlessArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the subagents that agent files define, and what is wrong with these files
    Agents(AgentsArguments),
    /// Call any A2A agent: say something, see what it answers, answer what it asks
    Call(CallArguments),
    /// Show, check, sign and verify agent cards
    Card(CardArguments),
    /// Show the settings that count
    Config(ConfigArguments),
    /// Make the keys that sign your card
    Keys(KeysArguments),
    /// Look after the MCP servers in the settings files
    Mcp(McpArguments),
    /// Serve the agent to A2A clients over HTTP
    Serve(Box<ServeArguments>),
    /// Check, back up, restore and compact the store of tasks
    Store(StoreArguments),
    /// Look after the tasks of a running server
    Tasks(TasksArguments),
    /// Show what a folder's own files allow, and accept it
    Trust(TrustArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Port to listen on; 0 picks a free one [default: 41242]
    #[arg(long)]
    port: Option<u16>,
    /// Address to listen on; anything but loopback needs a token [default: 127.0.0.1]
    #[arg(long)]
    host: Option<String>,
    /// Folder the agent works in [default: the current one]
    #[arg(long, value_name = "FOLDER")]
    workspace: Option<PathBuf>,
    /// Where tasks are kept: memory: or sqlite:PATH [default: a file in your data folder]
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
    /// Which model answers: offline, script:FILE, a Gemini model, openai:NAME or anthropic:NAME [default: one there is
    /// a key for, else offline]
    #[arg(short, long, value_name = "MODEL")]
    model: Option<String>,
    /// What the agent may do unasked: default, auto_edit, confined, yolo or plan [default: default]
    #[arg(long, value_name = "MODE")]
    approval_mode: Option<String>,
    /// Where answers stand: artifact, or message for clients that read only status messages [default: artifact]
    #[arg(long, value_name = "PLACE")]
    answers: Option<String>,
    /// What clients of A2A 0.3 that name no extension are answered in: plain, gemini (as Gemini CLI's server) or developer
    /// [default: plain]
    #[arg(long, value_name = "DIALECT")]
    compat: Option<String>,
    /// Offer the live endpoint too: flat events over WebSocket and SSE; see docs/live.md
    #[arg(long)]
    live: bool,
    #[command(flatten)]
    pub(crate) agent: AgentArguments,
    /// Settings file; see docs/settings.md
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// File that holds the bearer token callers must present
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// File that gives rights (view, prompt, approve) to the tokens of clients; see docs/live.md
    #[arg(long, value_name = "FILE")]
    a2a_token_file: Option<PathBuf>,
    /// What to log, e.g. debug or attache_server=debug [default: info]
    #[arg(long, value_name = "FILTER")]
    log: Option<String>,
    /// How to log: text or json [default: text]
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<String>,
}

/// Flags that are about the agent, for `serve` and for runs without a terminal.
#[derive(Debug, Clone, Args)]
pub(crate) struct AgentArguments {
    /// Tools that need no approval, e.g. read_file,'run_shell_command(git status)'
    #[arg(long, value_name = "TOOLS", value_delimiter = ',')]
    allowed_tools: Vec<String>,
    /// Files or folders of rules, instead of your own
    #[arg(long, value_name = "PATH", value_delimiter = ',')]
    policy: Vec<PathBuf>,
    /// Files or folders of rules that count before all others, besides the administrator's
    #[arg(long, value_name = "PATH", value_delimiter = ',')]
    admin_policy: Vec<PathBuf>,
    /// MCP servers that may be used; all if none is named
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    allowed_mcp_server_names: Vec<String>,
    /// Further folders the agent may work in
    #[arg(long, value_name = "FOLDERS", value_delimiter = ',')]
    include_directories: Vec<String>,
    /// Trust the folder for this run, and accept what its own files allow now; `attache trust` shows it
    #[arg(long, visible_alias = "skip-trust")]
    trust: bool,
}

impl AgentArguments {
    pub(crate) fn flags(&self, flags: &Flags) -> AgentFlags {
        AgentFlags {
            allowed_tools: self.allowed_tools.clone(),
            allowed_mcp_server_names: self.allowed_mcp_server_names.clone(),
            include_directories: self.include_directories.clone(),
            policies: self.policy.clone(),
            admin_policies: self.admin_policy.clone(),
            trust: self.trust,
            ..AgentFlags::from(flags)
        }
    }
}

impl From<ServeArguments> for Flags {
    fn from(arguments: ServeArguments) -> Self {
        Self {
            config: arguments.config,
            host: arguments.host,
            port: arguments.port,
            workspace: arguments.workspace,
            store: arguments.store,
            model: arguments.model,
            approval_mode: arguments.approval_mode,
            answers: arguments.answers,
            default_dialect: arguments.compat,
            live: arguments.live,
            token_file: arguments.token_file,
            a2a_token_file: arguments.a2a_token_file,
            log: arguments.log,
            log_format: arguments.log_format,
        }
    }
}

/// The widest line of the help, as in clap.
const HELP_WIDTH: usize = 98;

fn variables() -> String {
    let names = VARIABLES.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = String::from("Environment:");
    for (name, meaning) in VARIABLES {
        for (place, line) in wrapped(meaning, HELP_WIDTH - names - 4).iter().enumerate() {
            let name = if place == 0 { name } else { "" };
            text.push_str(&format!("\n  {name:<names$}  {line}"));
        }
    }
    text + "\n\nExit codes: 0 done, 1 failed, 2 wrong command line, 130 interrupted; docs/command-line.md has those of -p"
}

/// The words of `text` in lines that are not longer than `width`, unless a word is.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().filter(|line| line.is_empty() || line.len() + word.len() < width);
        match line {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => line.extend([" ", word]),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_variables_is_aligned_and_fits() {
        let text = variables();
        let rows: Vec<&str> = text.lines().skip(1).take_while(|line| !line.is_empty()).collect();
        let column = rows[0].find("port to listen").unwrap();
        for row in rows {
            assert!(row.len() <= HELP_WIDTH && row.as_bytes()[column - 1] == b' ', "{row}");
            assert_ne!(row.as_bytes()[column], b' ', "{row}");
        }
    }
}
