//! Pages of the task listing, and the tasks that need work.

use attache_domain::{Scope, TaskId, TaskKey, TaskState, TaskSummary, Timestamp};
use attache_store::{IndexPage, ListCursor, ListQuery, StoreError};
use rusqlite::{Connection, OptionalExtension, Params, Row, Statement};

use super::Reader;
use crate::error::{corrupt, is_of_one_row, read_failed};
use crate::stored::{FIND_SUMMARY, code_of, millisecond_from, summary_of};
use crate::unreadable::UnreadableRows;

pub(super) struct Statements<'c> {
    all: Statement<'c>,
    by_state: Statement<'c>,
    unfinished: Statement<'c>,
    summary: Statement<'c>,
}

/// ?1 scope, ?2 and ?3 the position to start after, ?4 since.
const PAGE: &str = "SELECT status_at, id FROM task INDEXED BY task_by_status
    WHERE hidden = 0 AND scope = ?1 AND (status_at, id) < (?2, ?3) AND status_at >= ?4";
/// Without a limit: the reader stops when it has enough readable rows.
const ORDER: &str = "ORDER BY status_at DESC, id DESC";

impl<'c> Statements<'c> {
    pub(super) fn prepare(connection: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            all: connection.prepare(&every_state())?,
            by_state: connection.prepare(&one_state())?,
            unfinished: connection.prepare(
                "SELECT tenant, owner, id, task.number FROM task INDEXED BY task_unfinished
                 CROSS JOIN scope ON scope.number = task.scope
                 WHERE unfinished = 1 ORDER BY status_at",
            )?,
            summary: connection.prepare(FIND_SUMMARY)?,
        })
    }
}

/// The index is sorted within each state. SQLite merges the sorted runs, and stops at the limit.
pub(super) fn every_state() -> String {
    let runs = TaskState::ALL.map(|state| format!("{PAGE} AND state = {}", code_of(state)));
    format!("{} {ORDER}", runs.join(" UNION ALL "))
}

/// ?5 the state.
pub(super) fn one_state() -> String {
    format!("{PAGE} AND state = ?5 {ORDER}")
}

impl Reader<'_> {
    pub(crate) fn list(&mut self, query: &ListQuery) -> Result<IndexPage, StoreError> {
        let Some(scope) = self.scope_number(&query.scope)? else { return Ok(IndexPage::default()) };
        let listed = match &query.context {
            Some(context) => self.list_context(scope, context, query),
            None => self.list_by_index(scope, query),
        };
        match listed {
            Err(StoreError::Corrupt { what }) => {
                self.shared.unreadable.report("an index of the listing".into(), &what);
                self.list_past_damage(scope, query)
            }
            listed => listed,
        }
    }

    fn list_by_index(&mut self, scope: i64, query: &ListQuery) -> Result<IndexPage, StoreError> {
        let total = self.total(scope, query)?;
        // One more than requested shows whether more follow.
        let fetched = query.limit.saturating_add(1);
        let unreadable = &self.shared.unreadable;
        let (before_at, before_id) = match &query.after {
            Some(after) => (after.status_at.as_millisecond(), after.task.as_str()),
            None => (i64::MAX, ""),
        };
        let since = query.since.map_or(i64::MIN, millisecond_from);
        let mut tasks = match query.state.map(code_of) {
            None => page(&mut self.list.all, (scope, before_at, before_id, since), fetched, unreadable)?,
            Some(state) => {
                let filter = (scope, before_at, before_id, since, state);
                page(&mut self.list.by_state, filter, fetched, unreadable)?
            }
        };
        let more = tasks.len() > query.limit;
        tasks.truncate(query.limit);
        Ok(IndexPage { tasks, more, total })
    }

    pub(crate) fn unfinished(&mut self) -> Result<Vec<TaskKey>, StoreError> {
        match self.unfinished_by_index() {
            Err(StoreError::Corrupt { what }) => {
                self.shared.unreadable.report("the index of the tasks at work".into(), &what);
                self.unfinished_past_damage()
            }
            found => found,
        }
    }

    fn unfinished_by_index(&mut self) -> Result<Vec<TaskKey>, StoreError> {
        let mut rows = self.list.unfinished.query(()).map_err(read_failed)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(read_failed)? {
            match key_of(row) {
                Ok(key) => found.push(key),
                Err(error) if is_of_one_row(&error) => {
                    let number: i64 = row.get(3).unwrap_or_default();
                    self.shared.unreadable.report(format!("listing row of task number {number}"), &error);
                }
                Err(error) => return Err(read_failed(error)),
            }
        }
        Ok(found)
    }

    pub(crate) fn summary(&mut self, key: &TaskKey) -> Result<Option<TaskSummary>, StoreError> {
        let Some(number) = self.task_number(key)? else { return Ok(None) };
        self.list.summary.query_row([number], summary_of).optional().map_err(read_failed)
    }
}

/// Up to `limit` readable rows.
fn page(
    statement: &mut Statement<'_>,
    filter: impl Params,
    most: usize,
    unreadable: &UnreadableRows,
) -> Result<Vec<ListCursor>, StoreError> {
    let mut rows = statement.query(filter).map_err(read_failed)?;
    let mut tasks: Vec<ListCursor> = Vec::new();
    while tasks.len() < most
        && let Some(row) = rows.next().map_err(read_failed)?
    {
        match place_of(row) {
            Ok(place) => tasks.push(place),
            Err(error) => {
                let after = tasks.last().map_or("the first", |last| last.task.as_str());
                unreadable.report(format!("listing row after {after}"), &error);
            }
        }
    }
    Ok(tasks)
}

/// The columns of `unfinished`.
fn key_of(row: &Row<'_>) -> rusqlite::Result<TaskKey> {
    let scope = Scope::new(row.get::<_, String>(0)?, row.get::<_, String>(1)?);
    Ok(TaskKey { scope, task: TaskId::new(row.get::<_, String>(2)?) })
}

/// From a status time and an id.
pub(super) fn place_of(row: &Row<'_>) -> Result<ListCursor, StoreError> {
    let status_at = row.get(0).map_err(read_failed)?;
    let task = row.get_ref(1).map_err(read_failed)?.as_str().map_err(corrupt)?;
    Ok(ListCursor {
        status_at: Timestamp::from_millisecond(status_at).map_err(corrupt)?,
        task: TaskId::new(task),
    })
}
