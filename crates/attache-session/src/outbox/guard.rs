//! Keeps the configurations of a task active while the task is changed.

use std::sync::Arc;

use attache_domain::TaskKey;
use attache_store::StoreError;

use super::stored::{CONFIGS, ConfigKey, STATUSES, StoredConfig, StoredPushStatus, StoredRecord, prefix};
use super::{ActiveConfig, ConfigSlot, Outbox, RestState, State, WriteReceipt};

/// While it is held, nothing about the task is parked; what was parked has been made active, durably.
pub(crate) struct OutboxGuard {
    outbox: Arc<Outbox>,
    task: TaskKey,
}

impl OutboxGuard {
    pub(crate) fn task(&self) -> &TaskKey {
        &self.task
    }
}

impl Drop for OutboxGuard {
    fn drop(&mut self) {
        let mut state = self.outbox.state();
        let Some(mail) = state.tasks.get_mut(&self.task) else { return };
        mail.guards -= 1;
        if mail.guards == 0 {
            mail.poke();
            state.remove_idle(&self.task);
        }
    }
}

impl Outbox {
    /// Taken before anything is appended to the task, and held until a runner has started.
    pub(crate) async fn guard(self: &Arc<Self>, task: &TaskKey) -> Result<OutboxGuard, StoreError> {
        let guard = self.guard_new(task);
        let complete = self.state().tasks.get(task).is_some_and(|mail| mail.complete);
        let stored = if complete { Vec::new() } else { self.stored(task).await? };
        for receipt in self.make_active(task, stored) {
            receipt.wait().await?;
        }
        Ok(guard)
    }

    /// For a task that does not exist yet.
    pub(super) fn guard_new(self: &Arc<Self>, task: &TaskKey) -> OutboxGuard {
        self.state().tasks.entry(task.clone()).or_default().guards += 1;
        OutboxGuard { outbox: self.clone(), task: task.clone() }
    }

    /// All configurations of the task, with how each stands.
    pub(super) async fn stored(
        &self,
        task: &TaskKey,
    ) -> Result<Vec<(ConfigKey, StoredConfig, StoredPushStatus)>, StoreError> {
        let prefix = prefix(task);
        let configs = self.records.list_prefix(CONFIGS, &prefix, None, usize::from(u16::MAX)).await?;
        if configs.is_empty() {
            return Ok(Vec::new());
        }
        let statuses = self.records.list_prefix(STATUSES, &prefix, None, usize::from(u16::MAX)).await?;
        let mut found = Vec::with_capacity(configs.len());
        for record in configs {
            let Some(key) = ConfigKey::parse(&record.key) else { continue };
            let status = statuses.iter().find(|status| status.key == record.key);
            let status = status.and_then(|status| self.readable("status", &key, &status.value));
            // An unreadable configuration is left alone and gets nothing.
            let Some(config) = self.readable("configuration", &key, &record.value) else { continue };
            found.push((key, config, status.unwrap_or_default()));
        }
        Ok(found)
    }

    /// Gives a slot to everything that has none and is not given up, and wakes what was just parked.
    fn make_active(
        self: &Arc<Self>,
        task: &TaskKey,
        stored: Vec<(ConfigKey, StoredConfig, StoredPushStatus)>,
    ) -> Vec<WriteReceipt> {
        let mut guard = self.state();
        let State { tasks: mail, queue } = &mut *guard;
        let Some(mail) = mail.get_mut(task) else { return Vec::new() };
        mail.complete = true;
        let mut receipts = Vec::new();
        for (key, config, status) in stored {
            if status.gave_up || mail.slots.contains_key(&key.id) {
                continue;
            }
            let active = ActiveConfig::new(key.clone(), config.config, config.shape, self);
            receipts.push(queue.put(&key, [key.put_status(&status), key.put_active()]));
            self.start_delivery(&active, None);
            mail.slots.insert(key.id, ConfigSlot::new(active, status));
        }
        for slot in mail.slots.values_mut().filter(|slot| slot.rest != RestState::No && !slot.status.gave_up)
        {
            let ActiveConfig { key, config, shape, .. } = &*slot.active;
            let active = ActiveConfig::new(key.clone(), config.clone(), *shape, self);
            receipts.push(queue.put(key, [key.put_status(&slot.status), key.put_active()]));
            self.start_delivery(&active, Some(slot.active.clone()));
            *slot = ConfigSlot::new(active, slot.status.clone());
        }
        drop(guard);
        if !receipts.is_empty() {
            self.in_line.notify_one();
        }
        receipts
    }

    /// Continues a configuration that was active when the store was last used.
    pub(super) async fn resume(self: &Arc<Self>, key: ConfigKey) -> Result<(), StoreError> {
        let text = key.text();
        let config = match self.record_of(CONFIGS, &text).await? {
            StoredRecord::Value(config) => config,
            // Left over from a deletion that came between: nothing else is known about it.
            StoredRecord::Nothing => return self.records.change(vec![key.delete_active()]).await,
            // Its task continues without it.
            StoredRecord::Unreadable => return Ok(()),
        };
        let Some(config) = self.readable::<StoredConfig>("configuration", &key, &config) else {
            return Ok(());
        };
        let status = match self.record_of(STATUSES, &text).await? {
            StoredRecord::Value(status) => self.readable("status", &key, &status),
            StoredRecord::Nothing | StoredRecord::Unreadable => None,
        };
        let status: StoredPushStatus = status.unwrap_or_default();
        let active = ActiveConfig::new(key.clone(), config.config, config.shape, self);
        let mut state = self.state();
        let mail = state.tasks.entry(key.task).or_default();
        mail.slots.insert(key.id, ConfigSlot::new(active.clone(), status));
        self.start_delivery(&active, None);
        Ok(())
    }
}
