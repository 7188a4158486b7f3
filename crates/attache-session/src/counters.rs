//! Counters of the session.

use std::sync::atomic::{AtomicU64, Ordering};

use attache_domain::{Fact, TaskState};

use crate::quarantine::Quarantine;
use crate::store_health::{StoreFault, StoreHealth};

#[derive(Debug, Default)]
pub struct Counters {
    opened: AtomicU64,
    settled: [AtomicU64; TaskState::ALL.len()],
    events: AtomicU64,
    running: AtomicU64,
    recovered: AtomicU64,
    store_failures: AtomicU64,
    waiting_for_store: AtomicU64,
    push_delivered: AtomicU64,
    push_failed: AtomicU64,
    push_gave_up: AtomicU64,
    pub(crate) store: StoreHealth,
    pub(crate) quarantine: Quarantine,
}

/// The counters at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountersSnapshot {
    pub tasks_opened: u64,
    /// How often a task came to rest in each state.
    pub tasks_settled: Vec<(TaskState, u64)>,
    pub events_appended: u64,
    /// Tasks that are running now.
    pub tasks_running: u64,
    /// Tasks taken up again after a restart.
    pub tasks_recovered: u64,
    /// Tasks whose log was found unreadable, and reads that met one of them or another damaged row.
    pub tasks_unreadable: u64,
    pub unreadable_reads: u64,
    pub store_failures: u64,
    /// Tasks whose work cannot be recorded now.
    pub tasks_waiting_for_store: u64,
    /// Push notifications that were taken, and tries that failed.
    pub push_delivered: u64,
    pub push_failed: u64,
    /// Push configurations that were given up.
    pub push_gave_up: u64,
}

pub(crate) struct StoreWaitGuard<'a>(&'a Counters);

impl Drop for StoreWaitGuard<'_> {
    fn drop(&mut self) {
        self.0.waiting_for_store.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Counters {
    pub fn snapshot(&self) -> CountersSnapshot {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let settled = TaskState::ALL.iter().zip(&self.settled);
        CountersSnapshot {
            tasks_opened: load(&self.opened),
            tasks_settled: settled.map(|(state, counter)| (*state, load(counter))).collect(),
            events_appended: load(&self.events),
            tasks_running: load(&self.running),
            tasks_recovered: load(&self.recovered),
            tasks_unreadable: self.quarantine.tasks(),
            unreadable_reads: self.quarantine.reads(),
            store_failures: load(&self.store_failures),
            tasks_waiting_for_store: load(&self.waiting_for_store),
            push_delivered: load(&self.push_delivered),
            push_failed: load(&self.push_failed),
            push_gave_up: load(&self.push_gave_up),
        }
    }

    pub(crate) fn appended(&self, fact: &Fact) {
        self.events.fetch_add(1, Ordering::Relaxed);
        let settled = match fact {
            Fact::TaskOpened(_) => {
                self.opened.fetch_add(1, Ordering::Relaxed);
                return;
            }
            Fact::TurnEnded { outcome, .. } => outcome.state(),
            Fact::TaskCanceled => TaskState::Canceled,
            Fact::Replied { .. } => TaskState::Completed,
            _ => return,
        };
        self.settled[settled as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn runner_started(&self) {
        self.running.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn runner_rested(&self) {
        self.running.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn task_recovered(&self) {
        self.recovered.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn push_delivered(&self) {
        self.push_delivered.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn push_failed(&self) {
        self.push_failed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn push_gave_up(&self) {
        self.push_gave_up.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn store_failed(&self) {
        self.store_failures.fetch_add(1, Ordering::Relaxed);
    }

    /// Why the store cannot be written, as far as the latest write says.
    pub fn store_fault(&self) -> Option<StoreFault> {
        self.store.fault()
    }

    /// Counts a task as waiting for the store for as long as the result is held.
    pub(crate) fn waits_for_store(&self) -> StoreWaitGuard<'_> {
        self.waiting_for_store.fetch_add(1, Ordering::Relaxed);
        StoreWaitGuard(self)
    }
}
