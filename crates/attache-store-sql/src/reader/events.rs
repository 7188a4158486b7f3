//! Reads a task's events and snapshots.

use std::sync::Arc;

use attache_domain::{Event, Seq, TaskKey};
use attache_store::{Snapshot, StoreError};
use rusqlite::{Connection, OptionalExtension, Rows, Statement};

use super::Reader;
use crate::error::{corrupt, read_failed};
use crate::stored::{decode, hash_of, last_place, place, seq_at};

/// The number of a filed task, by hash, scope and id.
pub(crate) const FIND_TASK: &str = "SELECT number FROM task_by_id CROSS JOIN task ON number = task
    WHERE hash = ?1 AND scope = ?2 AND id = ?3";

pub(super) struct Statements<'c> {
    task: Statement<'c>,
    newest_task: Statement<'c>,
    batches: Statement<'c>,
    snapshot: Statement<'c>,
}

impl<'c> Statements<'c> {
    pub(super) fn prepare(connection: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            task: connection.prepare(FIND_TASK)?,
            newest_task: connection
                .prepare("SELECT number FROM task WHERE number > ?1 AND scope = ?2 AND id = ?3")?,
            batches: connection
                .prepare("SELECT place, body FROM batch WHERE place > ?1 AND place <= ?2 ORDER BY place")?,
            snapshot: connection.prepare(
                "SELECT place, bytes FROM snapshot WHERE place >= ?1 AND place <= ?2
                 ORDER BY place DESC LIMIT 1",
            )?,
        })
    }
}

impl Reader<'_> {
    /// Whole batches until there are `limit` events; what comes before `after` in the first is left out.
    pub(crate) fn events(
        &mut self,
        key: &TaskKey,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<Arc<Event>>, StoreError> {
        match self.task_number(key)? {
            Some(task) => self.events_of(task, after, limit),
            None => Ok(Vec::new()),
        }
    }

    /// The first events of a task that a listing has named: it is in the database, whoever knows of it yet.
    pub(crate) fn events_of_listed(
        &mut self,
        key: &TaskKey,
        limit: usize,
    ) -> Result<Vec<Arc<Event>>, StoreError> {
        let last = self.shared.recent.last();
        let found = match self.task_number(key)? {
            None => self.newest_task_number(key, last)?,
            found => found,
        };
        found.map_or_else(|| Ok(Vec::new()), |task| self.events_of(task, Seq::START, limit))
    }

    fn events_of(&mut self, task: i64, after: Seq, limit: usize) -> Result<Vec<Arc<Event>>, StoreError> {
        let rows = self.events.batches.query((place(task, after), last_place(task)));
        take_events(rows.map_err(read_failed)?, after, limit)
    }

    pub(crate) fn snapshot(&mut self, key: &TaskKey, at_most: Seq) -> Result<Option<Snapshot>, StoreError> {
        let Some(task) = self.task_number(key)? else { return Ok(None) };
        let range = (place(task, Seq::START), place(task, at_most));
        let found = self
            .events
            .snapshot
            .query_row(range, |row| Ok(Snapshot { at: seq_at(row.get(0)?), bytes: row.get(1)? }));
        found.optional().map_err(read_failed)
    }

    fn task_number(&mut self, key: &TaskKey) -> Result<Option<i64>, StoreError> {
        let Some(scope) = self.scope_number(&key.scope)? else { return Ok(None) };
        // In this order: a task leaves the recent ones only after it can be found in the database.
        if let Some(number) = self.shared.recent.number(scope, &key.task) {
            return Ok(Some(number));
        }
        let id = key.task.as_str();
        let found = self.events.task.query_row((hash_of(scope, id), scope, id), |row| row.get(0));
        found.optional().map_err(read_failed)
    }

    /// Among the tasks that were committed a moment ago, after the one numbered `last`.
    fn newest_task_number(&mut self, key: &TaskKey, last: i64) -> Result<Option<i64>, StoreError> {
        let Some(scope) = self.scope_number(&key.scope)? else { return Ok(None) };
        let found = self.events.newest_task.query_row((last, scope, key.task.as_str()), |row| row.get(0));
        found.optional().map_err(read_failed)
    }
}

fn take_events(mut rows: Rows<'_>, after: Seq, limit: usize) -> Result<Vec<Arc<Event>>, StoreError> {
    let mut events = Vec::new();
    while let Some(row) = rows.next().map_err(read_failed)? {
        let place = row.get(0).map_err(read_failed)?;
        let body = row.get_ref(1).map_err(read_failed)?.as_bytes().map_err(corrupt)?;
        let mut batch = decode(body, seq_at(place))?;
        if events.is_empty() {
            batch.retain(|event| event.seq > after);
            events = batch;
        } else {
            events.append(&mut batch);
        }
        if events.len() >= limit {
            break;
        }
    }
    Ok(events)
}
