//! Finds and ends all processes of one command.
//!
//! A process belongs to the command if it descends from the shell, is in its session or group, or has one of the
//! command's marks. The marks find processes that left the session and lost their parents. A process is missed only if
//! it does all of this, clears its environment and changes the limit before it is seen, and no watcher runs; or if
//! another service starts it, such as cron or a container daemon.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use attache_domain::IgnorePoison;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::time::{Instant, sleep};

use super::process_mark::ProcessMark;
use super::processes::{self, Process};

/// Time between SIGTERM and SIGKILL.
const TERM_TIMEOUT: Duration = Duration::from_millis(200);
/// How often to check whether they have ended.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// After this time what is left runs as another user and cannot be killed.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);
/// Checks that find only watchers before these are killed too.
const MAX_WATCHER_POLLS: usize = 5;
/// Passes of `end_now`.
const MAX_PASSES: usize = 100;

/// No process has this id.
const NO_LEADER: i32 = -1;

#[derive(Debug)]
pub(super) struct ProcessTree {
    mark: ProcessMark,
    leader: i32,
    started: u64,
    known: Mutex<KnownProcesses>,
}

#[derive(Debug, Default)]
struct KnownProcesses {
    processes: HashSet<(i32, u64)>,
    /// The shell has ended. Its process id may be reused once its session is empty.
    leader_ended: bool,
}

impl ProcessTree {
    pub(super) fn new(mark: ProcessMark, leader: i32) -> Self {
        let started = processes::read_process(leader).map_or(0, |process| process.started);
        Self { mark, leader, started, known: Mutex::default() }
    }

    /// All processes with the mark.
    pub(super) fn of_mark(mark: ProcessMark) -> Self {
        let seen = KnownProcesses { leader_ended: true, ..KnownProcesses::default() };
        Self { mark, leader: NO_LEADER, started: 0, known: Mutex::new(seen) }
    }

    pub(super) fn leader(&self) -> i32 {
        self.leader
    }

    /// Records that the shell has ended, after a call of `members`.
    pub(super) fn leader_ended(&self) {
        self.lock().leader_ended = true;
    }

    /// The running processes.
    pub(super) fn members(&self) -> Vec<Process> {
        let all = processes::list_processes();
        let mut seen = self.lock();
        let in_session = |process: &Process| process.session == self.leader || process.group == self.leader;
        let session_is_ours = !seen.leader_ended
            || all.iter().any(|process| in_session(process) && seen.processes.contains(&process.key()));
        let own = i32::try_from(std::process::id()).unwrap_or_default();
        let candidates: Vec<&Process> =
            all.iter().filter(|process| process.started >= self.started && process.pid != own).collect();
        let mut members: HashSet<i32> = candidates
            .iter()
            .filter(|process| {
                (process.pid == self.leader && !seen.leader_ended)
                    || seen.processes.contains(&process.key())
                    || (session_is_ours && in_session(process))
                    || self.mark.is_on(process.pid)
            })
            .map(|process| process.pid)
            .collect();
        loop {
            let before = members.len();
            for process in &candidates {
                if members.contains(&process.parent) {
                    members.insert(process.pid);
                }
            }
            if members.len() == before {
                break;
            }
        }
        let members: Vec<Process> =
            candidates.into_iter().filter(|process| members.contains(&process.pid)).copied().collect();
        seen.processes = members.iter().map(Process::key).collect();
        members.into_iter().filter(|process| process.alive).collect()
    }

    /// The processes that remain after the shell has ended. The hangup of its terminal ends most of them.
    pub(super) async fn survivors(self: &Arc<Self>) -> Vec<i32> {
        if self.members_elsewhere().await.iter().all(|process| process.watches) {
            return Vec::new();
        }
        sleep(POLL_INTERVAL).await;
        let members = self.members_elsewhere().await;
        let mut survivors: Vec<i32> =
            members.iter().filter(|process| !process.watches).map(|process| process.pid).collect();
        survivors.sort_unstable();
        survivors
    }

    /// Sends SIGTERM to all, then SIGKILL, and returns when none is left.
    pub(super) async fn end(self: &Arc<Self>) {
        self.end_after(TERM_TIMEOUT).await;
    }

