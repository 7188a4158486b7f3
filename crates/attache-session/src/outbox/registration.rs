//! Adds, finds and deletes push configurations.

use std::sync::Arc;
use std::time::Duration;

use attache_domain::{
    Fault, NewPushConfig, PushConfig, PushConfigId, PushShape, Seq, StoredPushConfig, TaskKey,
};
use attache_store::StoreError;
use sha2::{Digest, Sha256};

use super::stored::{CONFIGS, ConfigKey, STATUSES, StoredConfig, StoredPushStatus, StoredRecord, prefix};
use super::{ActiveConfig, ConfigSlot, Outbox, OutboxGuard, State, config_limits};
use crate::service::internal;

/// A configuration that is kept, and active for as long as the guard lasts.
pub(crate) struct RegisteredConfig {
    pub(crate) guard: OutboxGuard,
    pub(crate) kept: StoredPushConfig,
    /// There was none of that name before.
    pub(crate) is_new: bool,
}

/// How long a deletion waits for a notification under way; its receiver has that long to take it.
pub(super) const DELETE_TIMEOUT: Duration = Duration::from_secs(1);

impl Outbox {
    /// Whether the configuration is acceptable.
    pub(crate) async fn check(&self, request: &NewPushConfig) -> Result<(), Fault> {
        config_limits::check(&request.config)?;
        self.sender.check(&request.config).await.map_err(|unfit| Fault::invalid(unfit.field, unfit.why))
    }

    /// Stores a configuration that was checked. It replaces one with the same id and continues at its cursor. A new
    /// one gets the events after `start`.
    pub(crate) async fn register(
        self: &Arc<Self>,
        task: &TaskKey,
        request: NewPushConfig,
        start: Seq,
    ) -> Result<RegisteredConfig, Fault> {
        let NewPushConfig { mut config, shape } = request;
        if config.id.as_str().is_empty() {
            config.id = name(task, &config, shape);
        }
        let guard = self.guard(task).await.map_err(internal)?;
        let key = ConfigKey { task: task.clone(), id: config.id.clone() };
        let text = key.text();
        let known = match self.record_of(STATUSES, &text).await.map_err(internal)? {
            StoredRecord::Value(status) => self.readable::<StoredPushStatus>("status", &key, &status),
            StoredRecord::Nothing | StoredRecord::Unreadable => None,
        };
        let kept =
            self.records.list_prefix(CONFIGS, &prefix(task), None, self.options.max_per_task + 1).await;
        let others = kept.map_err(internal)?.iter().filter(|record| record.key != text).count();
        let stored = StoredConfig { config: Arc::new(config), shape };
        let active = ActiveConfig::new(key.clone(), stored.config.clone(), shape, self);
        let (receipt, status, is_new) = {
            let mut guard = self.state();
            let State { tasks: mail, queue } = &mut *guard;
            let mail = mail.entry(task.clone()).or_default();
            let before = mail.slots.get(&key.id);
            let is_new = before.is_none() && known.is_none();
            let in_memory = mail.slots.len() - usize::from(before.is_some());
            if is_new && others.max(in_memory) >= self.options.max_per_task {
                let most = self.options.max_per_task;
                let what =
                    format!("cannot be added: the task has {most} push configurations; delete one first");
                return Err(Fault::invalid("id", what));
            }
            let status =
                before.map(|slot| slot.status.restarted()).or_else(|| known.map(|known| known.restarted()));
            let status = status.unwrap_or_else(|| StoredPushStatus::at(start));
            let former = before.map(|slot| slot.active.clone());
            if let Some(former) = &former {
                former.stop.cancel();
            }
            let changes = [key.put_config(&stored), key.put_status(&status), key.put_active()];
            let receipt = queue.put(&key, changes);
            self.start_delivery(&active, former);
            mail.slots.insert(key.id.clone(), ConfigSlot::new(active.clone(), status.clone()));
            (receipt, status, is_new)
        };
        self.in_line.notify_one();
        if let Err(error) = receipt.wait().await {
            self.unregister(&active);
            return Err(internal(error));
        }
        let config = (*stored.config).clone();
        let kept = StoredPushConfig { task: task.task.clone(), config, status: status.to_public() };
        Ok(RegisteredConfig { guard, kept, is_new })
    }

