//! The reserved task ids in memory, and the clients that wait for their first message.
//!
//! The records are the truth; they are read when the session starts.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use attache_domain::{ContextId, Fault, IgnorePoison, Scope, TaskId, TaskKey, TaskState, Timestamp};
use attache_store::{IndexPage, ListCursor, ListQuery};

/// Ids that one caller may have reserved at a time.
const MAX_RESERVED: usize = 10_000;

#[derive(Default)]
pub(crate) struct ReservedTasks {
    callers: Mutex<HashMap<Scope, BTreeMap<TaskId, ReservedTask>>>,
    /// The readers of all tasks of a caller.
    connected: Mutex<HashMap<Scope, usize>>,
}

struct ReservedTask {
    at: Timestamp,
    context: ContextId,
    readers: usize,
}

/// Held by a reader of the task. While it lives, the reservation does not expire.
pub(crate) struct ReservedReader {
    tasks: Arc<ReservedTasks>,
    key: TaskKey,
}

/// Held by a reader of all tasks of a caller. While it lives, none of the caller's reservations expires.
pub(crate) struct ReservedTasksReader {
    tasks: Arc<ReservedTasks>,
    scope: Scope,
}

impl ReservedTasks {
    pub(crate) fn insert(&self, key: &TaskKey, at: Timestamp, context: ContextId) {
        let mut callers = self.callers.lock().ignore_poison();
        let tasks = callers.entry(key.scope.clone()).or_default();
        tasks.insert(key.task.clone(), ReservedTask { at, context, readers: 0 });
    }

    /// Refuses when the caller has too many.
    pub(crate) fn check_room(&self, scope: &Scope) -> Result<(), Fault> {
        let callers = self.callers.lock().ignore_poison();
        if callers.get(scope).is_none_or(|tasks| tasks.len() < MAX_RESERVED) {
            return Ok(());
        }
        let what =
            format!("{MAX_RESERVED} tasks wait for their first message; send one, or cancel some of them");
        Err(Fault::LimitReached { what })
    }

    pub(crate) fn remove(&self, key: &TaskKey) {
        let mut callers = self.callers.lock().ignore_poison();
        if let Some(tasks) = callers.get_mut(&key.scope) {
            tasks.remove(&key.task);
            if tasks.is_empty() {
                callers.remove(&key.scope);
            }
        }
    }

    pub(crate) fn contains(&self, key: &TaskKey) -> bool {
        self.find(key, |_| ()).is_some()
    }

    pub(crate) fn is_read(&self, key: &TaskKey) -> bool {
        self.is_connected(&key.scope) || self.find(key, |task| task.readers > 0).unwrap_or(false)
    }

    fn is_connected(&self, scope: &Scope) -> bool {
        self.connected.lock().ignore_poison().contains_key(scope)
    }

    pub(crate) fn read_all(self: &Arc<Self>, scope: &Scope) -> ReservedTasksReader {
        *self.connected.lock().ignore_poison().entry(scope.clone()).or_default() += 1;
        ReservedTasksReader { tasks: self.clone(), scope: scope.clone() }
    }

    fn find<T>(&self, key: &TaskKey, look: impl FnOnce(&mut ReservedTask) -> T) -> Option<T> {
        let mut callers = self.callers.lock().ignore_poison();
        callers.get_mut(&key.scope)?.get_mut(&key.task).map(look)
    }

    pub(crate) fn read(self: &Arc<Self>, key: &TaskKey) -> ReservedReader {
        self.find(key, |task| task.readers += 1);
        ReservedReader { tasks: self.clone(), key: key.clone() }
    }

    /// Adds the ids that the query asks for to a page of tasks. Those from before `oldest` have expired, unless they are read.
    pub(crate) fn add_to(&self, query: &ListQuery, oldest: Timestamp, page: &mut IndexPage) {
        if query.state.is_some_and(|state| state != TaskState::Submitted) {
            return;
        }
        let place = |cursor: &ListCursor| (cursor.status_at, cursor.task.clone());
        let is_connected = self.is_connected(&query.scope);
        let callers = self.callers.lock().ignore_poison();
        let Some(tasks) = callers.get(&query.scope) else { return };
        let is_wanted = |task: &ReservedTask| {
            (task.at >= oldest || task.readers > 0 || is_connected)
                && query.context.as_ref().is_none_or(|context| *context == task.context)
                && query.since.is_none_or(|since| task.at >= since)
        };
        let wanted = tasks.iter().filter(|(_, task)| is_wanted(task));
        let mut found: Vec<_> =
            wanted.map(|(id, task)| ListCursor { status_at: task.at, task: id.clone() }).collect();
        drop(callers);
        page.total += found.len() as u64;
        if let Some(after) = &query.after {
            found.retain(|cursor| place(cursor) < place(after));
        }
        page.tasks.append(&mut found);
        page.tasks.sort_by_key(|cursor| std::cmp::Reverse(place(cursor)));
        page.more |= page.tasks.len() > query.limit;
        page.tasks.truncate(query.limit);
    }
}

