//! Pages of tasks and the tokens that lead from one to the next.

use std::sync::Arc;

use attache_domain::{Fault, ListTasks, PromptState, Scope, TaskId, TaskKey, TaskState, TaskView, Timestamp};
use attache_store::{IndexPage, ListCursor, ListQuery};

use crate::SessionService;
use crate::service::internal;
use crate::weight::weight_of_view;

/// A page whose tasks take about so many bytes is not made longer, however many were asked for.
const MAX_PAGE_WEIGHT: usize = 8 << 20;
/// How many tasks of a page are read before their size is checked.
const FIRST_READ_SIZE: usize = 16;

/// One page of a caller's tasks, newest status first.
pub struct TaskPage {
    pub tasks: Vec<Arc<TaskView>>,
    /// Empty on the last page.
    pub next_page_token: String,
    pub page_size: usize,
    pub total_size: u64,
}

impl SessionService {
    pub async fn list(&self, scope: &Scope, list: &ListTasks) -> Result<TaskPage, Fault> {
        let query = query(scope, list)?;
        let mut listed = match list.prompt {
            None => self.stores.index.list(&query).await.map_err(internal)?,
            Some(prompt) => self.list_states(&query, prompt.task_states()).await?,
        };
        if list.prompt.is_none_or(|prompt| prompt == PromptState::Running) {
            self.reserved_tasks.add_to(&query, self.oldest_reservation(), &mut listed);
        }
        // Few at first, for they may be large; a page that is large enough ends early.
        let (mut tasks, mut weight, mut shown) = (Vec::new(), 0, 0);
        while shown < listed.tasks.len() && weight < MAX_PAGE_WEIGHT {
            let next = (shown * 2).max(FIRST_READ_SIZE).min(listed.tasks.len());
            let places = &listed.tasks[shown..next];
            let keys = places.iter().map(|place| TaskKey { scope: scope.clone(), task: place.task.clone() });
            let views = self.views(keys.collect()).await.map_err(internal)?;
            weight += views.iter().map(|view| weight_of_view(view)).sum::<usize>();
            tasks.extend(views);
            shown = next;
        }
        let next_page_token = match listed.tasks.get(..shown).and_then(<[_]>::last) {
            Some(last) if listed.more || shown < listed.tasks.len() => token(scope, list, last),
            _ => String::new(),
        };
        // Some may have moved on since the index chose them.
        tasks.retain(|view| {
            list.state.is_none_or(|state| view.status.state == state)
                && list.prompt.is_none_or(|prompt| PromptState::of_view(view) == prompt)
        });
        Ok(TaskPage { tasks, next_page_token, page_size: list.page_size, total_size: listed.total })
    }

    /// The tasks of the query that have one of these states.
    async fn list_states(
        &self,
        query: &ListQuery,
        states: impl Iterator<Item = TaskState>,
    ) -> Result<IndexPage, Fault> {
        let mut pages = Vec::new();
        for state in states.filter(|state| query.state.is_none_or(|only| only == *state)) {
            let query = ListQuery { state: Some(state), ..query.clone() };
            pages.push(self.stores.index.list(&query).await.map_err(internal)?);
        }
        Ok(merged(pages, query.limit))
    }
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

/// One page of several that were listed with the same place and limit, by different states.
fn merged(pages: Vec<IndexPage>, limit: usize) -> IndexPage {
    let total = pages.iter().map(|page| page.total).sum();
    let mut more = pages.iter().any(|page| page.more);
    let mut tasks: Vec<_> = pages.into_iter().flat_map(|page| page.tasks).collect();
    tasks.sort_by(|one, other| (other.status_at, &other.task).cmp(&(one.status_at, &one.task)));
    more |= tasks.len() > limit;
    tasks.truncate(limit);
    IndexPage { tasks, more, total }
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
    let mut text = format!("{scope:?}{:?}{:?}{since:?}{at}{task}", list.context, list.state);
    if let Some(prompt) = list.prompt {
        text.push_str(&format!("{prompt:?}"));
    }
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_several_states_become_one() {
        let cursor = |second: i64, task: &str| ListCursor {
            status_at: Timestamp::from_second(second).unwrap(),
            task: task.into(),
        };
        let page = |tasks: &[(i64, &str)], more| IndexPage {
            tasks: tasks.iter().map(|(second, task)| cursor(*second, task)).collect(),
            more,
            total: 7,
        };
        let merged_page =
            merged(vec![page(&[(5, "a"), (1, "b")], false), page(&[(5, "c"), (2, "d")], false)], 3);
        assert_eq!(merged_page.tasks, [cursor(5, "c"), cursor(5, "a"), cursor(2, "d")]);
        assert!(merged_page.more && merged_page.total == 14);
        assert!(!merged(vec![page(&[(1, "b")], false), page(&[], false)], 3).more);
        assert!(merged(vec![page(&[(1, "b")], true)], 3).more);
    }

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
