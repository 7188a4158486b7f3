//! Keeps the configurations of a task active while somebody moves it.

use std::sync::Arc;

use attache_domain::TaskKey;
use attache_store::StoreError;

use super::stored::{
    CONFIGS, ConfigKey, Kept, STANDINGS, Standing, StoredConfig, prefix, readable, record_of,
};
use super::{Active, Outbox, Receipt, Rest, Slot, State};

/// While it is held, nothing about the task is parked; what was parked has been made active, durably.
pub(crate) struct Hold {
    outbox: Arc<Outbox>,
    task: TaskKey,
}

impl Hold {
    pub(crate) fn task(&self) -> &TaskKey {
        &self.task
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut state = self.outbox.state();
        let Some(mail) = state.mail.get_mut(&self.task) else { return };
        mail.holds -= 1;
        if mail.holds == 0 {
            mail.poke();
            state.tidy(&self.task);
        }
    }
}

impl Outbox {
    /// To be taken before anything is appended to the task, and kept until somebody works on it.
    pub(crate) async fn hold(self: &Arc<Self>, task: &TaskKey) -> Result<Hold, StoreError> {
        let hold = self.hold_new(task);
        let complete = self.state().mail.get(task).is_some_and(|mail| mail.complete);
        let stored = if complete { Vec::new() } else { self.stored(task).await? };
        for receipt in self.make_active(task, stored) {
            receipt.wait().await?;
        }
        Ok(hold)
    }

    /// For a task that does not exist yet.
    pub(super) fn hold_new(self: &Arc<Self>, task: &TaskKey) -> Hold {
        self.state().mail.entry(task.clone()).or_default().holds += 1;
        Hold { outbox: self.clone(), task: task.clone() }
    }

    /// All configurations of the task, with how each stands.
    pub(super) async fn stored(
        &self,
        task: &TaskKey,
    ) -> Result<Vec<(ConfigKey, StoredConfig, Standing)>, StoreError> {
        let prefix = prefix(task);
        let configs = self.records.under(CONFIGS, &prefix, None, usize::from(u16::MAX)).await?;
        if configs.is_empty() {
            return Ok(Vec::new());
        }
        let standings = self.records.under(STANDINGS, &prefix, None, usize::from(u16::MAX)).await?;
        let mut found = Vec::with_capacity(configs.len());
        for record in configs {
            let Some(key) = ConfigKey::parse(&record.key) else { continue };
            let standing = standings.iter().find(|standing| standing.key == record.key);
            let standing = standing.and_then(|standing| readable("standing", &key, &standing.value));
            // One that cannot be read is left alone, and nothing is told to it.
            let Some(config) = readable("configuration", &key, &record.value) else { continue };
            found.push((key, config, standing.unwrap_or_default()));
        }
        Ok(found)
    }

    /// Gives a slot to everything that has none and is not given up, and wakes what was just parked.
    fn make_active(
        self: &Arc<Self>,
        task: &TaskKey,
        stored: Vec<(ConfigKey, StoredConfig, Standing)>,
    ) -> Vec<Receipt> {
        let mut guard = self.state();
        let State { mail, queue } = &mut *guard;
        let Some(mail) = mail.get_mut(task) else { return Vec::new() };
        mail.complete = true;
        let mut receipts = Vec::new();
        for (key, config, standing) in stored {
            if standing.gave_up || mail.slots.contains_key(&key.id) {
                continue;
            }
            let active = Active::new(key.clone(), config.config, config.shape, self);
            receipts.push(queue.put(&key, [key.put_standing(&standing), key.put_active()]));
            self.begin(&active, None);
            mail.slots.insert(key.id, Slot::new(active, standing));
        }
        for slot in mail.slots.values_mut().filter(|slot| slot.rest != Rest::No && !slot.standing.gave_up) {
            let Active { key, config, shape, .. } = &*slot.active;
            let active = Active::new(key.clone(), config.clone(), *shape, self);
            receipts.push(queue.put(key, [key.put_standing(&slot.standing), key.put_active()]));
            self.begin(&active, Some(slot.active.clone()));
            *slot = Slot::new(active, slot.standing.clone());
        }
        drop(guard);
        if !receipts.is_empty() {
            self.in_line.notify_one();
        }
        receipts
    }

    /// Goes on with one that was active when the store was last used.
    pub(super) async fn resume(self: &Arc<Self>, key: ConfigKey) -> Result<(), StoreError> {
        let text = key.text();
        let config = match record_of(self.records.as_ref(), CONFIGS, &text).await? {
            Kept::Value(config) => config,
            // Left over from a deletion that came between: nothing else is known about it.
            Kept::Nothing => return self.records.change(vec![key.delete_active()]).await,
            // Its task goes on without it.
            Kept::Unreadable => return Ok(()),
        };
        let Some(config) = readable::<StoredConfig>("configuration", &key, &config) else { return Ok(()) };
        let standing = match record_of(self.records.as_ref(), STANDINGS, &text).await? {
            Kept::Value(standing) => readable("standing", &key, &standing),
            Kept::Nothing | Kept::Unreadable => None,
        };
        let standing: Standing = standing.unwrap_or_default();
        let active = Active::new(key.clone(), config.config, config.shape, self);
        let mut state = self.state();
        let mail = state.mail.entry(key.task).or_default();
        mail.slots.insert(key.id, Slot::new(active.clone(), standing));
        self.begin(&active, None);
        Ok(())
    }
}
