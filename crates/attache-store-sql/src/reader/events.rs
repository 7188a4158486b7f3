//! Reads a task's events and snapshots.

use std::sync::Arc;

use attache_domain::{Event, Seq, TaskKey};
use attache_store::{Snapshot, StoreError};
use rusqlite::{Connection, OptionalExtension, Row, Rows, Statement};

use super::Reader;
use crate::checksum;
use crate::error::{corrupt, read_failed};
use crate::stored::{decode, last_place, place, seq_at};

pub(super) struct Statements<'c> {
    task: Statement<'c>,
    batches: Statement<'c>,
    snapshot: Statement<'c>,
}

impl<'c> Statements<'c> {
    pub(super) fn prepare(connection: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            task: connection
                .prepare("SELECT number FROM task INDEXED BY task_by_id WHERE scope = ?1 AND id = ?2")?,
            batches: connection.prepare(
                "SELECT place, body, checksum FROM batch WHERE place > ?1 AND place <= ?2 ORDER BY place",
            )?,
            snapshot: connection.prepare(
                "SELECT place, bytes, checksum FROM snapshot WHERE place >= ?1 AND place <= ?2
                 ORDER BY place DESC LIMIT 1",
            )?,
        })
    }
}

impl Reader<'_> {
    /// Whole batches until there are `limit` events, without the events up to `after`.
    pub(crate) fn events(
        &mut self,
        key: &TaskKey,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<Arc<Event>>, StoreError> {
        match self.task_number(key)? {
            Some(task) => self.events_of(task, after, limit, Damage::Ends),
            None => Ok(Vec::new()),
        }
    }

    /// The first events of a task that a listing has named; an error when one of them cannot be read.
    pub(crate) fn events_of_listed(
        &mut self,
        key: &TaskKey,
        limit: usize,
    ) -> Result<Vec<Arc<Event>>, StoreError> {
        match self.task_number(key)? {
            Some(task) => self.events_of(task, Seq::START, limit, Damage::Fails),
            None => Ok(Vec::new()),
        }
    }

    fn events_of(
        &mut self,
        task: i64,
        after: Seq,
        limit: usize,
        damage: Damage,
    ) -> Result<Vec<Arc<Event>>, StoreError> {
        let rows = self.events.batches.query((place(task, after), last_place(task)));
        let events = take_events(rows.map_err(read_failed)?, after, limit, damage)?;
        if events.is_empty() && after == Seq::START {
            return Err(corrupt("the task has a listing row and no events"));
        }
        Ok(events)
    }

    pub(crate) fn snapshot(&mut self, key: &TaskKey, at_most: Seq) -> Result<Option<Snapshot>, StoreError> {
        let Some(task) = self.task_number(key)? else { return Ok(None) };
        let range = (place(task, Seq::START), place(task, at_most));
        let mut rows = self.events.snapshot.query(range).map_err(read_failed)?;
        match rows.next().map_err(read_failed)? {
            Some(row) => snapshot_of(row).map(Some),
            None => Ok(None),
        }
    }

    pub(super) fn task_number(&mut self, key: &TaskKey) -> Result<Option<i64>, StoreError> {
        let Some(scope) = self.scope_number(&key.scope)? else { return Ok(None) };
        let found = self.events.task.query_row((scope, key.task.as_str()), |row| row.get(0));
        found.optional().map_err(read_failed)
    }
}

/// Whether the events before an unreadable batch are returned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Damage {
    /// Returned; the next read fails at the damage.
    Ends,
    /// Not returned.
    Fails,
}

fn take_events(
    mut rows: Rows<'_>,
    after: Seq,
    limit: usize,
    damage: Damage,
) -> Result<Vec<Arc<Event>>, StoreError> {
    let mut events: Vec<Arc<Event>> = Vec::new();
    while events.len() < limit || events.is_empty() {
        let head = events.last().map_or(after, |event| event.seq);
        match next_batch(&mut rows, head) {
            Ok(Some(mut batch)) => events.append(&mut batch),
            Ok(None) => break,
            Err(StoreError::Corrupt { .. }) if !events.is_empty() && damage == Damage::Ends => break,
            Err(error) => return Err(error),
        }
    }
    Ok(events)
}

/// The events after `head` in the next row.
fn next_batch(rows: &mut Rows<'_>, head: Seq) -> Result<Option<Vec<Arc<Event>>>, StoreError> {
    let Some(row) = rows.next().map_err(read_failed)? else { return Ok(None) };
    let place = row.get(0).map_err(read_failed)?;
    let named = |error| match error {
        StoreError::Corrupt { what } => {
            corrupt(format!("the batch that ends with event {} cannot be read: {what}", seq_at(place)))
        }
        other => other,
    };
    let mut batch = batch_of(row, place).map_err(named)?;
    batch.retain(|event| event.seq > head);
    match batch.first() {
        Some(first) if first.seq != head.next() => {
            Err(corrupt(format!("the events after {head} and before {} are missing", first.seq)))
        }
        _ => Ok(Some(batch)),
    }
}

/// From a place, a body and a checksum.
pub(crate) fn batch_of(row: &Row<'_>, place: i64) -> Result<Vec<Arc<Event>>, StoreError> {
    let body = row.get_ref(1).map_err(read_failed)?.as_bytes().map_err(corrupt)?;
    let kept = row.get(2).map_err(read_failed)?;
    checksum::verify(kept, checksum::at_place(checksum::of_body(body), place))?;
    decode(body, seq_at(place))
}

/// From a place, the bytes and a checksum.
fn snapshot_of(row: &Row<'_>) -> Result<Snapshot, StoreError> {
    let place = row.get(0).map_err(read_failed)?;
    let bytes: Vec<u8> = row.get(1).map_err(read_failed)?;
    let kept = row.get(2).map_err(read_failed)?;
    checksum::verify(kept, checksum::at_place(checksum::of_body(&bytes), place))?;
    Ok(Snapshot { at: seq_at(place), bytes })
}
