//! Logs unreadable rows, each once, and counts them.

use std::collections::HashSet;
use std::sync::Mutex;

use attache_domain::IgnorePoison;

/// Further rows are only counted.
const MAX_NAMED: usize = 1000;

/// Left-out rows of the listing, the snapshots and the records. Damage in a task's log is returned to its reader.
#[derive(Default)]
pub(crate) struct UnreadableRows {
    named: Mutex<HashSet<String>>,
}

impl UnreadableRows {
    pub(crate) fn report(&self, row: String, error: &dyn std::fmt::Display) {
        let mut named = self.named.lock().ignore_poison();
        if named.len() < MAX_NAMED && !named.contains(&row) {
            tracing::error!(row, %error, "a row of the store cannot be read and is left out; `attache store check` names all");
            named.insert(row);
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.named.lock().ignore_poison().len() as u64
    }
}
