//! The commands of one conversation that run in the background, and what foreground commands left running.

use std::sync::{Arc, Mutex, MutexGuard};

use attache_domain::IgnorePoison;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::background_process::{BackgroundListener, BackgroundProcess};
use super::listen::{ListenLimits, listen_until_end};
use super::start::RunningCommand;

/// How many are remembered, ended ones included; those that run are never forgotten.
const MAX_ENTRIES: usize = 100;

/// Owns all background processes of a conversation: they end with it.
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
    /// Ends all of them, and waits until they have. What is started later ends at once.
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

    /// One line for each, the oldest first.
    pub(crate) fn list(&self) -> Vec<String> {
        self.entries().iter().map(|entry| entry.line()).collect()
    }

    /// How the process does, and the last of what it wrote. A number may have been used more than once.
    pub(crate) fn read(&self, pid: i32) -> Option<(String, String)> {
        let entries = self.entries();
        let entry = entries.iter().rfind(|entry| entry.pid() == pid)?;
        Some((entry.state(), entry.text()))
    }

    /// Ends the process with all that it started, and says how it does then. None when it is not one of these.
    pub(crate) async fn stop(&self, pid: i32) -> Option<String> {
        let entry = self.entries().into_iter().rfind(|entry| entry.pid() == pid)?;
        if entry.lives() {
            entry.tree.end().await;
            return Some("stopped".to_owned());
        }
        Some(entry.state())
    }

    /// Attends to a running command from now on.
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

    /// Remembers what a command that ended has left running.
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

/// The processes that a command which ended has left running, or that could not be ended; somebody else has to see
/// to them now.
pub(super) async fn remaining_processes(started: &mut RunningCommand) -> Vec<i32> {
    let tree = started.leash.tree().clone();
    let left = tree.survivors().await;
    tree.leader_ended();
    started.leash.release();
    left
}
