//! The flags of a run without a terminal.

use std::path::PathBuf;

use attache_config::{AgentFlags, Flags};
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct HeadlessArguments {
    /// What to do; the same as --prompt
    pub(crate) query: Vec<String>,
    /// Do this in one go and print the answer; piped text is put before it
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,
    /// What to print
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output_format: OutputFormat,
    /// Which model answers: offline, script:FILE, a Gemini model, openai:NAME or anthropic:NAME [default: one there is
    /// a key for, else offline]
    #[arg(short, long, value_name = "MODEL")]
    model: Option<String>,
    /// What the agent may do unasked: default, auto_edit, yolo or plan; what it would have to ask about is denied
    #[arg(long, value_name = "MODE", conflicts_with = "yolo")]
    approval_mode: Option<String>,
    /// The same as --approval-mode yolo
    #[arg(short, long)]
    yolo: bool,
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
    /// Trust the folder for this run: its own settings, rules and words count
    #[arg(long)]
    skip_trust: bool,
    /// Folder the agent works in [default: the current one]
    #[arg(long, value_name = "FOLDER")]
    workspace: Option<PathBuf>,
    /// Settings file; see docs/settings.md
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where the task is kept: memory: or sqlite:PATH [default: memory:]
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
    /// Tell on stderr what happens inside
    #[arg(short, long)]
    debug: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The answer, and nothing else
    Text,
    /// One object at the end
    Json,
    /// An object a line, as things happen
    StreamJson,
}

impl HeadlessArguments {
    /// There is no prompt, unless one is piped in.
    pub(crate) fn asks_nothing(&self) -> bool {
        self.prompt.is_none() && self.query.is_empty()
    }

    fn mode(&self) -> Option<String> {
        if self.yolo { Some("yolo".to_owned()) } else { self.approval_mode.clone() }
    }
}

impl From<&HeadlessArguments> for AgentFlags {
    fn from(arguments: &HeadlessArguments) -> Self {
        Self {
            model: arguments.model.clone(),
            approval_mode: arguments.mode(),
            allowed_tools: arguments.allowed_tools.clone(),
            allowed_mcp_server_names: arguments.allowed_mcp_server_names.clone(),
            include_directories: arguments.include_directories.clone(),
            policies: arguments.policy.clone(),
            admin_policies: arguments.admin_policy.clone(),
            skip_trust: arguments.skip_trust,
            ..Self::default()
        }
    }
}

impl From<&HeadlessArguments> for Flags {
    fn from(arguments: &HeadlessArguments) -> Self {
        let log = if arguments.debug { "debug" } else { "warn" };
        Self {
            config: arguments.config.clone(),
            workspace: arguments.workspace.clone(),
            store: Some(arguments.store.clone().unwrap_or_else(|| "memory:".to_owned())),
            model: arguments.model.clone(),
            approval_mode: arguments.mode(),
            log: Some(log.to_owned()),
            // Nobody listens, so whatever is set for a server must not stand in the way.
            host: Some("127.0.0.1".to_owned()),
            port: Some(0),
            ..Self::default()
        }
    }
}