    /// Kills all. Returns the processes that could not be killed.
    pub(super) async fn kill_all(self: &Arc<Self>) -> Vec<i32> {
        self.end_after(Duration::ZERO).await
    }

    async fn end_after(self: &Arc<Self>, grace: Duration) -> Vec<i32> {
        let begun = Instant::now();
        let mut terminated = HashSet::new();
        let (mut empty_checks, mut only_watchers) = (0, 0);
        // During an exec a process shows no environment, so one check could miss it.
        while empty_checks < 2 {
            let members = self.members_elsewhere().await;
            if begun.elapsed() >= KILL_TIMEOUT {
                return members.iter().map(|process| process.pid).collect();
            }
            empty_checks = if members.is_empty() { empty_checks + 1 } else { 0 };
            let (watchers, others): (Vec<Process>, Vec<Process>) =
                members.into_iter().partition(|process| process.watches);
            only_watchers = if others.is_empty() { only_watchers + 1 } else { 0 };
            if begun.elapsed() >= grace {
                kill(&others);
            } else {
                others.iter().filter(|process| terminated.insert(process.key())).for_each(terminate);
            }
            // Watchers adopt orphans, so they go last, usually by themselves.
            if only_watchers > MAX_WATCHER_POLLS {
                kill(&watchers);
            }
            sleep(POLL_INTERVAL).await;
        }
        Vec::new()
    }

    /// Kills all at once, without waiting.
    pub(super) fn end_now(&self) {
        let mut ended = HashSet::new();
        for _ in 0..MAX_PASSES {
            // A killed process starts no others, so a pass that finds no new process
            // has found all.
            let fresh: Vec<_> =
                self.members().into_iter().filter(|process| ended.insert(process.key())).collect();
            let (watchers, others): (Vec<_>, Vec<_>) = fresh.into_iter().partition(|process| process.watches);
            if others.is_empty() {
                return kill(&watchers);
            }
            for watcher in watchers {
                ended.remove(&watcher.key());
            }
            kill(&others);
        }
    }

    async fn members_elsewhere(self: &Arc<Self>) -> Vec<Process> {
        let tree = self.clone();
        let elsewhere = tokio::task::spawn_blocking(move || tree.members());
        // A runtime that is shutting down starts no blocking task.
        elsewhere.await.unwrap_or_else(|_| self.members())
    }

    fn lock(&self) -> MutexGuard<'_, KnownProcesses> {
        self.known.lock().ignore_poison()
    }
}

fn terminate(process: &Process) {
    signal(process, Signal::TERM);
}

/// Kills whole groups, so that no process of a group escapes by forking.
fn kill(members: &[Process]) {
    let own = processes::read_process(i32::try_from(std::process::id()).unwrap_or_default());
    // Before the shell has left our session, its group may be ours.
    let theirs = |process: &&Process| {
        process.group == process.pid || own.is_none_or(|own| own.session != process.session)
    };
    let groups: HashSet<i32> = members.iter().filter(theirs).map(|process| process.group).collect();
    for group in groups.into_iter().filter_map(Pid::from_raw) {
        // It may have ended or belong to another user; the next check tells.
        let _ = kill_process_group(group, Signal::KILL);
    }
    members.iter().for_each(|process| signal(process, Signal::KILL));
}

fn signal(process: &Process, signal: Signal) {
    // The process id may have been reused.
    let same = processes::read_process(process.pid).is_some_and(|now| now.started == process.started);
    if let (true, Some(pid)) = (same, Pid::from_raw(process.pid)) {
        // As above.
        let _ = kill_process(pid, signal);
    }
}

/// Kills a command's processes when dropped, unless they were released.
#[derive(Debug)]
pub(super) struct KillOnDrop {
    tree: Arc<ProcessTree>,
    held: bool,
}

impl KillOnDrop {
    pub(super) fn new(tree: ProcessTree) -> Self {
        Self { tree: Arc::new(tree), held: true }
    }

    pub(super) fn tree(&self) -> &Arc<ProcessTree> {
        &self.tree
    }

    /// Hands the processes over to the caller.
    pub(super) fn release(&mut self) -> Arc<ProcessTree> {
        self.held = false;
        self.tree.clone()
    }
}

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        if self.held {
            self.tree.end_now();
        }
    }
}
