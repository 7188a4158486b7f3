//! The one thread that writes.
//!
//! It takes everything that waits, makes it one transaction, and answers nobody before the commit. So
//! the more callers wait, the more of them share one wait for the disk; a lone caller waits for nobody.
//! A conflict concerns its own append only. A failing database fails all of the transaction, and the
//! thread goes on with the next.

mod append;
mod files;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use std::{iter, thread};

use attache_domain::{Scope, TaskKey};
use attache_store::{RecordChange, Snapshot, StoreError};
use rusqlite::{Connection, OptionalExtension, Statement};
use tokio::sync::{mpsc, oneshot};

pub(crate) use append::AppendBody;
pub(crate) use files::DatabaseFiles;

use crate::checksum;
use crate::error::{corrupt, is_corrupt, is_of_one_row};
use crate::mark_file::AcknowledgedBatch;
use crate::reader::{SharedState, record_of};
use crate::stored::{fits, place};

/// The maximum number of waiting requests. Beyond it callers wait.
pub(crate) const MAX_QUEUED: usize = 1024;

/// Requests in one transaction: bounds how long the first of them waits for the last.
const MAX_TOGETHER: usize = 256;

/// After a transaction with so many requests, the next one waits [`GATHER_DELAY`] for as many again: a commit costs about as
/// much CPU as ten appends. A single caller never waits.
const GATHER_AT: usize = 4;
const GATHER_DELAY: Duration = Duration::from_micros(500);

/// A request and its reply channel. It takes effect even if the caller stops waiting.
pub(crate) struct Write {
    pub(crate) change: WriteRequest,
    pub(crate) answer: oneshot::Sender<Result<WriteReply, StoreError>>,
}

pub(crate) enum WriteRequest {
    Append(AppendBody),
    Snapshot { key: TaskKey, snapshot: Snapshot },
    Record { space: String, key: String, value: Vec<u8> },
    Records(Vec<RecordChange>),
}

#[derive(Debug)]
pub(crate) enum WriteReply {
    Done,
    /// The stored value.
    Record(Vec<u8>),
}

/// The result of one change, if the transaction succeeds.
type Outcome = Result<WriteReply, StoreError>;

pub(crate) struct Writer<'c> {
    connection: &'c Connection,
    shared: Arc<SharedState>,
    begin: Statement<'c>,
    commit: Statement<'c>,
    find_scope: Statement<'c>,
    insert_scope: Statement<'c>,
    insert_snapshot: Statement<'c>,
    insert_record: Statement<'c>,
    find_record: Statement<'c>,
    put_record: Statement<'c>,
    delete_record: Statement<'c>,
    append: append::Statements<'c>,
    /// New callers of this transaction; readers see them once it is committed.
    new_scopes: Vec<(Scope, i64)>,
    /// The changes of this transaction to the task counts, by caller and state.
    count_changes: HashMap<(i64, u8), i64>,
    /// The last batch of this transaction.
    last_batch: Option<AcknowledgedBatch>,
    files: Option<DatabaseFiles>,
}

impl<'c> Writer<'c> {
    pub(crate) fn prepare(connection: &'c Connection, shared: Arc<SharedState>) -> rusqlite::Result<Self> {
        let prepare = |sql| connection.prepare(sql);
        Ok(Self {
            connection,
            shared,
            begin: prepare("BEGIN IMMEDIATE")?,
            commit: prepare("COMMIT")?,
            find_scope: prepare("SELECT number FROM scope WHERE tenant = ?1 AND owner = ?2")?,
            insert_scope: prepare("INSERT INTO scope (tenant, owner) VALUES (?1, ?2)")?,
            insert_snapshot: prepare(
                "INSERT OR REPLACE INTO snapshot (place, bytes, checksum) VALUES (?1, ?2, ?3)",
            )?,
            insert_record: prepare(
                "INSERT INTO record (space, key, value, checksum) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO NOTHING",
            )?,
            find_record: prepare("SELECT key, value, checksum FROM record WHERE space = ?1 AND key = ?2")?,
            put_record: prepare(
                "INSERT OR REPLACE INTO record (space, key, value, checksum) VALUES (?1, ?2, ?3, ?4)",
            )?,
            delete_record: prepare("DELETE FROM record WHERE space = ?1 AND key = ?2")?,
            append: append::Statements::prepare(connection)?,
            new_scopes: Vec::new(),
            count_changes: HashMap::new(),
            last_batch: None,
            files: None,
        })
    }

    /// Watches the files from now on, and updates the mark beside them.
    pub(crate) fn with_files(self, files: DatabaseFiles) -> Self {
        Self { files: Some(files), ..self }
    }

    /// Runs until every sender is dropped and the queue is empty. Returns false if the files were replaced: then the
    /// connection must not be closed.
    pub(crate) fn serve(mut self, mut inbox: mpsc::Receiver<Write>) -> bool {
        let mut writes = Vec::with_capacity(MAX_TOGETHER);
        let mut together = 0;
        while inbox.blocking_recv_many(&mut writes, MAX_TOGETHER) > 0 {
            if together >= GATHER_AT && writes.len() < together {
                thread::sleep(GATHER_DELAY);
                writes.extend(iter::from_fn(|| inbox.try_recv().ok()).take(MAX_TOGETHER - writes.len()));
            }
            together = writes.len();
            self.commit_together(&mut writes);
        }
        self.files.as_mut().is_none_or(DatabaseFiles::close)
    }

