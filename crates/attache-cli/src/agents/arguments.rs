//! The flags of `attache agents`.

use std::path::PathBuf;

use attache_workspace::SettingsScope;
use clap::{Args, Subcommand, ValueEnum};

use super::auth::AuthArguments;
use super::reset::ResetArguments;

#[derive(Debug, Args)]
pub struct AgentsArguments {
    #[command(subcommand)]
    pub(super) command: Option<AgentsCommand>,
    #[command(flatten)]
    pub(super) place: FolderArguments,
}

#[derive(Debug, Subcommand)]
pub(super) enum AgentsCommand {
    /// Show the agents of this folder, and what is wrong with agent files
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Read the agent files, and show totals and errors
    Reload {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Sign in to an agent with OAuth 2.0, so that `attache call` and sessions can use it
    Auth(AuthArguments),
    /// Show one agent
    Show {
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Ask an agent for its card, and say whether it can be used
    Test {
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Let an agent be used again, in the settings files that switch it off
    Enable {
        name: String,
        /// Only in this settings file
        #[arg(short, long)]
        scope: Option<ScopeFlag>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Switch an agent off
    Disable {
        name: String,
        /// In this settings file [default: the project's]
        #[arg(short, long)]
        scope: Option<ScopeFlag>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Let a conversation of a running server forget its exchange with an agent
    Reset(ResetArguments),
    /// Ask the built-in agent cli_help about attache
    Ask {
        name: String,
        /// The question
        #[arg(required = true)]
        text: Vec<String>,
    },
}

/// Whose settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ScopeFlag {
    /// ~/.gemini/settings.json
    User,
    /// .gemini/settings.json of the folder
    Project,
}

impl From<ScopeFlag> for SettingsScope {
    fn from(scope: ScopeFlag) -> Self {
        match scope {
            ScopeFlag::User => Self::User,
            ScopeFlag::Project => Self::Project,
        }
    }
}

#[derive(Debug, Default, Args)]
pub(super) struct FolderArguments {
    /// Folder whose agents are meant [default: the current one]
    #[arg(long, value_name = "FOLDER", global = true)]
    pub(super) workspace: Option<PathBuf>,
    /// Settings file of the server; see docs/settings.md
    #[arg(long, value_name = "FILE", global = true)]
    pub(super) config: Option<PathBuf>,
}
