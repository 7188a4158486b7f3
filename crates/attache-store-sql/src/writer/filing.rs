//! Enters tasks into `task_by_id` and `task_by_context`, late and together.
//!
//! Ids are random, so every entry would land on a page of its own, and a page costs more than the rest
//! of an append. Therefore new entries wait in memory, sorted into slices by the first bits of their
//! hash; with each commit one slice is entered whole, whose entries share a few neighbouring pages.
//!
//! After a crash the tasks that may not have been entered are read from the task table: `filing.up_to`
//! says from where. Entering a task twice changes nothing.

use std::collections::HashMap;

use attache_domain::{ContextId, TaskId};
use rusqlite::{Connection, Statement};

use crate::reader::SharedState;
use crate::recent::{RecentKey, RecentTasks};
use crate::salvage::each_readable;
use crate::stored::{HASH_BITS, hash_of};

const SLICE_BITS: u32 = 6;
const SLICES: usize = 1 << SLICE_BITS;

/// Waiting entries, two for each task, from which on a slice is filed with each commit. More of them
/// share pages better; they cost memory, time in listings of a context, and time after a crash.
const FILED_FROM: usize = 8192;

pub(super) struct Filing<'c> {
    insert_id: Statement<'c>,
    insert_context: Statement<'c>,
    update: Statement<'c>,
    /// Opened in the transaction at hand.
    opened: HashMap<RecentKey, Opened>,
    slices: Vec<Vec<Entry>>,
    waiting: usize,
    /// The slice whose turn it is.
    turn: usize,
    /// The slice at its turn was entered in the transaction at hand.
    filed: bool,
    /// The last committed task, and what it was when the first slice had its turn.
    last: i64,
    last_at_first_turn: i64,
}

struct Opened {
    number: i64,
    context_hash: i64,
}

struct Entry {
    hash: i64,
    number: i64,
    /// By id, with what the task is called among the recent ones; or by context.
    id: Option<RecentKey>,
}

impl<'c> Filing<'c> {
    /// Takes up the tasks that may not have been entered.
    pub(super) fn load(connection: &'c Connection, shared: &SharedState) -> rusqlite::Result<Self> {
        let insert = |table| {
            connection.prepare(&format!("INSERT INTO {table} VALUES (?1, ?2) ON CONFLICT DO NOTHING"))
        };
        let mut filing = Self {
            insert_id: insert("task_by_id")?,
            insert_context: insert("task_by_context")?,
            update: connection.prepare("UPDATE filing SET up_to = ?1")?,
            opened: HashMap::new(),
            slices: (0..SLICES).map(|_| Vec::new()).collect(),
            waiting: 0,
            turn: 0,
            filed: false,
            last: connection.query_row("SELECT up_to FROM filing", [], |row| row.get(0))?,
            last_at_first_turn: 0,
        };
        let sql = "SELECT number, scope, id, context FROM task WHERE number > ?1 ORDER BY number";
        let passed_over = each_readable(connection, sql, filing.last, |row| {
            let number = row.get(0).unwrap_or_default();
            match (row.get(1), row.get::<_, String>(2), row.get::<_, String>(3)) {
                (Ok(scope), Ok(task), Ok(context)) => {
                    filing.opened(scope, task.into(), &context.into(), number);
                }
                // Nothing leads to a task whose row cannot be read.
                (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) => {
                    shared.unreadable.report(format!("listing row of task number {number}"), &error);
                }
            }
        })?;
        if passed_over > 0 {
            let rows = format!("at most {passed_over} rows of the latest tasks");
            shared.unreadable.report(rows, &"a page of the database is damaged");
        }
        filing.committed(&shared.recent);
        Ok(filing)
    }

    pub(super) fn opened(&mut self, scope: i64, task: TaskId, context: &ContextId, number: i64) {
        let context_hash = hash_of(scope, context.as_str());
        self.opened.insert((scope, task), Opened { number, context_hash });
    }

    /// Within a transaction: a task came into another context. What it was in before is of no harm:
    /// readers look at the task itself.
    pub(super) fn moved(&mut self, scope: i64, context: &ContextId, number: i64) -> rusqlite::Result<()> {
        self.insert_context.execute((hash_of(scope, context.as_str()), number)).map(drop)
    }

    /// The number of a task opened in the transaction at hand.
    pub(super) fn number(&self, scope: i64, task: &TaskId) -> Option<i64> {
        if self.opened.is_empty() {
            return None;
        }
        self.opened.get(&(scope, task.clone())).map(|opened| opened.number)
    }

    /// Within a transaction: enters the slice whose turn it is, if many wait.
    pub(super) fn file_some(&mut self) -> rusqlite::Result<()> {
        if self.waiting < FILED_FROM {
            return Ok(());
        }
        self.filed = true;
        if self.turn == 0 {
            self.last_at_first_turn = self.last;
        }
        self.file_slice(self.turn)?;
        if self.turn + 1 == SLICES {
            // Every slice had its turn since then.
            self.update.execute([self.last_at_first_turn])?;
        }
        Ok(())
    }

    /// The transaction at hand was committed.
    pub(super) fn committed(&mut self, recent: &RecentTasks) {
        let mut filed = Vec::new();
        if self.filed {
            self.filed = false;
            filed = std::mem::take(&mut self.slices[self.turn]);
            self.waiting -= filed.len();
            self.turn = (self.turn + 1) % SLICES;
        }
        let mut opened = std::mem::take(&mut self.opened);
        for (key, Opened { number, context_hash }) in &opened {
            self.last = self.last.max(*number);
            self.wait(Entry { hash: *context_hash, number: *number, id: None });
            let hash = hash_of(key.0, key.1.as_str());
            self.wait(Entry { hash, number: *number, id: Some(key.clone()) });
        }
        let new = opened.drain().map(|(key, opened)| (key, opened.number));
        recent.change(new, filed.iter().filter_map(|entry| entry.id.as_ref()), self.last);
        // Its room is used again.
        self.opened = opened;
    }

    pub(super) fn rolled_back(&mut self) {
        self.opened.clear();
        self.filed = false;
    }

    /// Before closing, in a transaction of its own, so that the next start has nothing to take up.
    pub(super) fn file_everything(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        if self.waiting == 0 {
            return Ok(());
        }
        let transaction = connection.unchecked_transaction()?;
        for slice in 0..SLICES {
            self.file_slice(slice)?;
        }
        self.update.execute([self.last])?;
        transaction.commit()
    }

    fn wait(&mut self, entry: Entry) {
        self.slices[(entry.hash >> (HASH_BITS - SLICE_BITS)) as usize].push(entry);
        self.waiting += 1;
    }

    fn file_slice(&mut self, slice: usize) -> rusqlite::Result<()> {
        let entries = &mut self.slices[slice];
        entries.sort_unstable_by_key(|entry| entry.hash);
        for entry in entries.iter().filter(|entry| entry.id.is_some()) {
            self.insert_id.execute((entry.hash, entry.number))?;
        }
        for entry in entries.iter().filter(|entry| entry.id.is_none()) {
            self.insert_context.execute((entry.hash, entry.number))?;
        }
        Ok(())
    }
}