    /// Commits all of `writes` or none, then sends the replies.
    fn commit_together(&mut self, writes: &mut Vec<Write>) {
        if let Some(what) = self.files.as_mut().and_then(DatabaseFiles::fault) {
            refuse(writes, || StoreError::Gone { what: what.clone() });
            return;
        }
        match self.transact(writes) {
            Ok(outcomes) => {
                let last_batch = self.last_batch.take();
                let gone = self.files.as_mut().and_then(|files| files.committed(last_batch));
                self.publish();
                if let Some(what) = gone {
                    refuse(writes, || StoreError::Gone { what: what.clone() });
                    return;
                }
                for (write, outcome) in writes.drain(..).zip(outcomes) {
                    let _ = write.answer.send(outcome);
                }
            }
            // A damaged page concerns only the writes that need it; each is tried alone.
            Err(error) if is_corrupt(&error) && writes.len() > 1 => {
                self.roll_back();
                for write in std::mem::take(writes) {
                    self.commit_together(&mut vec![write]);
                }
            }
            Err(error) => {
                tracing::error!(%error, requests = writes.len(), "a transaction failed");
                self.roll_back();
                let is_corrupt = is_corrupt(&error);
                let error = Arc::new(error);
                refuse(writes, || match is_corrupt {
                    true => corrupt(&error),
                    false => StoreError::unavailable(error.clone()),
                });
            }
        }
    }

    fn transact(&mut self, writes: &[Write]) -> rusqlite::Result<Vec<Outcome>> {
        self.begin.execute(())?;
        let outcomes = writes.iter().map(|write| self.apply(&write.change)).collect::<Result<_, _>>()?;
        self.write_counts()?;
        self.commit.execute(())?;
        Ok(outcomes)
    }

    /// Unreadable data concerns only its own change.
    fn apply(&mut self, change: &WriteRequest) -> rusqlite::Result<Outcome> {
        match self.apply_readable(change) {
            Err(error) if is_of_one_row(&error) => Ok(Err(corrupt(error))),
            applied => applied,
        }
    }

    fn apply_readable(&mut self, change: &WriteRequest) -> rusqlite::Result<Outcome> {
        match change {
            WriteRequest::Append(append) => self.append(append),
            WriteRequest::Snapshot { key, snapshot } => self.keep_snapshot(key, snapshot),
            WriteRequest::Record { space, key, value } => {
                self.insert_record.execute((space, key, value, checksum::of_record(space, key, value)))?;
                let found = self.find_record.query_row((space, key), |row| Ok(record_of(row, space)))?;
                Ok(found.map(|record| WriteReply::Record(record.value)))
            }
            WriteRequest::Records(changes) => {
                for change in changes {
                    match change {
                        RecordChange::Put { space, record } => {
                            let checksum = checksum::of_record(space, &record.key, &record.value);
                            self.put_record.execute((space, &record.key, &record.value, checksum))?
                        }
                        RecordChange::Delete { space, key } => self.delete_record.execute((space, key))?,
                    };
                }
                Ok(Ok(WriteReply::Done))
            }
        }
    }

    fn keep_snapshot(&mut self, key: &TaskKey, snapshot: &Snapshot) -> rusqlite::Result<Outcome> {
        // A snapshot without a task, or beyond the maximum position, is dropped: it is only a cache.
        if let Some(scope) = self.scope_number(&key.scope)?
            && let Some(task) = self.task_number(scope, &key.task)?
            && fits(snapshot.at)
        {
            let place = place(task, snapshot.at);
            let checksum = checksum::at_place(checksum::of_body(&snapshot.bytes), place);
            self.insert_snapshot.execute((place, &snapshot.bytes, checksum))?;
        }
        Ok(Ok(WriteReply::Done))
    }

    fn scope_number(&mut self, scope: &Scope) -> rusqlite::Result<Option<i64>> {
        if let Some(number) = self.shared.scopes.number(scope) {
            return Ok(Some(number));
        }
        if let Some((_, number)) = self.new_scopes.iter().find(|(new, _)| new == scope) {
            return Ok(Some(*number));
        }
        self.find_scope.query_row((&*scope.tenant, &*scope.owner), |row| row.get(0)).optional()
    }

    fn scope_number_or_new(&mut self, scope: &Scope) -> rusqlite::Result<i64> {
        if let Some(number) = self.scope_number(scope)? {
            return Ok(number);
        }
        let number = self.insert_scope.insert((&*scope.tenant, &*scope.owner))?;
        self.new_scopes.push((scope.clone(), number));
        Ok(number)
    }

    fn publish(&mut self) {
        for (scope, number) in self.new_scopes.drain(..) {
            self.shared.scopes.remember(scope, number);
        }
    }

    /// Rolls back a transaction, in the database and in memory.
    fn roll_back(&mut self) {
        // Some errors have already rolled back.
        if !self.connection.is_autocommit()
            && let Err(error) = self.connection.execute_batch("ROLLBACK")
        {
            tracing::error!(%error, "a failed transaction could not be rolled back");
        }
        self.new_scopes.clear();
        self.count_changes.clear();
        self.last_batch = None;
    }
}

fn refuse(writes: &mut Vec<Write>, why: impl Fn() -> StoreError) {
    for write in writes.drain(..) {
        let _ = write.answer.send(Err(why()));
    }
}

#[cfg(test)]
#[path = "writer/tests.rs"]
mod tests;
