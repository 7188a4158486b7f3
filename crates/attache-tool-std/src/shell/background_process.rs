//! One background command: its last output and its state.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use attache_domain::IgnorePoison;
use tokio::time::Instant;

use super::background_log::BackgroundLog;
use super::listen::{Ending, OutputListener};
use super::process_tree::ProcessTree;
use super::report::{ended, pid_list};
use super::terminal_text::TerminalText;

/// Bytes of output kept in memory.
const MAX_KEPT: usize = 80 * 1024;
/// Only the current line can change, so the log gets all others at once.
const ROWS: usize = 1;

#[derive(Debug)]
pub(super) struct BackgroundProcess {
    pub(super) command: String,
    pub(super) tree: Arc<ProcessTree>,
    output: Mutex<ProcessOutput>,
}

#[derive(Debug)]
struct ProcessOutput {
    terminal_text: TerminalText,
    /// None if it could not be created, or if the command ended before it went to the background.
    log: Option<BackgroundLog>,
    ending: Ending,
    /// The command ended, but processes that it started run.
    left: bool,
}

impl BackgroundProcess {
    /// A running command.
    pub(super) fn running(command: &str, tree: Arc<ProcessTree>, scratch: &Path) -> Self {
        // Without a log, the output in memory is available.
        let log = BackgroundLog::create(scratch, tree.leader()).ok();
        Self::new(command, tree, log, Ending::GoesOn, false)
    }

    /// An ended command that left processes running.
    pub(super) fn left(command: &str, tree: Arc<ProcessTree>, ending: Ending) -> Self {
        Self::new(command, tree, None, ending, true)
    }

    fn new(
        command: &str,
        tree: Arc<ProcessTree>,
        log: Option<BackgroundLog>,
        ending: Ending,
        left: bool,
    ) -> Self {
        let output = ProcessOutput { terminal_text: TerminalText::new(MAX_KEPT, ROWS), log, ending, left };
        Self { command: command.into(), tree, output: Mutex::new(output) }
    }

    pub(super) fn pid(&self) -> i32 {
        self.tree.leader()
    }

    pub(super) fn log_path(&self) -> Option<PathBuf> {
        self.lock().log.as_ref().map(|log| log.path().to_owned())
    }

    /// The last output.
    pub(super) fn text(&self) -> String {
        self.lock().terminal_text.text()
    }

    /// Records the end of the command and the processes that it left.
    pub(super) fn finish(&self, ending: Ending, left: &[i32]) {
        let mut output = self.lock();
        let rest = output.terminal_text.finish();
        output.append(&rest);
        output.ending = ending;
        output.left = !left.is_empty();
    }

    /// Whether one of its processes may still run.
    pub(super) fn lives(&self) -> bool {
        let output = self.lock();
        output.ending == Ending::GoesOn || output.left
    }

    /// The command and its state in one line.
    pub(super) fn line(&self) -> String {
        let log = self.log_path().map(|path| format!(" (log: {})", path.display())).unwrap_or_default();
        format!("[PID {}] {}: {}{log}", self.pid(), self.state(), self.command)
    }

    /// The state in a few words.
    pub(super) fn state(&self) -> String {
        let (ending, left) = {
            let output = self.lock();
            (output.ending, output.left)
        };
        if !left {
            return ended(ending);
        }
        let members = self.tree.members();
        let running: Vec<i32> =
            members.iter().filter(|process| !process.watches).map(|process| process.pid).collect();
        match running.as_slice() {
            [] => ended(ending),
            running => format!("{}, left running: {}", ended(ending), pid_list(running)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, ProcessOutput> {
        self.output.lock().ignore_poison()
    }
}

impl ProcessOutput {
    fn append(&mut self, text: &str) {
        // After a write error the log is no longer offered. The end of the output is in memory.
        if self.log.as_mut().is_some_and(|log| log.append(text).is_err()) {
            self.log = None;
        }
    }
}

/// Stores the output of the command.
pub(super) struct BackgroundListener(pub(super) Arc<BackgroundProcess>);

impl OutputListener for BackgroundListener {
    fn receive(&mut self, bytes: &[u8]) {
        let mut output = self.0.lock();
        let settled = output.terminal_text.take(bytes, |_| {});
        output.append(&settled);
    }

    fn due(&self) -> Option<Instant> {
        None
    }

    fn flush(&mut self) {}
}
