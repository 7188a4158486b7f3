//! The tasks opened last, found in memory until they are filed in the database.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use attache_domain::TaskId;

/// A task as it is looked up: the caller's number and the id.
pub(crate) type RecentKey = (i64, TaskId);

/// Holds committed tasks only. Kept small by the writer's filing.
#[derive(Default)]
pub(crate) struct RecentTasks {
    numbers: RwLock<HashMap<RecentKey, i64>>,
}

impl RecentTasks {
    pub(crate) fn number(&self, scope: i64, task: &TaskId) -> Option<i64> {
        let numbers = self.numbers.read().unwrap_or_else(PoisonError::into_inner);
        numbers.get(&(scope, task.clone())).copied()
    }

    /// Both at once, after a commit.
    pub(crate) fn change<'a>(
        &self,
        opened: impl IntoIterator<Item = (RecentKey, i64)>,
        filed: impl IntoIterator<Item = &'a RecentKey>,
    ) {
        let mut numbers = self.numbers.write().unwrap_or_else(PoisonError::into_inner);
        numbers.extend(opened);
        for key in filed {
            numbers.remove(key);
        }
    }
}
