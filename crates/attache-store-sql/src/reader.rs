//! Executes queries on a connection with prepared statements.

mod context;
mod count;
mod events;
mod list;
mod salvage;

use std::sync::Arc;

use attache_domain::Scope;
use attache_store::{Record, StoreError};
use rusqlite::{Connection, OptionalExtension, Row, Statement};

pub(crate) use events::batch_of;

use crate::checksum;
use crate::error::{corrupt, read_failed};
use crate::scopes::Scopes;
use crate::unreadable::UnreadableRows;

/// The state that writer and readers share.
#[derive(Default)]
pub(crate) struct SharedState {
    pub(crate) scopes: Scopes,
    pub(crate) unreadable: UnreadableRows,
}

pub(crate) struct Reader<'c> {
    connection: &'c Connection,
    shared: Arc<SharedState>,
    scope: Statement<'c>,
    record: Statement<'c>,
    records: Statement<'c>,
    events: events::Statements<'c>,
    list: list::Statements<'c>,
    count: count::Statements<'c>,
    in_context: Statement<'c>,
}

impl<'c> Reader<'c> {
    pub(crate) fn prepare(connection: &'c Connection, shared: Arc<SharedState>) -> rusqlite::Result<Self> {
        Ok(Self {
            connection,
            shared,
            scope: connection.prepare("SELECT number FROM scope WHERE tenant = ?1 AND owner = ?2")?,
            record: connection
                .prepare("SELECT key, value, checksum FROM record WHERE space = ?1 AND key = ?2")?,
            records: connection.prepare(
                "SELECT key, value, checksum FROM record
                 WHERE space = ?1 AND key >= ?2 AND (?3 IS NULL OR key > ?3) ORDER BY key",
            )?,
            events: events::Statements::prepare(connection)?,
            list: list::Statements::prepare(connection)?,
            count: count::Statements::prepare(connection)?,
            in_context: connection.prepare(context::TASKS)?,
        })
    }

    pub(crate) fn record(&mut self, space: &str, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let mut rows = self.record.query((space, key)).map_err(read_failed)?;
        match rows.next().map_err(read_failed)? {
            Some(row) => record_of(row, space).map(|record| Some(record.value)),
            None => Ok(None),
        }
    }

    pub(crate) fn records(
        &mut self,
        space: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        // A later `after` is the better start for the index.
        let from = after.unwrap_or_default().max(prefix);
        let mut rows = self.records.query((space, from, after)).map_err(read_failed)?;
        let mut found = Vec::new();
        while found.len() < limit
            && let Some(row) = rows.next().map_err(read_failed)?
        {
            let key = row.get_ref(0).map_err(read_failed)?.as_bytes().unwrap_or_default();
            if !key.starts_with(prefix.as_bytes()) {
                break;
            }
            match record_of(row, space) {
                Ok(record) => found.push(record),
                Err(error) => {
                    let row = format!("record {space}/{}", String::from_utf8_lossy(key));
                    self.shared.unreadable.report(row, &error);
                }
            }
        }
        Ok(found)
    }

    /// The number of a caller; `None` if the caller has no data.
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

/// From a key, a value and a checksum.
pub(crate) fn record_of(row: &Row<'_>, space: &str) -> Result<Record, StoreError> {
    let named = |error: StoreError, key: &str| match error {
        StoreError::Corrupt { what } => corrupt(format!("the record {space}/{key}: {what}")),
        other => other,
    };
    let key: String = row.get(0).map_err(read_failed)?;
    let value: Vec<u8> = row.get(1).map_err(|error| named(read_failed(error), &key))?;
    let kept = row.get(2).map_err(|error| named(read_failed(error), &key))?;
    let found = checksum::of_record(space, &key, &value);
    checksum::verify(kept, found).map_err(|error| named(error, &key))?;
    Ok(Record { key, value })
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
        schema::migrate(&mut connection, Path::new("test")).unwrap();
        let all = plan(&connection, &list::every_state());
        assert!(all.contains("MERGE") && !all.contains("TEMP B-TREE") && !all.contains("SCAN"), "{all}");
        let steps = all.lines().filter(|line| line.contains("scope=? AND state=? AND"));
        assert_eq!(steps.count(), 8, "{all}");
        let by_state = plan(&connection, &list::one_state());
        assert!(!by_state.contains("TEMP B-TREE") && !by_state.contains("SCAN"), "{by_state}");
        let context = plan(&connection, context::TASKS);
        assert!(
            context.contains("SEARCH task USING INDEX task_by_context (scope=? AND context=?)"),
            "{context}"
        );
    }
}
