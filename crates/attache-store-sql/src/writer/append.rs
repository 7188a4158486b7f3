//! One append within a transaction: compares, then writes the batch and the changes of the listing row.

use attache_domain::{Seq, TaskId, TaskKey, TaskSummary};
use attache_store::StoreError;
use rusqlite::{Connection, OptionalExtension, Row, Statement};

use super::{Outcome, WriteReply, Writer};
use crate::checksum;
use crate::error::is_corrupt;
use crate::mark_file::AcknowledgedBatch;
use crate::stored::{code_of, last_place, place, seq_at, summary_of};

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
    find_task: Statement<'c>,
    find_head: Statement<'c>,
    insert_task: Statement<'c>,
    update_status: Statement<'c>,
    update_work: Statement<'c>,
    update_all: Statement<'c>,
    insert_batch: Statement<'c>,
    add_count: Statement<'c>,
}

/// A task in the database.
struct StoredTask {
    number: i64,
    summary: TaskSummary,
}

impl<'c> Statements<'c> {
    pub(super) fn prepare(connection: &'c Connection) -> rusqlite::Result<Self> {
        let prepare = |sql| connection.prepare(sql);
        Ok(Self {
            find_task: prepare(
                "SELECT context, state, status_at, hidden, unfinished, number
                 FROM task INDEXED BY task_by_id WHERE scope = ?1 AND id = ?2",
            )?,
            find_head: prepare(
                "SELECT place FROM batch WHERE place > ?1 AND place <= ?2 ORDER BY place DESC LIMIT 1",
            )?,
            insert_task: prepare(
                "INSERT INTO task (scope, id, context, state, status_at, hidden, unfinished)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (scope, id) DO NOTHING",
            )?,
            // Three updates, because SQLite rewrites every index with a column named here.
            update_status: prepare("UPDATE task SET state = ?2, status_at = ?3 WHERE number = ?1")?,
            update_work: prepare(
                "UPDATE task SET state = ?2, status_at = ?3, unfinished = ?4 WHERE number = ?1",
            )?,
            update_all: prepare(
                "UPDATE task SET state = ?2, status_at = ?3, unfinished = ?4, context = ?5, hidden = ?6
                 WHERE number = ?1",
            )?,
            insert_batch: prepare("INSERT INTO batch (place, body, checksum) VALUES (?1, ?2, ?3)")?,
            add_count: prepare(
                "INSERT INTO task_count (scope, state, tasks) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET tasks = tasks + excluded.tasks",
            )?,
        })
    }
}

impl Writer<'_> {
    pub(super) fn append(&mut self, append: &AppendBody) -> rusqlite::Result<Outcome> {
        let AppendBody { key, expected, last, body, body_checksum, summary } = append;
        let conflict = |head| Ok(Err(StoreError::Conflict { expected: *expected, head }));
        let number = if *expected == Seq::START {
            let scope = self.scope_number_or_new(&key.scope)?;
            match self.open(scope, &key.task, summary)? {
                Some(number) => number,
                None => {
                    let stored = self.find_task(scope, &key.task)?;
                    let head = stored.map(|stored| self.head(stored.number)).transpose()?;
                    return conflict(head.unwrap_or(Seq::START));
                }
            }
        } else {
            let Some(scope) = self.scope_number(&key.scope)? else { return conflict(Seq::START) };
            let Some(stored) = self.find_task(scope, &key.task)? else { return conflict(Seq::START) };
            let head = self.head(stored.number)?;
            if head != *expected {
                return conflict(head);
            }
            self.update(scope, &stored, summary)?;
            stored.number
        };
        let place = place(number, *last);
        let checksum = checksum::at_place(*body_checksum, place);
        self.append.insert_batch.execute((place, body, checksum))?;
        self.last_batch = Some(AcknowledgedBatch { place, checksum });
        Ok(Ok(WriteReply::Done))
    }

    /// Inserts the row of a new task and returns its number; `None` if the task exists.
    fn open(&mut self, scope: i64, task: &TaskId, summary: &TaskSummary) -> rusqlite::Result<Option<i64>> {
        let added = self.append.insert_task.execute((
            scope,
            task.as_str(),
            summary.context.as_str(),
            code_of(summary.state),
            summary.status_at.as_millisecond(),
            summary.hidden,
            summary.unfinished,
        ))?;
        if added == 0 {
            return Ok(None);
        }
        self.count(scope, summary, 1);
        Ok(Some(self.connection.last_insert_rowid()))
    }

    /// Updates only the changed columns of the listing row.
    fn update(&mut self, scope: i64, stored: &StoredTask, summary: &TaskSummary) -> rusqlite::Result<()> {
        let (number, old) = (stored.number, &stored.summary);
        let (state, status_at) = (code_of(summary.state), summary.status_at.as_millisecond());
        // The database stores whole milliseconds.
        let same_time = old.status_at.as_millisecond() == status_at;
        if same_time && *old == (TaskSummary { status_at: old.status_at, ..summary.clone() }) {
            return Ok(());
        }
        if old.context != summary.context || old.hidden != summary.hidden {
            let context = summary.context.as_str();
            let row = (number, state, status_at, summary.unfinished, context, summary.hidden);
            self.append.update_all.execute(row)?;
        } else if old.unfinished != summary.unfinished {
            self.append.update_work.execute((number, state, status_at, summary.unfinished))?;
        } else {
            self.append.update_status.execute((number, state, status_at))?;
        }
        self.count(scope, old, -1);
        self.count(scope, summary, 1);
        Ok(())
    }

    /// Adds a visible task to the counts, or removes it.
    fn count(&mut self, scope: i64, summary: &TaskSummary, by: i64) {
        if !summary.hidden {
            *self.count_changes.entry((scope, code_of(summary.state))).or_default() += by;
        }
    }

    /// At the end of a transaction: writes its changes of the counts.
    pub(super) fn write_counts(&mut self) -> rusqlite::Result<()> {
        for ((scope, state), by) in self.count_changes.drain().filter(|(_, by)| *by != 0) {
            match self.append.add_count.execute((scope, state, by)) {
                // Only listings need the counts, and they count the rows if the counts are unreadable.
                Err(error) if is_corrupt(&error) => {
                    self.shared.unreadable.report("a count of the listing".into(), &error);
                }
                written => written.map(drop)?,
            }
        }
        Ok(())
    }

    /// The number of a task.
    pub(super) fn task_number(&mut self, scope: i64, task: &TaskId) -> rusqlite::Result<Option<i64>> {
        Ok(self.find_task(scope, task)?.map(|stored| stored.number))
    }

    fn find_task(&mut self, scope: i64, task: &TaskId) -> rusqlite::Result<Option<StoredTask>> {
        let read = |row: &Row<'_>| Ok(StoredTask { number: row.get(5)?, summary: summary_of(row)? });
        self.append.find_task.query_row((scope, task.as_str()), read).optional()
    }

    /// The number of the last event of a task.
    fn head(&mut self, task: i64) -> rusqlite::Result<Seq> {
        let range = (place(task, Seq::START), last_place(task));
        let last = self.append.find_head.query_row(range, |row| row.get(0)).optional()?;
        Ok(last.map_or(Seq::START, seq_at))
    }
}
