//! Names rows that cannot be read, each once, and counts them.

use std::collections::HashSet;
use std::sync::Mutex;

use attache_domain::IgnorePoison;

/// Beyond so many the log has said enough.
const MAX_NAMED: usize = 1000;

/// Rows that were left out: of the listing, the snapshots and the records. What a task's log holds is told to its reader.
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
