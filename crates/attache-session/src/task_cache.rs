//! The tasks in memory: running ones, and the latest of the others.
//!
//! No `BoundedCache`: a task at work must not be forgotten, or there would be two `LiveTask`s of it. Only those at rest
//! are bounded, oldest first.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use attache_domain::{IgnorePoison, TaskKey};
use attache_store::{EventLog, StoreError};

use crate::live_task::LiveTask;
use crate::{Counters, replay};

/// Tasks at rest that stay in memory, by number and by weight.
const MAX_AT_REST: usize = 1024;
const MAX_BYTES_AT_REST: usize = 4 << 20;

#[derive(Default)]
pub(crate) struct TaskCache {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    tasks: HashMap<TaskKey, Arc<LiveTask>>,
    /// Oldest first, with what each weighed when it came to rest.
    at_rest: VecDeque<(TaskKey, usize)>,
    bytes_at_rest: usize,
    /// How many loads of each task are running. A task that is being loaded stays in memory if it is here, so that the
    /// loader finds what was appended meanwhile.
    loading: HashMap<TaskKey, usize>,
}

/// Held while a task is read from the log.
pub(crate) struct LoadGuard<'a> {
    cache: &'a TaskCache,
    key: &'a TaskKey,
}

impl Drop for LoadGuard<'_> {
    fn drop(&mut self) {
        let mut state = self.cache.state();
        if let Some(count) = state.loading.get_mut(self.key) {
            *count -= 1;
            if *count == 0 {
                state.loading.remove(self.key);
            }
        }
    }
}

impl TaskCache {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().ignore_poison()
    }

    pub(crate) fn find(&self, key: &TaskKey) -> Option<Arc<LiveTask>> {
        self.state().tasks.get(key).cloned()
    }

    /// The task, or the right to read it from the log.
    pub(crate) fn find_or_load<'a>(&'a self, key: &'a TaskKey) -> Result<Arc<LiveTask>, LoadGuard<'a>> {
        let mut state = self.state();
        if let Some(task) = state.tasks.get(key) {
            return Ok(task.clone());
        }
        *state.loading.entry(key.clone()).or_default() += 1;
        Err(LoadGuard { cache: self, key })
    }

    /// Adds `task` unless it is here already; returns the one that is here.
    pub(crate) fn insert(&self, task: Arc<LiveTask>) -> Arc<LiveTask> {
        self.state().tasks.entry(task.key.clone()).or_insert(task).clone()
    }

    /// The task in memory, read from the log if need be.
    pub(crate) async fn load(
        &self,
        log: &Arc<dyn EventLog>,
        counters: &Arc<Counters>,
        key: &TaskKey,
    ) -> Result<Option<Arc<LiveTask>>, StoreError> {
        let loading = match self.find_or_load(key) {
            Ok(live) => return Ok(Some(live)),
            Err(loading) => loading,
        };
        let Some(view) = replay::view(log.as_ref(), key).await? else { return Ok(None) };
        let live = self.insert(LiveTask::new(log.clone(), counters.clone(), view));
        drop(loading);
        self.mark_at_rest(&live);
        Ok(Some(live))
    }

    /// The task is idle: from now on it may leave memory, oldest first.
    pub(crate) fn mark_at_rest(&self, task: &LiveTask) {
        if !task.mark_at_rest() {
            return;
        }
        let weight = task.weight();
        let mut state = self.state();
        state.at_rest.push_back((task.key.clone(), weight));
        state.bytes_at_rest += weight;
        state.evict();
    }
}

impl State {
    fn evict(&mut self) {
        // A task that is in use (by a runner or a reader) must stay: two copies in memory would not see each other's
        // events. It goes to the back of the queue.
        for _ in 0..8 {
            if self.at_rest.len() <= MAX_AT_REST && self.bytes_at_rest <= MAX_BYTES_AT_REST {
                return;
            }
            let Some((key, weight)) = self.at_rest.pop_front() else { return };
            let used = self.tasks.get(&key).is_some_and(|task| Arc::strong_count(task) > 1);
            let held = used || self.loading.contains_key(&key);
            if held {
                self.at_rest.push_back((key, weight));
            } else {
                self.bytes_at_rest -= weight;
                self.tasks.remove(&key);
            }
        }
    }
}
