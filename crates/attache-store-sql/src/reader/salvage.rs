//! Reads the listing despite damaged pages: row by row from the table, without an index.
//!
//! Much slower than an index, and used only after one has failed. Rows on damaged pages are left out and reported in
//! the log.

use attache_domain::{Scope, TaskId, TaskKey, Timestamp};
use attache_store::{IndexPage, ListCursor, ListQuery, StoreError};
use rusqlite::{OptionalExtension, Row};

use super::Reader;
use crate::error::{corrupt, is_corrupt, read_failed};
use crate::salvage::each_readable;
use crate::stored::{code_of, millisecond_from, state_of};

/// ?1 the number to start after.
const ROWS: &str =
    "SELECT number, scope, id, context, state, status_at, hidden, unfinished FROM task NOT INDEXED
    WHERE number > ?1 ORDER BY number";

/// The columns of `ROWS`.
struct TaskRow {
    scope: i64,
    id: String,
    context: String,
    state: u8,
    status_at: i64,
    hidden: bool,
    unfinished: bool,
}

impl TaskRow {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            scope: row.get(1)?,
            id: row.get(2)?,
            context: row.get(3)?,
            state: row.get(4)?,
            status_at: row.get(5)?,
            hidden: row.get(6)?,
            unfinished: row.get(7)?,
        })
    }
}

impl Reader<'_> {
    pub(super) fn list_past_damage(
        &mut self,
        scope: i64,
        query: &ListQuery,
    ) -> Result<IndexPage, StoreError> {
        let since = query.since.map_or(i64::MIN, millisecond_from);
        let (state, context) = (query.state.map(code_of), query.context.as_ref().map(|it| it.as_str()));
        let matches = |row: &TaskRow| {
            row.scope == scope
                && !row.hidden
                && state.is_none_or(|state| state == row.state)
                && context.is_none_or(|context| context == row.context)
                && row.status_at >= since
        };
        let mut places = Vec::new();
        self.each_readable(|row| {
            if matches(&row)
                && let Ok(status_at) = Timestamp::from_millisecond(row.status_at)
            {
                places.push(ListCursor { status_at, task: TaskId::new(row.id) });
            }
        })?;
        let total = places.len() as u64;
        let key = |place: &ListCursor| (place.status_at, place.task.as_str().to_owned());
        places.sort_by_cached_key(|place| std::cmp::Reverse(key(place)));
        if let Some(after) = &query.after {
            let after = key(after);
            places.retain(|place| key(place) < after);
        }
        let more = places.len() > query.limit;
        places.truncate(query.limit);
        Ok(IndexPage { tasks: places, more, total })
    }

    pub(super) fn unfinished_past_damage(&mut self) -> Result<Vec<TaskKey>, StoreError> {
        let mut found = Vec::new();
        self.each_readable(|row| {
            if row.unfinished {
                found.push((row.status_at, row.scope, row.id));
            }
        })?;
        found.sort_by_key(|(status_at, ..)| *status_at);
        let mut keys = Vec::with_capacity(found.len());
        for (_, scope, id) in found {
            let named = self
                .connection
                .query_row("SELECT tenant, owner FROM scope WHERE number = ?1", [scope], |row| {
                    Ok(Scope::new(row.get::<_, String>(0)?, row.get::<_, String>(1)?))
                })
                .optional();
            match named {
                Ok(Some(scope)) => keys.push(TaskKey { scope, task: TaskId::new(id) }),
                Ok(None) => {}
                Err(error) if is_corrupt(&error) => {
                    self.shared.unreadable.report(format!("caller number {scope}"), &error);
                }
                Err(error) => return Err(read_failed(error)),
            }
        }
        Ok(keys)
    }

    pub(super) fn count_past_damage(&mut self) -> Result<u64, StoreError> {
        let mut counted = 0;
        self.each_readable(|row| counted += u64::from(!row.hidden && state_of(row.state).is_some()))?;
        Ok(counted)
    }

    /// Every readable row of the listing, by number.
    fn each_readable(&mut self, mut take: impl FnMut(TaskRow)) -> Result<(), StoreError> {
        let mut left_out = 0;
        let passed_over = each_readable(self.connection, ROWS, 0, |row| match TaskRow::of(row) {
            Ok(row) => take(row),
            Err(_) => left_out += 1,
        });
        let damaged = |error| match read_failed(error) {
            StoreError::Corrupt { what } => {
                corrupt(format!("the listing is damaged: {what}; `attache store check` says more"))
            }
            other => other,
        };
        left_out += passed_over.map_err(damaged)?;
        if left_out > 0 {
            let row = format!("at most {left_out} rows of the listing");
            self.shared.unreadable.report(row, &"a page of the database is damaged");
        }
        Ok(())
    }
}
