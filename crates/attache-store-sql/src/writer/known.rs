//! What the writer remembers of tasks that are being worked on, so that it need not ask the database.
//!
//! Right because nobody else writes: the file is locked, and there is one writer.

use std::collections::HashMap;

use attache_domain::{Seq, TaskId, TaskSummary};

/// Beyond this many the memory starts afresh.
const REMEMBERED: usize = 4096;

#[derive(Debug, Clone)]
pub(super) struct KnownTask {
    pub(super) number: i64,
    pub(super) head: Seq,
    pub(super) summary: TaskSummary,
}

#[derive(Default)]
pub(super) struct KnownTasks {
    tasks: HashMap<(i64, TaskId), KnownTask>,
}

impl KnownTasks {
    pub(super) fn get(&self, scope: i64, task: &TaskId) -> Option<&KnownTask> {
        self.tasks.get(&(scope, task.clone()))
    }

    /// A task that nobody works on is forgotten: there are too many of them.
    pub(super) fn keep(&mut self, scope: i64, task: TaskId, known: KnownTask) {
        if !known.summary.unfinished {
            self.tasks.remove(&(scope, task));
            return;
        }
        if self.tasks.len() >= REMEMBERED {
            self.tasks.clear();
        }
        self.tasks.insert((scope, task), known);
    }

    pub(super) fn clear(&mut self) {
        self.tasks.clear();
    }
}
