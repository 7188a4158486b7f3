//! Runs commands in a shell: each in a session of its own, with nothing of our environment, watched while it runs,
//! and gone with all it started when it is no longer wanted.
//!
//! Not here: whether a command may run (the ruling over its proposal) and which programs it would start.

mod attend;
mod background;
mod bounded;
mod controls;
mod decode;
mod ear;
mod entry;
mod environment;
pub(crate) mod fuzz;
mod leftovers;
mod live;
mod log;
mod mark;
mod options;
mod page;
mod processes;
mod report;
mod start;
mod transcript;
mod tree;
mod walls;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use attache_domain::Content;
use attache_tool::{Access, Confiner, ErrorKind, ToolContext, ToolError, ToolOutput, failpoint};

pub use background::BackgroundProcesses;
pub use leftovers::MarkedProcesses;
pub use options::ShellOptions;

use attend::{Ending, Limits, attend};
use background::left_behind;
use ear::Ear;
use entry::{Entry, Scribe};
use live::{Live, last_characters};
use mark::Mark;
pub(crate) use mark::fresh_id;
use start::{Launcher, Started, start};
use transcript::Transcript;

use crate::truncate::truncate;
use attache_tool::untrusted;

/// Bytes of text that are gathered of one command; of more the beginning and the end are kept.
const GATHERED: usize = 16 * 1024 * 1024;

/// Runs commands, and hands those for the background to their owner.
#[derive(Debug, Clone)]
pub(crate) struct Shell {
    pub(crate) options: ShellOptions,
    pub(crate) background: Arc<BackgroundProcesses>,
    pub(crate) confiner: Arc<dyn Confiner>,
}

impl Shell {
    /// Runs `command` until it ends. Dropping the future ends all its processes.
    pub(crate) async fn run(
        &self,
        command: &str,
        directory: &Path,
        access: &Access,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let mut started = self.start(command, directory, access, context)?;
        let mut ear = Ear {
            transcript: Transcript::new(GATHERED, page::ROWS),
            live: Live::new(context.live.clone(), self.options.live_interval),
        };
        let limits = Limits {
            silence: self.options.inactivity_limit,
            total: self.options.total_limit,
            patience: None,
            max_output_bytes: self.options.max_output_bytes,
        };
        let ending = attend(&mut started, &limits, &context.cancel, &mut ear).await;
        ear.transcript.finish();
        let text = ear.transcript.text();
        Ok(self.ended(command, started, ending, text, context).await)
    }

    /// Starts `command`, and lets it go on in the background if it has not ended after `patience`.
    pub(crate) async fn run_in_background(
        &self,
        command: &str,
        directory: &Path,
        patience: Duration,
        access: &Access,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let mut started = self.start(command, directory, access, context)?;
        let tree = started.leash.tree().clone();
        let entry = Arc::new(Entry::running(command, tree, &context.workspace.scratch));
        let max_output_bytes = self.options.max_output_bytes;
        let limits = Limits { patience: Some(patience), max_output_bytes, ..Limits::default() };
        let ending = attend(&mut started, &limits, &context.cancel, &mut Scribe(entry.clone())).await;
        if ending != Ending::GoesOn {
            entry.finish(ending, &[]);
            return Ok(self.ended(command, started, ending, entry.text(), context).await);
        }
        let text = entry.text();
        let text = last_characters(&text, self.options.longest_output);
        let output = went_to_background(&entry, text);
        self.background.keep(started, entry, Limits { max_output_bytes, ..Limits::default() });
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
    ) -> Result<Started, ToolError> {
        // The model is told of it, so commands may use it. One that does not, runs without.
        let _ = std::fs::create_dir_all(context.workspace.scratch.join("tmp"));
        let workspace = &context.workspace;
        let launcher = Launcher { confiner: self.confiner.as_ref(), access, workspace };
        let mark = context.mark.as_deref().map_or_else(Mark::new, Mark::of);
        let started = start(command, directory, launcher, self.options.terminal, mark);
        failpoint::reach("command-spawned");
        started.map_err(|error| {
            ToolError::new(
                ErrorKind::ShellExecuteError,
                format!(
                    "the command could not be started: {error}; bash has to be installed and on the PATH"
                ),
            )
        })
    }

    async fn ended(
        &self,
        command: &str,
        mut started: Started,
        ending: Ending,
        text: String,
        context: &ToolContext,
    ) -> ToolOutput {
        let left = left_behind(&mut started).await;
        if !left.is_empty() {
            self.background.adopt(Entry::left(command, started.leash.tree().clone(), ending));
        }
        let blocked = started.guard.as_ref().map(|guard| guard.blocked()).unwrap_or_default();
        let (limit, workspace) = (self.options.longest_output, context.workspace.clone());
        let access = started.access.clone();
        // Both look at files.
        let shortened = tokio::task::spawn_blocking(move || {
            let outside = |path: &Path| {
                !workspace.roots.iter().any(|root| path.starts_with(root)) && path.symlink_metadata().is_ok()
            };
            let note = walls::note(&access, ending, &text, &blocked, outside);
            (truncate(text, limit, &workspace.scratch, "run_shell_command"), note)
        });
        let lost = |_| ("(lost: it could not be shortened)".into(), None);
        let (text, note) = shortened.await.unwrap_or_else(lost);
        let mut output = report::report(ending, &text, &left);
        output.content.extend(note.map(Content::Text));
        output
    }
}

fn went_to_background(entry: &Entry, text: &str) -> ToolOutput {
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
