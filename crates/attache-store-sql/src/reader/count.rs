//! Counts tasks: from the tally where it knows, else in the database.

use attache_domain::TaskState;
use attache_store::{IndexCounts, ListQuery, StoreError};
use rusqlite::{Connection, Statement};

use super::Reader;
use crate::error::{is_corrupt, read_failed};
use crate::stored::{code_of, millisecond_from, state_of};
use crate::tally::TallyChange;

pub(super) struct Statements<'c> {
    all: Statement<'c>,
    since: Statement<'c>,
    before: Statement<'c>,
}

impl<'c> Statements<'c> {
    pub(super) fn prepare(connection: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            all: connection.prepare(
                "SELECT scope, state, count(*) FROM task INDEXED BY task_by_status
                 WHERE hidden = 0 GROUP BY scope, state",
            )?,
            since: connection.prepare(&limited_count("status_at >= ?3"))?,
            before: connection.prepare(&limited_count("status_at < ?3"))?,
        })
    }
}

impl Reader<'_> {
    /// How many tasks of a caller match the state and the time of `query`.
    pub(super) fn total(&mut self, scope: i64, query: &ListQuery) -> Result<u64, StoreError> {
        if query.since.is_none()
            && let Some(total) = self.shared.tally.of(scope, query.state)
        {
            return Ok(total);
        }
        let since = query.since.map_or(i64::MIN, millisecond_from);
        let states = TaskState::ALL.into_iter().filter(|state| query.state.is_none_or(|only| only == *state));
        let mut total = 0;
        for state in states {
            total += self.count_since(scope, state, since)?;
        }
        Ok(total)
    }

    /// Counts from both ends in growing steps, so that it takes as long as the shorter side.
    fn count_since(&mut self, scope: i64, state: TaskState, since: i64) -> Result<u64, StoreError> {
        let all = self.shared.tally.of(scope, Some(state));
        for limit in [500_u32, 5_000, 50_000] {
            let filter = (scope, code_of(state), since, limit);
            let found = self.count.since.query_row(filter, count).map_err(read_failed)?;
            if found < limit.into() {
                return Ok(found);
            }
            let Some(all) = all else { break };
            let left_out = self.count.before.query_row(filter, count).map_err(read_failed)?;
            if left_out < limit.into() {
                return Ok(all.saturating_sub(left_out));
            }
        }
        let filter = (scope, code_of(state), since, i64::MAX);
        self.count.since.query_row(filter, count).map_err(read_failed)
    }

    pub(crate) fn counts(&mut self) -> Result<IndexCounts, StoreError> {
        if let Some(total) = self.shared.tally.all() {
            return Ok(IndexCounts { total });
        }
        let counted = self.count_all()?;
        let total: i64 = counted.iter().map(|change| change.by).sum();
        Ok(IndexCounts { total: u64::try_from(total).unwrap_or(0) })
    }

    /// From here to [`Self::count_and_unpin`] this reader sees the database as it is now.
    pub(crate) fn pin_snapshot(&self) -> rusqlite::Result<()> {
        self.connection.execute_batch("BEGIN")?;
        // A transaction begins with its first read.
        self.connection.query_row("SELECT count(*) FROM schema_step", [], |_| Ok(()))
    }

    /// Gives the tally what it starts from.
    pub(crate) fn count_and_unpin(&mut self) -> Result<(), StoreError> {
        let counted = self.count_all();
        self.connection.execute_batch("COMMIT").map_err(read_failed)?;
        self.shared.tally.complete(counted?);
        Ok(())
    }

    fn count_all(&mut self) -> Result<Vec<TallyChange>, StoreError> {
        match self.count_by_index() {
            Err(error) if is_corrupt(&error) => {
                self.shared.unreadable.report("an index of the listing".into(), &error);
                self.count_past_damage()
            }
            counted => counted.map_err(read_failed),
        }
    }

    fn count_by_index(&mut self) -> rusqlite::Result<Vec<TallyChange>> {
        let mut rows = self.count.all.query(())?;
        let mut counted = Vec::new();
        while let Some(row) = rows.next()? {
            let (scope, code, by) = (row.get(0)?, row.get(1)?, row.get(2)?);
            // A state that is not known here is in no listing either.
            if let Some(state) = state_of(code) {
                counted.push(TallyChange { scope, state, by });
            }
        }
        Ok(counted)
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