    /// What could not be written is not kept.
    fn unregister(&self, active: &Arc<ActiveConfig>) {
        active.stop.cancel();
        let mut state = self.state();
        if state.slot(active).is_some()
            && let Some(mail) = state.tasks.get_mut(&active.key.task)
        {
            mail.slots.remove(&active.key.id);
            mail.complete = false;
        }
    }

    /// One configuration. Without a name: the one named like the task, else the first.
    pub(crate) async fn find(
        &self,
        task: &TaskKey,
        id: Option<&PushConfigId>,
    ) -> Result<Option<StoredPushConfig>, StoreError> {
        let named = id.cloned().unwrap_or_else(|| task.task.as_str().into());
        let key = ConfigKey { task: task.clone(), id: named }.text();
        if let StoredRecord::Value(value) = self.record_of(CONFIGS, &key).await? {
            let status = match self.record_of(STATUSES, &key).await? {
                StoredRecord::Value(status) => Some(status),
                StoredRecord::Nothing | StoredRecord::Unreadable => None,
            };
            return Ok(self.shown(task, &value, status.as_deref()));
        }
        if id.is_some() {
            return Ok(None);
        }
        Ok(self.page(task, None, 1).await?.pop())
    }

    /// Up to `limit` configurations after the one named `after`, in the order of their names.
    pub(crate) async fn page(
        &self,
        task: &TaskKey,
        after: Option<PushConfigId>,
        limit: usize,
    ) -> Result<Vec<StoredPushConfig>, StoreError> {
        let after = after.map(|id| ConfigKey { task: task.clone(), id }.text());
        let (prefix, after) = (prefix(task), after.as_deref());
        let configs = self.records.list_prefix(CONFIGS, &prefix, after, limit).await?;
        let statuses = self.records.list_prefix(STATUSES, &prefix, after, limit).await?;
        let status = |key: &str| {
            let found = statuses.iter().find(|record| record.key == key);
            found.map(|record| record.value.as_slice())
        };
        let shown = configs.iter().map(|record| self.shown(task, &record.value, status(&record.key)));
        Ok(shown.flatten().collect())
    }

    /// When it returns, nothing more is sent and the configuration is gone. Deleting an unknown one is no error.
    pub(crate) async fn delete(&self, task: &TaskKey, id: &PushConfigId) -> Result<(), StoreError> {
        let key = ConfigKey { task: task.clone(), id: id.clone() };
        let (receipt, active) = {
            let mut state = self.state();
            let slot = state.tasks.get_mut(task).and_then(|mail| mail.slots.remove(id));
            let active = slot.map(|slot| slot.active);
            if let Some(active) = &active {
                active.stop.cancel();
            }
            let receipt = state.queue.put(&key, key.delete_all());
            state.remove_idle(task);
            (receipt, active)
        };
        self.in_line.notify_one();
        let written = receipt.wait().await;
        if let Some(active) = active {
            active.done.cancelled().await;
        }
        written
    }

    /// `None` when it cannot be read.
    fn shown(&self, task: &TaskKey, value: &[u8], status: Option<&[u8]>) -> Option<StoredPushConfig> {
        let unnamed = ConfigKey { task: task.clone(), id: "?".into() };
        let StoredConfig { config, .. } = self.readable("configuration", &unnamed, value)?;
        let in_memory = {
            let state = self.state();
            state.tasks.get(task).and_then(|mail| mail.slots.get(&config.id)).map(ConfigSlot::shown)
        };
        let status = match (in_memory, status) {
            (Some(shown), _) => shown,
            (None, Some(status)) => {
                self.readable::<StoredPushStatus>("status", &unnamed, status).unwrap_or_default().to_public()
            }
            (None, None) => StoredPushStatus::default().to_public(),
        };
        Some(StoredPushConfig { task: task.task.clone(), config: (*config).clone(), status })
    }
}

/// A name for a configuration that comes without one: in 0.3 the task's own, so that the next one takes its place; else
/// one that follows from what it says, so that a message that is sent again adds none.
fn name(task: &TaskKey, config: &PushConfig, shape: PushShape) -> PushConfigId {
    if shape == PushShape::WholeTask {
        return task.task.as_str().into();
    }
    // Nothing secret: names are shown to more people than secrets are.
    let mut hash = Sha256::new();
    hash.update(task.task.as_str());
    hash.update(" ");
    hash.update(&config.url);
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.finalize()[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid().to_string().into()
}
