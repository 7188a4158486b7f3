//! The store in memory: for tests, benchmarks and servers without persistence.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use attache_domain::{Event, IgnorePoison, Scope, Seq, TaskId, TaskKey, TaskSummary, Timestamp};

use crate::{
    Append, EventLog, IndexCounts, IndexPage, ListCursor, ListQuery, LogRead, Record, RecordChange, Records,
    Snapshot, StoreError, TaskIndex,
};

/// Loses everything when it is dropped.
#[derive(Default)]
pub struct MemoryStore {
    tasks: Mutex<Tasks>,
    records: Mutex<BTreeMap<(String, String), Vec<u8>>>,
}

#[derive(Default)]
struct Tasks {
    by_key: HashMap<TaskKey, StoredTask>,
    /// The visible tasks of each caller in listing order.
    listed: HashMap<Scope, BTreeSet<(Timestamp, TaskId)>>,
    total: u64,
}

struct StoredTask {
    events: Vec<Arc<Event>>,
    summary: TaskSummary,
    snapshots: Vec<Snapshot>,
}

impl MemoryStore {
    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().ignore_poison()
    }

    fn records(&self) -> MutexGuard<'_, BTreeMap<(String, String), Vec<u8>>> {
        self.records.lock().ignore_poison()
    }
}

#[async_trait]
impl EventLog for MemoryStore {
    async fn append(&self, append: Append) -> Result<(), StoreError> {
        let mut guard = self.tasks();
        let Tasks { by_key, listed, total } = &mut *guard;
        let Append { key, expected, events, summary } = append;
        let old_place = match by_key.get_mut(&key) {
            None if expected != Seq::START => {
                return Err(StoreError::Conflict { expected, head: Seq::START });
            }
            None => {
                *total += u64::from(!summary.hidden);
                by_key.insert(
                    key.clone(),
                    StoredTask { events, summary: summary.clone(), snapshots: Vec::new() },
                );
                None
            }
            Some(stored) => {
                let head = Seq(stored.events.len() as u64);
                if head != expected {
                    return Err(StoreError::Conflict { expected, head });
                }
                stored.events.extend(events);
                let old = std::mem::replace(&mut stored.summary, summary.clone());
                if old.status_at == summary.status_at {
                    return Ok(());
                }
                Some(old.status_at)
            }
        };
        if !summary.hidden {
            let places = listed.entry(key.scope).or_default();
            if let Some(at) = old_place {
                places.remove(&(at, key.task.clone()));
            }
            places.insert((summary.status_at, key.task));
        }
        Ok(())
    }

    async fn read(&self, key: &TaskKey, after: Seq, limit: usize) -> Result<Vec<Arc<Event>>, StoreError> {
        let tasks = self.tasks();
        let Some(stored) = tasks.by_key.get(key) else { return Ok(Vec::new()) };
        let start = usize::try_from(after.0).unwrap_or(usize::MAX).min(stored.events.len());
        let end = start.saturating_add(limit).min(stored.events.len());
        Ok(stored.events[start..end].to_vec())
    }

    async fn read_each(&self, keys: &[TaskKey], limit: usize) -> Result<Vec<LogRead>, StoreError> {
        let tasks = self.tasks();
        let beginning =
            |key| tasks.by_key.get(key).map(|stored| stored.events.iter().take(limit).cloned().collect());
        Ok(keys.iter().map(|key| Ok(beginning(key).unwrap_or_default())).collect())
    }

    async fn save_snapshot(&self, key: &TaskKey, snapshot: Snapshot) -> Result<(), StoreError> {
        if let Some(stored) = self.tasks().by_key.get_mut(key) {
            stored.snapshots.retain(|kept| kept.at != snapshot.at);
            stored.snapshots.push(snapshot);
            stored.snapshots.sort_by_key(|kept| kept.at);
        }
        Ok(())
    }

    async fn snapshot(&self, key: &TaskKey, at_most: Seq) -> Result<Option<Snapshot>, StoreError> {
        let tasks = self.tasks();
        let stored = tasks.by_key.get(key);
        Ok(stored.and_then(|stored| stored.snapshots.iter().rev().find(|kept| kept.at <= at_most)).cloned())
    }
}

#[async_trait]
impl TaskIndex for MemoryStore {
    async fn list(&self, query: &ListQuery) -> Result<IndexPage, StoreError> {
        let tasks = self.tasks();
        let Some(places) = tasks.listed.get(&query.scope) else { return Ok(IndexPage::default()) };
        let mut page = IndexPage::default();
        for (status_at, task) in places.iter().rev() {
            let key = TaskKey { scope: query.scope.clone(), task: task.clone() };
            let Some(stored) = tasks.by_key.get(&key) else { continue };
            let matches = query.since.is_none_or(|since| *status_at >= since)
                && query.state.is_none_or(|state| stored.summary.state == state)
                && query.context.as_ref().is_none_or(|context| stored.summary.context == *context);
            if !matches {
                continue;
            }
            page.total += 1;
            let after = query.after.as_ref();
            if after.is_some_and(|after| (*status_at, task) >= (after.status_at, &after.task)) {
                continue;
            }
            if page.tasks.len() < query.limit {
                page.tasks.push(ListCursor { status_at: *status_at, task: task.clone() });
            } else {
                page.more = true;
            }
        }
        Ok(page)
    }

    async fn summary(&self, key: &TaskKey) -> Result<Option<TaskSummary>, StoreError> {
        Ok(self.tasks().by_key.get(key).map(|stored| stored.summary.clone()))
    }

    async fn unfinished(&self) -> Result<Vec<TaskKey>, StoreError> {
        let tasks = self.tasks();
        let mut found: Vec<_> = tasks.by_key.iter().filter(|(_, stored)| stored.summary.unfinished).collect();
        found.sort_by_key(|(_, stored)| stored.summary.status_at);
        Ok(found.into_iter().map(|(key, _)| key.clone()).collect())
    }

    async fn counts(&self) -> Result<IndexCounts, StoreError> {
        Ok(IndexCounts { total: self.tasks().total })
    }
}

#[async_trait]
impl Records for MemoryStore {
    async fn get(&self, space: &str, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.records().get(&(space.to_owned(), key.to_owned())).cloned())
    }

    async fn get_or_put(&self, space: &str, key: &str, value: Vec<u8>) -> Result<Vec<u8>, StoreError> {
        Ok(self.records().entry((space.to_owned(), key.to_owned())).or_insert(value).clone())
    }

    async fn change(&self, changes: Vec<RecordChange>) -> Result<(), StoreError> {
        let mut records = self.records();
        for change in changes {
            match change {
                RecordChange::Put { space, record } => {
                    records.insert((space.to_owned(), record.key), record.value)
                }
                RecordChange::Delete { space, key } => records.remove(&(space.to_owned(), key)),
            };
        }
        Ok(())
    }

    async fn list_prefix(
        &self,
        space: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        let place = |key: &str| (space.to_owned(), key.to_owned());
        let start = match after {
            Some(after) if after >= prefix => Bound::Excluded(place(after)),
            _ => Bound::Included(place(prefix)),
        };
        let records = self.records();
        let found = records.range((start, Bound::Unbounded)).take(limit);
        let found = found.take_while(|((of, key), _)| of == space && key.starts_with(prefix));
        Ok(found.map(|((_, key), value)| Record { key: key.clone(), value: value.clone() }).collect())
    }
}
