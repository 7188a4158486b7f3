//! The tasks opened last, found in memory until they are filed in the database.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{PoisonError, RwLock};

use attache_domain::TaskId;

/// A task as it is looked up: the caller's number and the id.
pub(crate) type RecentKey = (i64, TaskId);

/// Holds committed tasks only. Kept small by the writer's filing.
#[derive(Default)]
pub(crate) struct RecentTasks {
    numbers: RwLock<HashMap<RecentKey, i64>>,
    /// The highest number there was.
    last: AtomicI64,
}

impl RecentTasks {
    pub(crate) fn number(&self, scope: i64, task: &TaskId) -> Option<i64> {
        let numbers = self.numbers.read().unwrap_or_else(PoisonError::into_inner);
        numbers.get(&(scope, task.clone())).copied()
    }

    /// Tasks with higher numbers may be in the database and not here yet: a commit shows there first.
    pub(crate) fn last(&self) -> i64 {
        self.last.load(Ordering::Acquire)
    }

    /// Both at once, after a commit; `last` is the highest number by now.
    pub(crate) fn change<'a>(
        &self,
        opened: impl IntoIterator<Item = (RecentKey, i64)>,
        filed: impl IntoIterator<Item = &'a RecentKey>,
        last: i64,
    ) {
        let mut numbers = self.numbers.write().unwrap_or_else(PoisonError::into_inner);
        numbers.extend(opened);
        self.last.store(last, Ordering::Release);
        for key in filed {
            numbers.remove(key);
        }
    }
}
