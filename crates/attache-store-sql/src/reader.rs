//! Answers questions on a connection of its own, with statements prepared once.

mod context;
mod count;
mod events;
mod list;

use std::sync::Arc;

use attache_domain::Scope;
use attache_store::{Record, StoreError};
use rusqlite::{Connection, OptionalExtension, Statement};

pub(crate) use events::FIND_TASK;

use crate::error::read_failed;
use crate::recent::RecentTasks;
use crate::scopes::Scopes;
use crate::tally::Tally;

/// What writer and readers know together.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) scopes: Scopes,
    pub(crate) tally: Tally,
    pub(crate) recent: RecentTasks,
}

pub(crate) struct Reader<'c> {
    connection: &'c Connection,
    shared: Arc<Shared>,
    scope: Statement<'c>,
    record: Statement<'c>,
    records: Statement<'c>,
    events: events::Statements<'c>,
    list: list::Statements<'c>,
    count: count::Statements<'c>,
    in_context: Statement<'c>,
}

impl<'c> Reader<'c> {
    pub(crate) fn prepare(connection: &'c Connection, shared: Arc<Shared>) -> rusqlite::Result<Self> {
        Ok(Self {
            connection,
            shared,
            scope: connection.prepare("SELECT number FROM scope WHERE tenant = ?1 AND owner = ?2")?,
            record: connection.prepare("SELECT value FROM record WHERE space = ?1 AND key = ?2")?,
            records: connection.prepare(
                "SELECT key, value FROM record WHERE space = ?1 AND key >= ?2 AND (?3 IS NULL OR key > ?3)
                 ORDER BY key LIMIT ?4",
            )?,
            events: events::Statements::prepare(connection)?,
            list: list::Statements::prepare(connection)?,
            count: count::Statements::prepare(connection)?,
            in_context: connection.prepare(context::TASKS)?,
        })
    }

    pub(crate) fn record(&mut self, space: &str, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.record.query_row((space, key), |row| row.get(0)).optional().map_err(read_failed)
    }

    pub(crate) fn records(
        &mut self,
        space: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        // A later `after` is the better place to begin: the index goes straight there.
        let from = after.unwrap_or_default().max(prefix);
        let found = self.records.query_map((space, from, after, limit), |row| {
            Ok(Record { key: row.get(0)?, value: row.get(1)? })
        });
        let found = found.and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(read_failed)?;
        Ok(found.into_iter().take_while(|record| record.key.starts_with(prefix)).collect())
    }

    /// The number of a caller; `None` when there is nothing of that caller.
    fn scope_number(&mut self, scope: &Scope) -> Result<Option<i64>, StoreError> {
        if let Some(number) = self.shared.scopes.number(scope) {
            return Ok(Some(number));
        }
        let found = self.scope.query_row((&*scope.tenant, &*scope.owner), |row| row.get(0));
        let number = found.optional().map_err(read_failed)?;
        if let Some(number) = number {
            self.shared.scopes.remember(scope.clone(), number);
        }
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::schema;

    /// How SQLite would go about it, one step per line.
    fn plan(connection: &Connection, sql: &str) -> String {
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        // Unbound parameters are null, which is no matter here.
        let steps = statement.raw_query().mapped(|row| row.get::<_, String>(3));
        steps.map(|step| step.unwrap() + "\n").collect()
    }

    #[test]
    fn no_page_of_a_listing_looks_at_more_tasks_than_it_must() {
        let mut connection = Connection::open_in_memory().unwrap();
        schema::bring_up_to_date(&mut connection, Path::new("test")).unwrap();
        let all = plan(&connection, &list::every_state());
        assert!(all.contains("MERGE") && !all.contains("TEMP B-TREE") && !all.contains("SCAN"), "{all}");
        let steps = all.lines().filter(|line| line.contains("scope=? AND state=? AND"));
        assert_eq!(steps.count(), 8, "{all}");
        let by_state = plan(&connection, &list::one_state());
        assert!(!by_state.contains("TEMP B-TREE") && !by_state.contains("SCAN"), "{by_state}");
        let context = plan(&connection, context::TASKS);
        assert!(context.contains("SEARCH task USING INTEGER PRIMARY KEY (rowid=?)"), "{context}");
        assert!(!context.contains("task_by_status") && !context.contains("SCAN task"), "{context}");
    }
}
