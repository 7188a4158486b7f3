//! The commands of one conversation that run in the background, and what foreground commands left running.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::attend::{Limits, attend};
use super::entry::{Entry, Scribe};
use super::start::Started;

/// How many are remembered, ended ones included; those that run are never forgotten.
const REMEMBERED: usize = 100;

/// Owns all background processes of a conversation: they end with it.
#[derive(Debug, Default)]
pub struct BackgroundProcesses {
    kept: Mutex<Kept>,
    stop: CancellationToken,
}

#[derive(Debug, Default)]
struct Kept {
    entries: Vec<Arc<Entry>>,
    tasks: JoinSet<()>,
}

impl BackgroundProcesses {
    /// Ends all of them, and waits until they have. What is started later ends at once.
    pub async fn shutdown(&self) {
        self.stop.cancel();
        let mut tasks = std::mem::take(&mut self.kept().tasks);
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
    pub(super) fn keep(&self, mut started: Started, entry: Arc<Entry>, limits: Limits) {
        let stop = self.stop.clone();
        let listened = entry.clone();
        let mut kept = self.kept();
        while kept.tasks.try_join_next().is_some() {}
        kept.remember(entry);
        kept.tasks.spawn(async move {
            let mut scribe = Scribe(listened.clone());
            let ending = attend(&mut started, &limits, &stop, &mut scribe).await;
            let left = left_behind(&mut started).await;
            listened.finish(ending, &left);
        });
    }

    /// Remembers what a command that ended has left running.
    pub(super) fn adopt(&self, entry: Entry) {
        self.kept().remember(Arc::new(entry));
    }

    fn entries(&self) -> Vec<Arc<Entry>> {
        self.kept().entries.clone()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn remember(&mut self, entry: Arc<Entry>) {
        self.entries.push(entry);
        while self.entries.len() > REMEMBERED {
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
pub(super) async fn left_behind(started: &mut Started) -> Vec<i32> {
    let tree = started.leash.tree().clone();
    let left = tree.survivors().await;
    tree.leader_ended();
    started.leash.let_go();
    left
}
