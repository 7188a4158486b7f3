//! A store in which some logs and records cannot be read, to prove that others still can.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use attache_domain::{Event, IgnorePoison, Seq, TaskKey, TaskSummary};

use super::Store;
use crate::{
    Append, EventLog, IndexCounts, IndexPage, ListQuery, LogRead, Record, RecordChange, Records, Snapshot,
    StoreError, StoreStatus, TaskIndex,
};

/// Forwards everything to the inner store, except reads of damaged rows.
pub struct DamagedStore<S> {
    store: S,
    damage: Mutex<Damage>,
}

#[derive(Default)]
struct Damage {
    /// The last readable event of each damaged log.
    logs: HashMap<TaskKey, Seq>,
    snapshots: bool,
    /// The tasks whose rows in the index are damaged.
    summaries: HashSet<TaskKey>,
    /// Space and key.
    records: Vec<(String, String)>,
    /// Spaces whose lists cannot be read.
    lists: HashSet<String>,
    status: StoreStatus,
}

impl<S: Store> DamagedStore<S> {
    pub fn new(store: S) -> Self {
        Self { store, damage: Mutex::default() }
    }

    /// Makes all events of this task after `last_readable` unreadable.
    pub fn damage_log(&self, key: &TaskKey, last_readable: Seq) {
        self.damage().logs.insert(key.clone(), last_readable);
    }

    /// Makes all snapshots unreadable.
    pub fn damage_snapshots(&self) {
        self.damage().snapshots = true;
    }

    /// Makes the row of this task in the index unreadable.
    pub fn damage_summary(&self, key: &TaskKey) {
        self.damage().summaries.insert(key.clone());
    }

    /// Makes all lists of `space` unreadable, as with a damaged page of the file.
    pub fn damage_list(&self, space: &str) {
        self.damage().lists.insert(space.into());
    }

    pub fn damage_record(&self, space: &str, key: &str) {
        self.damage().records.push((space.into(), key.into()));
    }

    pub fn set_status(&self, status: StoreStatus) {
        self.damage().status = status;
    }

    fn damage(&self) -> MutexGuard<'_, Damage> {
        self.damage.lock().ignore_poison()
    }

    /// Removes unreadable entries; an error if none remains.
    fn readable(&self, key: &TaskKey, mut events: Vec<Arc<Event>>) -> LogRead {
        let Some(last) = self.damage().logs.get(key).copied() else { return Ok(events) };
        if events.first().is_some_and(|first| first.seq > last) {
            return Err(StoreError::Corrupt { what: format!("event {} is damaged", last.next()) });
        }
        events.retain(|event| event.seq <= last);
        Ok(events)
    }

    fn is_readable(&self, space: &str, key: &str) -> bool {
        !self.damage().records.iter().any(|(of, damaged)| of == space && damaged == key)
    }
}

#[async_trait]
impl<S: Store> EventLog for DamagedStore<S> {
    async fn append(&self, append: Append) -> Result<(), StoreError> {
        self.store.append(append).await
    }

    async fn read(&self, key: &TaskKey, after: Seq, limit: usize) -> Result<Vec<Arc<Event>>, StoreError> {
        self.readable(key, self.store.read(key, after, limit).await?)
    }

    async fn read_each(&self, keys: &[TaskKey], limit: usize) -> Result<Vec<LogRead>, StoreError> {
        let read = self.store.read_each(keys, limit).await?;
        let whole = |(key, read): (&TaskKey, LogRead)| {
            let (read, damage) = (read?, self.damage().logs.get(key).copied());
            let is_whole = damage.is_none_or(|last| read.iter().all(|event| event.seq <= last));
            if is_whole { Ok(read) } else { Err(StoreError::Corrupt { what: "an event is damaged".into() }) }
        };
        Ok(keys.iter().zip(read).map(whole).collect())
    }

    async fn save_snapshot(&self, key: &TaskKey, snapshot: Snapshot) -> Result<(), StoreError> {
        self.store.save_snapshot(key, snapshot).await
    }

    async fn snapshot(&self, key: &TaskKey, at_most: Seq) -> Result<Option<Snapshot>, StoreError> {
        if self.damage().snapshots {
            return Err(StoreError::Corrupt { what: "a snapshot is damaged".into() });
        }
        self.store.snapshot(key, at_most).await
    }

    fn status(&self) -> StoreStatus {
        self.damage().status.clone()
    }
}

#[async_trait]
impl<S: Store> TaskIndex for DamagedStore<S> {
    async fn list(&self, query: &ListQuery) -> Result<IndexPage, StoreError> {
        self.store.list(query).await
    }

    async fn summary(&self, key: &TaskKey) -> Result<Option<TaskSummary>, StoreError> {
        if self.damage().summaries.contains(key) {
            return Err(StoreError::Corrupt { what: format!("the row of task {} is damaged", key.task) });
        }
        self.store.summary(key).await
    }

    async fn unfinished(&self) -> Result<Vec<TaskKey>, StoreError> {
        self.store.unfinished().await
    }

    async fn counts(&self) -> Result<IndexCounts, StoreError> {
        self.store.counts().await
    }
}

#[async_trait]
impl<S: Store> Records for DamagedStore<S> {
    async fn get(&self, space: &str, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        if !self.is_readable(space, key) {
            return Err(StoreError::Corrupt { what: format!("the record {space}/{key} is damaged") });
        }
        self.store.get(space, key).await
    }

    async fn get_or_put(&self, space: &str, key: &str, value: Vec<u8>) -> Result<Vec<u8>, StoreError> {
        if !self.is_readable(space, key) {
            return Err(StoreError::Corrupt { what: format!("the record {space}/{key} is damaged") });
        }
        self.store.get_or_put(space, key, value).await
    }

    async fn change(&self, changes: Vec<RecordChange>) -> Result<(), StoreError> {
        for change in &changes {
            let (RecordChange::Put { space, record: Record { key, .. } }
            | RecordChange::Delete { space, key }) = change;
            self.damage().records.retain(|(of, damaged)| of != space || damaged != key);
        }
        self.store.change(changes).await
    }

    async fn list_prefix(
        &self,
        space: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        if self.damage().lists.contains(space) {
            return Err(StoreError::Corrupt { what: format!("the records of {space} are damaged") });
        }
        let mut found = self.store.list_prefix(space, prefix, after, limit).await?;
        found.retain(|record| self.is_readable(space, &record.key));
        Ok(found)
    }
}
