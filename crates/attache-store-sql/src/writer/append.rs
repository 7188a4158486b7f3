//! One append within a transaction: compare, then write the batch and what changed of the listing row.

use attache_domain::{Seq, TaskId, TaskKey, TaskSummary};
use attache_store::StoreError;
use rusqlite::{Connection, OptionalExtension, Statement};

use super::known::KnownTask;
use super::{Outcome, WriteReply, Writer};
use crate::checksum;
use crate::mark_file::AcknowledgedBatch;
use crate::reader::FIND_TASK;
use crate::stored::{FIND_SUMMARY, code_of, hash_of, last_place, place, seq_at, summary_of};
use crate::tally::TallyChange;

/// An append with its events in stored form.
pub(crate) struct AppendBody {
    pub(crate) key: TaskKey,
    pub(crate) expected: Seq,
    /// The number of the last event.
    pub(crate) last: Seq,
    pub(crate) body: String,
    /// See [`checksum::of_body`].
    pub(crate) body_checksum: u32,
    pub(crate) summary: TaskSummary,
}

pub(super) struct Statements<'c> {
    find_number: Statement<'c>,
    find_task: Statement<'c>,
    find_head: Statement<'c>,
    insert_task: Statement<'c>,
    update_status: Statement<'c>,
    update_work: Statement<'c>,
    update_all: Statement<'c>,
    insert_batch: Statement<'c>,
}

impl<'c> Statements<'c> {
    pub(super) fn prepare(connection: &'c Connection) -> rusqlite::Result<Self> {
        let prepare = |sql| connection.prepare(sql);
        Ok(Self {
            find_number: prepare(FIND_TASK)?,
            find_task: prepare(FIND_SUMMARY)?,
            find_head: prepare(
                "SELECT place FROM batch WHERE place > ?1 AND place <= ?2 ORDER BY place DESC LIMIT 1",
            )?,
            insert_task: prepare(
                "INSERT INTO task (scope, id, context, state, status_at, hidden, unfinished)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?,
            // Three updates, because SQLite rewrites every index that has a column named here.
            update_status: prepare("UPDATE task SET state = ?2, status_at = ?3 WHERE number = ?1")?,
            update_work: prepare(
                "UPDATE task SET state = ?2, status_at = ?3, unfinished = ?4 WHERE number = ?1",
            )?,
            update_all: prepare(
                "UPDATE task SET state = ?2, status_at = ?3, unfinished = ?4, context = ?5, hidden = ?6
                 WHERE number = ?1",
            )?,
            insert_batch: prepare("INSERT INTO batch (place, body, checksum) VALUES (?1, ?2, ?3)")?,
        })
    }
}

impl Writer<'_> {
    pub(super) fn append(&mut self, append: &AppendBody) -> rusqlite::Result<Outcome> {
        let AppendBody { key, expected, last, body, body_checksum, summary } = append;
        let conflict = |head| Ok(Err(StoreError::Conflict { expected: *expected, head }));
        let (scope, number) = if *expected == Seq::START {
            let scope = self.scope_number_or_new(&key.scope)?;
            if let Some(known) = self.task(scope, &key.task)? {
                return conflict(known.head);
            }
            (scope, self.open(scope, &key.task, summary)?)
        } else {
            let Some(scope) = self.scope_number(&key.scope)? else { return conflict(Seq::START) };
            let Some(known) = self.task(scope, &key.task)? else { return conflict(Seq::START) };
            if known.head != *expected {
                return conflict(known.head);
            }
            self.update(scope, &known, summary)?;
            (scope, known.number)
        };
        let place = place(number, *last);
        let checksum = checksum::at_place(*body_checksum, place);
        self.append.insert_batch.execute((place, body, checksum))?;
        self.last_batch = Some(AcknowledgedBatch { place, checksum });
        let known = KnownTask { number, head: *last, summary: summary.clone() };
        self.known.keep(scope, key.task.clone(), known);
        Ok(Ok(WriteReply::Done))
    }

    /// Makes the row of a new task; returns its number.
    fn open(&mut self, scope: i64, task: &TaskId, summary: &TaskSummary) -> rusqlite::Result<i64> {
        let number = self.append.insert_task.insert((
            scope,
            task.as_str(),
            summary.context.as_str(),
            code_of(summary.state),
            summary.status_at.as_millisecond(),
            summary.hidden,
            summary.unfinished,
        ))?;
        self.filing.opened(scope, task.clone(), &summary.context, number);
        self.count(scope, summary, 1);
        Ok(number)
    }

    /// Writes of the listing row only what differs.
    fn update(&mut self, scope: i64, known: &KnownTask, summary: &TaskSummary) -> rusqlite::Result<()> {
        let (number, old) = (known.number, &known.summary);
        if old == summary {
            return Ok(());
        }
        let (state, status_at) = (code_of(summary.state), summary.status_at.as_millisecond());
        if old.context != summary.context || old.hidden != summary.hidden {
            let context = summary.context.as_str();
            let row = (number, state, status_at, summary.unfinished, context, summary.hidden);
            self.append.update_all.execute(row)?;
            self.filing.moved(scope, &summary.context, number)?;
        } else if old.unfinished != summary.unfinished {
            self.append.update_work.execute((number, state, status_at, summary.unfinished))?;
        } else {
            self.append.update_status.execute((number, state, status_at))?;
        }
        self.count(scope, old, -1);
        self.count(scope, summary, 1);
        Ok(())
    }

    fn count(&mut self, scope: i64, summary: &TaskSummary, by: i64) {
        if !summary.hidden {
            self.tally_changes.push(TallyChange { scope, state: summary.state, by });
        }
    }

    pub(super) fn task(&mut self, scope: i64, task: &TaskId) -> rusqlite::Result<Option<KnownTask>> {
        if let Some(known) = self.known.get(scope, task) {
            return Ok(Some(known.clone()));
        }
        let Some(number) = self.task_number(scope, task)? else { return Ok(None) };
        let summary = self.append.find_task.query_row([number], summary_of)?;
        let range = (place(number, Seq::START), last_place(number));
        let last = self.append.find_head.query_row(range, |row| row.get(0)).optional()?;
        Ok(Some(KnownTask { number, head: last.map_or(Seq::START, seq_at), summary }))
    }

    fn task_number(&mut self, scope: i64, task: &TaskId) -> rusqlite::Result<Option<i64>> {
        let recent = self.shared.recent.number(scope, task);
        if let Some(number) = recent.or_else(|| self.filing.number(scope, task)) {
            return Ok(Some(number));
        }
        let place = (hash_of(scope, task.as_str()), scope, task.as_str());
        self.append.find_number.query_row(place, |row| row.get(0)).optional()
    }
}
