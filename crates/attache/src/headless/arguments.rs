//! The flags of a run without a terminal.

use std::path::PathBuf;

use attache_config::Flags;
use attache_domain::terminal_safe;
use attache_headless::{FailureKind, OutputFormat, RunFailure};
use attache_workspace::AgentFlags;
use clap::Args;

use crate::cli::AgentArguments;

/// Warnings, except that the model gave no answer: the output shows how a run ends.
const QUIET: &str = "warn,attache_agent::model_request=error";

#[derive(Debug, Args)]
pub(crate) struct HeadlessArguments {
    /// What to do, in more than one word; the same as --prompt
    pub(crate) query: Vec<String>,
    /// Do this in one go and print the answer; piped text is put before it
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,
    /// What to print [default: as the settings say, else text]
    #[arg(short, long, value_name = "FORMAT")]
    pub(crate) output_format: Option<OutputFormat>,
    /// Which model answers: offline, script:FILE, a Gemini model, openai:NAME or anthropic:NAME [default: one there is
    /// a key for, else offline]
    #[arg(short, long, value_name = "MODEL")]
    model: Option<String>,
    /// What the agent may do unasked: default, auto_edit, confined, yolo or plan; what it would have to ask about is denied
    #[arg(long, value_name = "MODE", conflicts_with = "yolo")]
    approval_mode: Option<String>,
    /// The same as --approval-mode yolo
    #[arg(short, long)]
    yolo: bool,
    #[command(flatten)]
    agent: AgentArguments,
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

impl HeadlessArguments {
    /// There is no prompt, unless one is piped in.
    pub(crate) fn asks_nothing(&self) -> bool {
        self.prompt.is_none() && self.query.is_empty()
    }

    /// One bare word is more likely a mistyped command than a prompt.
    pub(super) fn check_query(&self) -> Result<(), RunFailure> {
        let [word] = self.query.as_slice() else { return Ok(()) };
        if self.prompt.is_some()
            || word.contains(char::is_whitespace)
            || word.starts_with('/')
            || word.is_empty()
        {
            return Ok(());
        }
        let message = format!(
            "there is no command `{}`, and a single word is no prompt (say it with -p, as in attache -p \"{}\")",
            terminal_safe(word),
            terminal_safe(word)
        );
        Err(RunFailure::new(FailureKind::Usage, message))
    }

    fn mode(&self) -> Option<String> {
        if self.yolo { Some("yolo".to_owned()) } else { self.approval_mode.clone() }
    }
}

impl From<&HeadlessArguments> for AgentFlags {
    fn from(arguments: &HeadlessArguments) -> Self {
        arguments.agent.flags(&Flags::from(arguments))
    }
}

impl From<&HeadlessArguments> for Flags {
    fn from(arguments: &HeadlessArguments) -> Self {
        let log = if arguments.debug { "debug" } else { QUIET };
        Self {
            config: arguments.config.clone(),
            workspace: arguments.workspace.clone(),
            store: Some(arguments.store.clone().unwrap_or_else(|| "memory:".to_owned())),
            model: arguments.model.clone(),
            approval_mode: arguments.mode(),
            log: Some(log.to_owned()),
            // Nothing listens, so the settings of a server must not cause an error.
            host: Some("127.0.0.1".to_owned()),
            port: Some(0),
            ..Self::default()
        }
    }
}
