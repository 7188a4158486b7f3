//! Answers questions on a connection of its own, with statements prepared once.

mod count;
mod events;
mod list;

pub(crate) use events::FIND_TASK;

use std::sync::Arc;

use attache_domain::Scope;
use attache_store::StoreError;
use rusqlite::{Connection, OptionalExtension, Statement};

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
    events: events::Statements<'c>,
    list: list::Statements<'c>,
    count: count::Statements<'c>,
}

impl<'c> Reader<'c> {
    pub(crate) fn prepare(connection: &'c Connection, shared: Arc<Shared>) -> rusqlite::Result<Self> {
        Ok(Self {
            connection,
            shared,
            scope: connection.prepare("SELECT number FROM scope WHERE tenant = ?1 AND owner = ?2")?,
            record: connection.prepare("SELECT value FROM record WHERE space = ?1 AND key = ?2")?,
            events: events::Statements::prepare(connection)?,
            list: list::Statements::prepare(connection)?,
            count: count::Statements::prepare(connection)?,
        })
    }

    pub(crate) fn record(&mut self, space: &str, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.record.query_row((space, key), |row| row.get(0)).optional().map_err(read_failed)
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
