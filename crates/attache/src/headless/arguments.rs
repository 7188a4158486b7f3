//! The flags of a run without a terminal.

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use attache_cli::AgentArguments;
use attache_config::Flags;
use attache_domain::terminal_safe;
use attache_headless::{FailureKind, OutputFormat, RunFailure};
use attache_workspace::AgentFlags;
use clap::Args;

/// Warnings, except that the model gave no answer: the output shows how a run ends.
const QUIET: &str = "warn,attache_agent::model_request=error";

#[derive(Debug, Args)]
pub(crate) struct HeadlessArguments {
    /// What to do, in more than one word: at a terminal a session begins with it, elsewhere it is the same as --prompt
    pub(crate) query: Vec<String>,
    /// Do this in one go and print the answer; piped text is put before it
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,
    /// Do this first and stay for more; needs a terminal, where plain words mean the same
    #[arg(short = 'i', long, value_name = "TEXT", conflicts_with_all = ["prompt", "query"])]
    pub(crate) prompt_interactive: Option<String>,
    /// Go on with a session of this folder: the latest one, or the one whose id begins like this
    #[arg(short, long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "latest")]
    pub(crate) resume: Option<String>,
    /// The id of the new session, a UUID
    #[arg(long, value_name = "ID", conflicts_with = "resume")]
    pub(crate) session_id: Option<String>,
    /// Open the live endpoint of the session on this port of 127.0.0.1; 0 picks a free one. See docs/live.md
    #[arg(long, value_name = "PORT")]
    pub(crate) a2a_port: Option<u16>,
    /// File that gives rights (view, prompt, approve) to the tokens of clients; see docs/live.md
    #[arg(long, value_name = "FILE", requires = "a2a_port")]
    a2a_token_file: Option<PathBuf>,
    /// What to print [default: as the settings say, else text]
    #[arg(short, long, value_name = "FORMAT")]
    pub(crate) output_format: Option<OutputFormat>,
    /// Which model answers: offline, script:FILE, a Gemini model, openai:NAME or anthropic:NAME [default: one there is
    /// a key for, else offline]
    #[arg(short, long, value_name = "MODEL")]
    model: Option<String>,
    /// What the agent may do unasked: default, auto_edit, confined, yolo or plan; with -p, what it would have to ask about is
    /// denied
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
    /// Where the task is kept: memory: or sqlite:PATH [default: memory: with -p, else a file of the session's own]
    #[arg(long, value_name = "STORE")]
    pub(crate) store: Option<String>,
    /// Tell what happens inside, on stderr or at the terminal
    #[arg(short, long)]
    pub(super) debug: bool,
}

impl HeadlessArguments {
    /// A session at the terminal, and not one task.
    pub(crate) fn is_interactive(&self) -> bool {
        let at_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        at_terminal && self.prompt.is_none() && self.output_format.is_none()
    }

    /// What a session at the terminal begins with.
    pub(crate) fn first_prompt(&self) -> Option<String> {
        let words = (!self.query.is_empty()).then(|| self.query.join(" "));
        self.prompt_interactive.clone().or(words)
    }

    /// Refuses flags that need a terminal.
    pub(super) fn check_unattended(&self) -> Result<(), RunFailure> {
        let flags = [
            ("--prompt-interactive", self.prompt_interactive.is_some()),
            ("--resume", self.resume.is_some()),
            ("--session-id", self.session_id.is_some()),
        ];
        match flags.iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((flag, _)) => {
                let message = format!(
                    "{flag} is for a session at a terminal: stdin and stdout must be one, without -p and -o"
                );
                Err(RunFailure::new(FailureKind::Usage, message))
            }
        }
    }

    /// There is no prompt, unless one is piped in.
    pub(crate) fn asks_nothing(&self) -> bool {
        self.prompt.is_none() && self.first_prompt().is_none()
    }

    /// One bare word is more likely a mistyped command than a prompt.
    pub(crate) fn check_query(&self) -> Result<(), RunFailure> {
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
            a2a_token_file: arguments.a2a_token_file.clone(),
            // Nothing but the live endpoint listens, so the settings of a server must not cause an error.
            host: Some("127.0.0.1".to_owned()),
            port: Some(0),
            ..Self::default()
        }
    }
}
