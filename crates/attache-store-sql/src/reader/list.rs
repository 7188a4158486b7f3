//! Pages of the task listing, and the tasks that need work.

use attache_domain::{Scope, TaskId, TaskKey, TaskState, Timestamp};
use attache_store::{ListCursor, ListQuery, ListedTasks, StoreError};
use rusqlite::{Connection, Params, Row, Statement};

use super::Reader;
use crate::error::{corrupt, read_failed};
use crate::stored::{code_of, millisecond_from};

pub(super) struct Statements<'c> {
    all: Statement<'c>,
    by_state: Statement<'c>,
    unfinished: Statement<'c>,
}

/// ?1 scope, ?2 and ?3 the place to come after, ?4 since, ?5 how many.
const PAGE: &str = "SELECT status_at, id FROM task INDEXED BY task_by_status
    WHERE hidden = 0 AND scope = ?1 AND (status_at, id) < (?2, ?3) AND status_at >= ?4";
const ORDER: &str = "ORDER BY status_at DESC, id DESC LIMIT ?5";

impl<'c> Statements<'c> {
    pub(super) fn prepare(connection: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            all: connection.prepare(&every_state())?,
            by_state: connection.prepare(&one_state())?,
            unfinished: connection.prepare(
                "SELECT tenant, owner, id FROM task INDEXED BY task_unfinished
                 CROSS JOIN scope ON scope.number = task.scope
                 WHERE unfinished = 1 ORDER BY status_at",
            )?,
        })
    }
}

/// The index is sorted within each state. SQLite merges the sorted runs, and stops at the limit.
pub(super) fn every_state() -> String {
    let runs = TaskState::ALL.map(|state| format!("{PAGE} AND state = {}", code_of(state)));
    format!("{} {ORDER}", runs.join(" UNION ALL "))
}

/// ?6 the state.
pub(super) fn one_state() -> String {
    format!("{PAGE} AND state = ?6 {ORDER}")
}

impl Reader<'_> {
    pub(crate) fn list(&mut self, query: &ListQuery) -> Result<ListedTasks, StoreError> {
        let Some(scope) = self.scope_number(&query.scope)? else { return Ok(ListedTasks::default()) };
        if let Some(context) = &query.context {
            return self.list_context(scope, context, query);
        }
        let total = self.total(scope, query)?;
        // One more than asked for tells whether more follow.
        let fetched = i64::try_from(query.limit).unwrap_or(i64::MAX).saturating_add(1);
        let (before_at, before_id) = match &query.after {
            Some(after) => (after.status_at.as_millisecond(), after.task.as_str()),
            None => (i64::MAX, ""),
        };
        let since = query.since.map_or(i64::MIN, millisecond_from);
        let mut tasks = match query.state.map(code_of) {
            None => page(&mut self.list.all, (scope, before_at, before_id, since, fetched))?,
            Some(state) => {
                page(&mut self.list.by_state, (scope, before_at, before_id, since, fetched, state))?
            }
        };
        let more = tasks.len() > query.limit;
        tasks.truncate(query.limit);
        Ok(ListedTasks { tasks, more, total })
    }

    pub(crate) fn unfinished(&mut self) -> Result<Vec<TaskKey>, StoreError> {
        let rows = self.list.unfinished.query_map((), |row| {
            let scope = Scope::new(row.get::<_, String>(0)?, row.get::<_, String>(1)?);
            Ok(TaskKey { scope, task: TaskId::new(row.get::<_, String>(2)?) })
        });
        rows.and_then(Iterator::collect).map_err(read_failed)
    }
}

fn page(statement: &mut Statement<'_>, filter: impl Params) -> Result<Vec<ListCursor>, StoreError> {
    let mut rows = statement.query(filter).map_err(read_failed)?;
    let mut tasks = Vec::new();
    while let Some(row) = rows.next().map_err(read_failed)? {
        tasks.push(place_of(row)?);
    }
    Ok(tasks)
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
