//! The listing of one context.
//!
//! A context has few tasks, so all of them are read and sorted.

use attache_domain::ContextId;
use attache_store::{IndexPage, ListQuery, StoreError};

use super::Reader;
use super::list::place_of;
use crate::error::read_failed;
use crate::stored::{code_of, millisecond_from};

/// ?1 scope, ?2 context, ?3 state or null, ?4 since.
pub(super) const TASKS: &str = "SELECT status_at, id FROM task INDEXED BY task_by_context
    WHERE scope = ?1 AND context = ?2 AND hidden = 0 AND (?3 IS NULL OR state = ?3) AND status_at >= ?4
    ORDER BY status_at DESC, id DESC";

impl Reader<'_> {
    pub(super) fn list_context(
        &mut self,
        scope: i64,
        context: &ContextId,
        query: &ListQuery,
    ) -> Result<IndexPage, StoreError> {
        let since = query.since.map_or(i64::MIN, millisecond_from);
        let filter = (scope, context.as_str(), query.state.map(code_of), since);
        let mut rows = self.in_context.query(filter).map_err(read_failed)?;
        let mut listed = IndexPage::default();
        while let Some(row) = rows.next().map_err(read_failed)? {
            listed.total += 1;
            if listed.more {
                continue;
            }
            let place = match place_of(row) {
                Ok(place) => place,
                Err(error) => {
                    self.shared.unreadable.report(format!("listing row in the context {context}"), &error);
                    continue;
                }
            };
            let is_before = query
                .after
                .as_ref()
                .is_some_and(|after| (place.status_at, &place.task) >= (after.status_at, &after.task));
            if is_before {
                continue;
            }
            if listed.tasks.len() < query.limit {
                listed.tasks.push(place);
            } else {
                listed.more = true;
            }
        }
        Ok(listed)
    }
}
