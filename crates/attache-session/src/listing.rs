//! Pages of tasks and the tokens that lead from one to the next.

use std::sync::Arc;

use attache_domain::{Fault, ListTasks, Scope, TaskId, TaskView, Timestamp};
use attache_store::{ListCursor, ListQuery};

/// A page whose tasks take about so many bytes is not made longer, however many were asked for.
pub(crate) const MAX_PAGE_WEIGHT: usize = 8 << 20;
/// How many tasks of a page are read before their size is checked.
pub(crate) const FIRST_READ_SIZE: usize = 16;

/// One page of a caller's tasks, newest status first.
pub struct TaskPage {
    pub tasks: Vec<Arc<TaskView>>,
    /// Empty on the last page.
    pub next_page_token: String,
    pub page_size: usize,
    pub total_size: u64,
}

pub(crate) fn query(scope: &Scope, list: &ListTasks) -> Result<ListQuery, Fault> {
    let after = match list.page_token.as_str() {
        "" => None,
        token => Some(read_token(token, scope, list).ok_or(Fault::BadPageToken)?),
    };
    Ok(ListQuery {
        scope: scope.clone(),
        context: list.context.clone(),
        state: list.state,
        since: list.status_since,
        after,
        limit: list.page_size,
    })
}

/// A token names the last task shown and the filters it was shown for.
pub(crate) fn token(scope: &Scope, list: &ListTasks, last: &ListCursor) -> String {
    let at = last.status_at.as_millisecond();
    format!("{at:x}.{:x}.{}", checksum(scope, list, at, last.task.as_str()), last.task)
}

fn read_token(token: &str, scope: &Scope, list: &ListTasks) -> Option<ListCursor> {
    let (at, rest) = token.split_once('.')?;
    let (found, task) = rest.split_once('.')?;
    let at = i64::from_str_radix(at, 16).ok()?;
    if u64::from_str_radix(found, 16).ok()? != checksum(scope, list, at, task) || task.is_empty() {
        return None;
    }
    let status_at = Timestamp::from_millisecond(at).ok()?;
    Some(ListCursor { status_at, task: TaskId::from(task) })
}

/// FNV-1a over the filters and the place: a token is no secret, this only catches honest mistakes.
fn checksum(scope: &Scope, list: &ListTasks, at: i64, task: &str) -> u64 {
    let since = list.status_since.map(|since| since.as_millisecond());
    let text = format!("{scope:?}{:?}{:?}{since:?}{at}{task}", list.context, list.state);
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l3_a_token_leads_back_to_its_place_and_only_with_its_filters() {
        let scope = Scope::new("", "me");
        let list = ListTasks::default();
        let place =
            ListCursor { status_at: Timestamp::from_millisecond(1_234_567).unwrap(), task: "t.1".into() };
        let mut next = ListTasks { page_token: token(&scope, &list, &place), ..list };
        assert_eq!(query(&scope, &next).unwrap().after, Some(place));
        next.context = Some("other".into());
        assert!(query(&scope, &next).is_err());
        next.page_token = "rubbish".into();
        assert!(query(&scope, &next).is_err());
    }
}
