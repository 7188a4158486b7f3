//! Counts tasks. The database keeps counts by state; counts since a time use the index.

use attache_domain::TaskState;
use attache_store::{IndexCounts, ListQuery, StoreError};
use rusqlite::{Connection, Statement};

use super::Reader;
use crate::error::{is_corrupt, read_failed};
use crate::stored::{code_of, millisecond_from};

pub(super) struct Statements<'c> {
    all: Statement<'c>,
    of_scope: Statement<'c>,
    since: Statement<'c>,
    before: Statement<'c>,
}

impl<'c> Statements<'c> {
    pub(super) fn prepare(connection: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            all: connection.prepare("SELECT coalesce(sum(tasks), 0) FROM task_count")?,
            of_scope: connection.prepare(
                "SELECT coalesce(sum(tasks), 0) FROM task_count
                 WHERE scope = ?1 AND (?2 IS NULL OR state = ?2)",
            )?,
            since: connection.prepare(&limited_count("status_at >= ?3"))?,
            before: connection.prepare(&limited_count("status_at < ?3"))?,
        })
    }
}

impl Reader<'_> {
    /// The number of a caller's tasks that match the state and the time of `query`.
    pub(super) fn total(&mut self, scope: i64, query: &ListQuery) -> Result<u64, StoreError> {
        let Some(since) = query.since.map(millisecond_from) else {
            return self.count_in(scope, query.state);
        };
        let states = TaskState::ALL.into_iter().filter(|state| query.state.is_none_or(|only| only == *state));
        let mut total = 0;
        for state in states {
            total += self.count_since(scope, state, since)?;
        }
        Ok(total)
    }

    /// The tasks of a caller, in `state` or in any.
    fn count_in(&mut self, scope: i64, state: Option<TaskState>) -> Result<u64, StoreError> {
        self.count.of_scope.query_row((scope, state.map(code_of)), count).map_err(read_failed)
    }

    /// Counts from both ends in growing steps, so that it takes as long as the shorter side.
    fn count_since(&mut self, scope: i64, state: TaskState, since: i64) -> Result<u64, StoreError> {
        let all = self.count_in(scope, Some(state))?;
        for limit in [500_u32, 5_000, 50_000] {
            let filter = (scope, code_of(state), since, limit);
            let found = self.count.since.query_row(filter, count).map_err(read_failed)?;
            if found < limit.into() {
                return Ok(found);
            }
            let left_out = self.count.before.query_row(filter, count).map_err(read_failed)?;
            if left_out < limit.into() {
                return Ok(all.saturating_sub(left_out));
            }
        }
        let filter = (scope, code_of(state), since, i64::MAX);
        self.count.since.query_row(filter, count).map_err(read_failed)
    }

    pub(crate) fn counts(&mut self) -> Result<IndexCounts, StoreError> {
        let total = match self.count.all.query_row((), count) {
            Err(error) if is_corrupt(&error) => {
                self.shared.unreadable.report("the counts of the listing".into(), &error);
                self.count_past_damage()?
            }
            counted => counted.map_err(read_failed)?,
        };
        Ok(IndexCounts { total })
    }
}

/// ?1 scope, ?2 state, ?3 the time, ?4 where to stop.
fn limited_count(condition: &str) -> String {
    format!(
        "SELECT count(*) FROM (SELECT 1 FROM task INDEXED BY task_by_status
         WHERE hidden = 0 AND scope = ?1 AND state = ?2 AND {condition} LIMIT ?4)"
    )
}

fn count(row: &rusqlite::Row<'_>) -> rusqlite::Result<u64> {
    let count: i64 = row.get(0)?;
    Ok(u64::try_from(count).unwrap_or(0))
}