impl Drop for ReservedTasksReader {
    fn drop(&mut self) {
        let mut connected = self.tasks.connected.lock().ignore_poison();
        if let Some(count) = connected.get_mut(&self.scope) {
            *count -= 1;
            if *count == 0 {
                connected.remove(&self.scope);
            }
        }
    }
}

impl Drop for ReservedReader {
    fn drop(&mut self) {
        self.tasks.find(&self.key, |task| task.readers = task.readers.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn key(task: &str) -> TaskKey {
        TaskKey { scope: Scope::new("", "me"), task: task.into() }
    }

    fn cursor(second: i64, task: &str) -> ListCursor {
        ListCursor { status_at: at(second), task: task.into() }
    }

    fn query(after: Option<ListCursor>) -> ListQuery {
        ListQuery { scope: key("").scope, context: None, state: None, since: None, after, limit: 3 }
    }

    fn reserved() -> Arc<ReservedTasks> {
        let tasks = Arc::new(ReservedTasks::default());
        for (second, task) in [(1, "r1"), (4, "r4"), (6, "r6")] {
            tasks.insert(&key(task), at(second), "c".into());
        }
        let other = TaskKey { scope: Scope::new("", "you"), ..key("theirs") };
        tasks.insert(&other, at(5), "c".into());
        tasks
    }

    #[test]
    fn pages_hold_tasks_and_reserved_ids_in_the_order_of_time() {
        let tasks = reserved();
        let mut page = IndexPage { tasks: vec![cursor(5, "t5"), cursor(3, "t3")], more: false, total: 2 };
        tasks.add_to(&query(None), at(0), &mut page);
        assert_eq!(page.tasks, [cursor(6, "r6"), cursor(5, "t5"), cursor(4, "r4")]);
        assert_eq!((page.more, page.total), (true, 5));
        let mut page = IndexPage { tasks: vec![cursor(3, "t3")], more: false, total: 2 };
        tasks.add_to(&query(Some(cursor(4, "r4"))), at(0), &mut page);
        assert_eq!(page.tasks, [cursor(3, "t3"), cursor(1, "r1")]);
        assert_eq!((page.more, page.total), (false, 5));
    }

    #[test]
    fn filters_apply_to_reserved_ids() {
        let tasks = reserved();
        let listed = |change: fn(&mut ListQuery)| {
            let mut query = query(None);
            change(&mut query);
            let mut page = IndexPage::default();
            tasks.add_to(&query, at(0), &mut page);
            page.tasks.len()
        };
        assert_eq!(listed(|_| {}), 3);
        assert_eq!(listed(|query| query.state = Some(TaskState::Submitted)), 3);
        assert_eq!(listed(|query| query.state = Some(TaskState::Working)), 0);
        assert_eq!(listed(|query| query.context = Some("d".into())), 0);
        assert_eq!(listed(|query| query.since = Some(at(4))), 2);
    }

    #[test]
    fn what_has_expired_is_listed_only_while_it_is_read() {
        let tasks = reserved();
        let listed = || {
            let mut page = IndexPage::default();
            tasks.add_to(&query(None), at(5), &mut page);
            page.tasks.len()
        };
        assert_eq!(listed(), 1);
        let reader = tasks.read(&key("r1"));
        assert_eq!(listed(), 2);
        drop(reader);
        let (one, two) = (tasks.read_all(&key("").scope), tasks.read_all(&key("").scope));
        assert!(listed() == 3 && tasks.is_read(&key("r1")));
        drop(one);
        assert_eq!(listed(), 3);
        drop(two);
        assert!(listed() == 1 && !tasks.is_read(&key("r1")));
        let _other = tasks.read_all(&Scope::new("", "you"));
        assert_eq!(listed(), 1);
    }

    #[test]
    fn an_id_has_readers_until_the_last_has_gone() {
        let tasks = reserved();
        assert!(!tasks.is_read(&key("r1")));
        let (one, two) = (tasks.read(&key("r1")), tasks.read(&key("r1")));
        drop(one);
        assert!(tasks.is_read(&key("r1")));
        drop(two);
        assert!(!tasks.is_read(&key("r1")));
        tasks.remove(&key("r1"));
        assert!(!tasks.contains(&key("r1")));
    }
}
