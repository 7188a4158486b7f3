//! Flags about the agent, the same for every way to start one.

use std::path::PathBuf;

use attache_config::Flags;
use attache_workspace::AgentFlags;
use clap::Args;

/// Flags that are about the agent, for `serve` and for runs without a terminal.
#[derive(Debug, Clone, Args)]
pub struct AgentArguments {
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
    /// What the flags say to the workspace, beside what the other `flags` say.
    pub fn flags(&self, flags: &Flags) -> AgentFlags {
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
