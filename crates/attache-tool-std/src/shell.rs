//! Runs shell commands, each in its own session and without the server's environment. When a command ends or is
//! cancelled, all its processes end.
//!
//! Rulings decide elsewhere whether a command may run.

mod background;
mod background_log;
mod background_process;
mod bounded_text;
mod confinement_note;
mod control_parser;
mod decode;
mod environment;
mod foreground;
#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;
mod listen;
mod live;
mod marked_processes;
mod options;
mod process_mark;
mod process_tree;
mod processes;
mod report;
mod screen;
mod start;
mod terminal_text;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use attache_domain::Content;
use attache_tool::{
    Access, Confiner, ToolContext, ToolError, ToolErrorKind, ToolOutput, failpoint, shorten_blocking,
};
use uuid::Uuid;

pub use background::BackgroundProcesses;
pub use marked_processes::MarkedProcesses;
pub use options::ShellOptions;

use background::remaining_processes;
use background_process::{BackgroundListener, BackgroundProcess};
use foreground::ForegroundListener;
use listen::{Ending, ListenLimits, listen_until_end};
use live::{LiveForwarder, last_characters};
use process_mark::ProcessMark;
pub(crate) use process_mark::fresh_id;
use start::{Launcher, RunningCommand, start};
use terminal_text::TerminalText;

use attache_tool::untrusted;

/// Bytes of output kept for one command. Of longer output the beginning and the end are kept.
const MAX_OUTPUT: usize = 16 * 1024 * 1024;

/// Runs commands in the foreground or background.
#[derive(Debug, Clone)]
pub(crate) struct Shell {
    pub(crate) options: ShellOptions,
    pub(crate) background: Arc<BackgroundProcesses>,
    pub(crate) confiner: Arc<dyn Confiner>,
}

impl Shell {
    /// Runs `command` until it ends. Dropping the future kills all its processes.
    pub(crate) async fn run(
        &self,
        command: &str,
        directory: &Path,
        access: &Access,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let mut started = self.start(command, directory, access, context)?;
        let mut ear = ForegroundListener {
            terminal_text: TerminalText::new(MAX_OUTPUT, screen::ROWS),
            live: LiveForwarder::new(context.live.clone(), self.options.live_interval),
        };
        let limits = ListenLimits {
            silence: self.options.inactivity_limit,
            background_after: None,
            max_output_bytes: self.options.max_output_bytes,
        };
        let ending = listen_until_end(&mut started, &limits, &context.cancel, &mut ear).await;
        ear.terminal_text.finish();
        let text = ear.terminal_text.text();
        Ok(self.ended(command, started, ending, text, context).await)
    }

    /// Starts `command`, and lets it go on in the background if it has not ended after `background_delay`.
    pub(crate) async fn run_in_background(
        &self,
        command: &str,
        directory: &Path,
        background_delay: Duration,
        access: &Access,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let mut started = self.start(command, directory, access, context)?;
        let tree = started.leash.tree().clone();
        let entry = Arc::new(BackgroundProcess::running(command, tree, &context.workspace.scratch));
        let max_output_bytes = self.options.max_output_bytes;
        let limits = ListenLimits {
            background_after: Some(background_delay),
            max_output_bytes,
            ..ListenLimits::default()
        };
        let ending =
            listen_until_end(&mut started, &limits, &context.cancel, &mut BackgroundListener(entry.clone()))
                .await;
        if ending != Ending::GoesOn {
            entry.finish(ending, &[]);
            return Ok(self.ended(command, started, ending, entry.text(), context).await);
        }
        let text = entry.text();
        let text = last_characters(&text, self.options.max_output_characters);
        let output = went_to_background(&entry, text);
        self.background.watch(started, entry, ListenLimits { max_output_bytes, ..ListenLimits::default() });
        if !text.is_empty() {
            context.live.show(text);
        }
        Ok(output)
    }

    fn start(
        &self,
        command: &str,
        directory: &Path,
        access: &Access,
        context: &ToolContext,
    ) -> Result<RunningCommand, ToolError> {
        // Commands may use this folder; they also run without it.
        let _ = std::fs::create_dir_all(context.workspace.scratch.join("tmp"));
        let workspace = &context.workspace;
        let launcher = Launcher { confiner: self.confiner.as_ref(), access, workspace };
        let mark = context.mark.as_deref().map_or_else(ProcessMark::new, ProcessMark::of);
        let started = start(command, directory, launcher, self.options.terminal, mark);
        failpoint::reach("command-spawned");
        started.map_err(|error| {
            ToolError::new(
                ToolErrorKind::ShellExecuteError,
                format!(
                    "the command could not be started: {error}; bash has to be installed and on the PATH"
                ),
            )
        })
    }

    async fn ended(
        &self,
        command: &str,
        mut started: RunningCommand,
        ending: Ending,
        text: String,
        context: &ToolContext,
    ) -> ToolOutput {
        let left = remaining_processes(&mut started).await;
        if !left.is_empty() {
            self.background.adopt(BackgroundProcess::left(command, started.leash.tree().clone(), ending));
        }
        let blocked = started.guard.as_ref().map(|guard| guard.blocked()).unwrap_or_default();
        let (limit, workspace) = (self.options.max_output_characters, context.workspace.clone());
        let access = started.access.clone();
        // Both look at files.
        let shortened = tokio::task::spawn_blocking(move || {
            let outside = |path: &Path| {
                !workspace.roots.iter().any(|root| path.starts_with(root)) && path.symlink_metadata().is_ok()
            };
            let note = confinement_note::note(&access, ending, &text, &blocked, outside);
            let name = format!("run_shell_command_{}", Uuid::now_v7());
            (shorten_blocking(text, limit, &workspace.scratch, &name), note)
        });
        let lost = |_| ("(lost: it could not be shortened)".into(), None);
        let (text, note) = shortened.await.unwrap_or_else(lost);
        let mut output = report::report(ending, &text, &left);
        output.content.extend(note.map(Content::Text));
        output
    }
}

fn went_to_background(entry: &BackgroundProcess, text: &str) -> ToolOutput {
    let pid = entry.pid();
    let mut lines = vec![format!(
        "The command runs in the background as process {pid}. Ask for what it writes with read_background_output."
    )];
    if let Some(path) = entry.log_path() {
        lines.push(format!("Log: {}", path.display()));
    }
    let text = text.trim_end();
    let output = format!("Output: {}", if text.is_empty() { "(empty)" } else { text });
    lines.push(untrusted(&output));
    lines.push(format!("Background PIDs: {pid}"));
    ToolOutput {
        content: vec![Content::Text(lines.join("\n"))],
        summary: format!("runs in the background as process {pid}"),
        diff: None,
        files: Vec::new(),
    }
}
