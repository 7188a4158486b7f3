//! The background commands of one conversation, and processes that foreground commands left running.

use std::sync::{Arc, Mutex, MutexGuard};

use attache_domain::IgnorePoison;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::background_process::{BackgroundListener, BackgroundProcess};
use super::listen::{ListenLimits, listen_until_end};
use super::start::RunningCommand;

/// Entries kept, including ended ones. Running ones are always kept.
const MAX_ENTRIES: usize = 100;

/// Owns all background processes of a conversation. They end with it.
#[derive(Debug, Default)]
pub struct BackgroundProcesses {
    processes: Mutex<ProcessList>,
    stop: CancellationToken,
}

#[derive(Debug, Default)]
struct ProcessList {
    entries: Vec<Arc<BackgroundProcess>>,
    tasks: JoinSet<()>,
}

impl BackgroundProcesses {
    /// Ends all of them and waits. Processes started later end at once.
    pub async fn shutdown(&self) {
        self.stop.cancel();
        let mut tasks = std::mem::take(&mut self.lock().tasks);
        while tasks.join_next().await.is_some() {}
        for entry in self.entries() {
            if entry.lives() {
                entry.tree.end().await;
            }
        }
    }

    /// One line for each process, the oldest first.
    pub(crate) fn list(&self) -> Vec<String> {
        self.entries().iter().map(|entry| entry.line()).collect()
    }

    /// The state of the process and its last output. A process id may have been reused; the latest one counts.
    pub(crate) fn read(&self, pid: i32) -> Option<(String, String)> {
        let entries = self.entries();
        let entry = entries.iter().rfind(|entry| entry.pid() == pid)?;
        Some((entry.state(), entry.text()))
    }

    /// Ends the process with everything it started and returns its state. None if the process is unknown.
    pub(crate) async fn stop(&self, pid: i32) -> Option<String> {
        let entry = self.entries().into_iter().rfind(|entry| entry.pid() == pid)?;
        if entry.lives() {
            entry.tree.end().await;
            return Some("stopped".to_owned());
        }
        Some(entry.state())
    }

    /// Takes over a running command.
    pub(super) fn watch(
        &self,
        mut started: RunningCommand,
        entry: Arc<BackgroundProcess>,
        limits: ListenLimits,
    ) {
        let stop = self.stop.clone();
        let listened = entry.clone();
        let mut kept = self.lock();
        while kept.tasks.try_join_next().is_some() {}
        kept.remember(entry);
        kept.tasks.spawn(async move {
            let mut scribe = BackgroundListener(listened.clone());
            let ending = listen_until_end(&mut started, &limits, &stop, &mut scribe).await;
            let left = remaining_processes(&mut started).await;
            listened.finish(ending, &left);
        });
    }

    /// Adds the processes that an ended command left running.
    pub(super) fn adopt(&self, entry: BackgroundProcess) {
        self.lock().remember(Arc::new(entry));
    }

    fn entries(&self) -> Vec<Arc<BackgroundProcess>> {
        self.lock().entries.clone()
    }

    fn lock(&self) -> MutexGuard<'_, ProcessList> {
        self.processes.lock().ignore_poison()
    }
}

impl ProcessList {
    fn remember(&mut self, entry: Arc<BackgroundProcess>) {
        self.entries.push(entry);
        while self.entries.len() > MAX_ENTRIES {
            let Some(oldest) = self.entries.iter().position(|entry| !entry.lives()) else { return };
            self.entries.remove(oldest);
        }
    }
}

impl Drop for BackgroundProcesses {
    fn drop(&mut self) {
        self.stop.cancel();
        for entry in self.entries() {
            if entry.lives() {
                entry.tree.end_now();
            }
        }
    }
}

/// The processes that an ended command left running or that could not be killed. The caller takes them over.
pub(super) async fn remaining_processes(started: &mut RunningCommand) -> Vec<i32> {
    let tree = started.leash.tree().clone();
    let left = tree.survivors().await;
    tree.leader_ended();
    started.leash.release();
    left
}
