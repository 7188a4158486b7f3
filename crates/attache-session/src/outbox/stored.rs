//! The stored form of configurations: three records each, because they change at different times.
//!
//! Tenant and caller are part of every key. The space of active ones is the only one read at a start.

use std::sync::Arc;

use attache_domain::{
    PushConfig, PushConfigId, PushShape, PushState, PushStatus, Scope, Seq, TaskId, TaskKey,
};
use attache_store::{Record, RecordChange, StoreError};
use serde::{Deserialize, Serialize};

use super::Outbox;

/// What the caller asked for; holds secrets.
pub(super) const CONFIGS: &str = "push";
/// Cursors and failures.
pub(super) const STATUSES: &str = "push-standing";
/// Configurations that may have something to deliver.
pub(super) const ACTIVE: &str = "push-active";

/// Names a configuration among all of all callers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ConfigKey {
    pub(super) task: TaskKey,
    pub(super) id: PushConfigId,
}

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct StoredConfig {
    pub(super) config: Arc<PushConfig>,
    pub(super) shape: PushShape,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct StoredPushStatus {
    /// Everything up to here is done with.
    pub(super) cursor: Seq,
    pub(super) delivered: Seq,
    #[serde(default)]
    pub(super) failures: u32,
    #[serde(default)]
    pub(super) gave_up: bool,
    #[serde(rename = "trouble", default, skip_serializing_if = "Option::is_none")]
    pub(super) last_error: Option<String>,
}

impl StoredPushStatus {
    pub(super) fn at(cursor: Seq) -> Self {
        Self { cursor, ..Self::default() }
    }

    /// Without its failures, at the same cursor.
    pub(super) fn restarted(&self) -> Self {
        Self { delivered: self.delivered, ..Self::at(self.cursor) }
    }

    pub(super) fn to_public(&self) -> PushStatus {
        PushStatus {
            state: if self.gave_up { PushState::GaveUp } else { PushState::Delivering },
            delivered: self.delivered,
            failures: self.failures,
            last_error: self.last_error.clone(),
        }
    }
}

impl ConfigKey {
    /// The key of its records.
    pub(super) fn text(&self) -> String {
        let mut text = prefix(&self.task);
        escape(self.id.as_str(), &mut text);
        text
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut pieces = text.split('/').map(unescape);
        let (tenant, owner, task, id) = (pieces.next()??, pieces.next()??, pieces.next()??, pieces.next()??);
        if pieces.next().is_some() {
            return None;
        }
        let task = TaskKey { scope: Scope::new(tenant, owner), task: TaskId::from(task) };
        Some(Self { task, id: id.into() })
    }

    pub(super) fn put_active(&self) -> RecordChange {
        RecordChange::Put { space: ACTIVE, record: Record { key: self.text(), value: Vec::new() } }
    }

    pub(super) fn delete_active(&self) -> RecordChange {
        RecordChange::Delete { space: ACTIVE, key: self.text() }
    }

    pub(super) fn put_status(&self, status: &StoredPushStatus) -> RecordChange {
        put(STATUSES, self.text(), status)
    }

    pub(super) fn put_config(&self, config: &StoredConfig) -> RecordChange {
        put(CONFIGS, self.text(), config)
    }

    pub(super) fn delete_all(&self) -> [RecordChange; 3] {
        [CONFIGS, STATUSES, ACTIVE].map(|space| RecordChange::Delete { space, key: self.text() })
    }
}

/// What the keys of all configurations of a task begin with.
pub(super) fn prefix(task: &TaskKey) -> String {
    let mut text = String::new();
    for piece in [&*task.scope.tenant, &*task.scope.owner, task.task.as_str()] {
        escape(piece, &mut text);
        text.push('/');
    }
    text
}

pub(super) fn read<T: serde::de::DeserializeOwned>(what: &str, value: &[u8]) -> Result<T, StoreError> {
    let corrupt =
        |error| StoreError::Corrupt { what: format!("the {what} of a push configuration: {error}") };
    serde_json::from_slice(value).map_err(corrupt)
}

/// What is kept under a key.
pub(super) enum StoredRecord {
    Value(Vec<u8>),
    Nothing,
    Unreadable,
}

impl Outbox {
    /// `None`, a line in the log, and a count, when it cannot be read.
    pub(super) fn readable<T: serde::de::DeserializeOwned>(
        &self,
        what: &str,
        key: &ConfigKey,
        value: &[u8],
    ) -> Option<T> {
        let read = read(what, value);
        if let Err(error) = &read {
            self.counters.quarantine.count_read();
            tracing::error!(task = %key.task.task, config = %key.id, %error, "a push configuration cannot be read; it is left out");
        }
        read.ok()
    }

    /// A record that cannot be read is named in the log and counted.
    pub(super) async fn record_of(&self, space: &str, key: &str) -> Result<StoredRecord, StoreError> {
        match self.records.get(space, key).await {
            Ok(Some(value)) => Ok(StoredRecord::Value(value)),
            Ok(None) => Ok(StoredRecord::Nothing),
            Err(error @ StoreError::Corrupt { .. }) => {
                self.counters.quarantine.count_read();
                tracing::error!(%error, "a record of a push configuration cannot be read; it is left out");
                Ok(StoredRecord::Unreadable)
            }
            Err(error) => Err(error),
        }
    }
}

fn put(space: &'static str, key: String, value: &impl Serialize) -> RecordChange {
    // Texts and numbers only: these can always be written.
    let value = serde_json::to_vec(value).unwrap_or_default();
    RecordChange::Put { space, record: Record { key, value } }
}

/// Written by hand, because keys are stored with characters that are not ASCII as they are, which percent-encoding would
/// escape.
fn escape(piece: &str, text: &mut String) {
    for character in piece.chars() {
        match character {
            '%' => text.push_str("%25"),
            '/' => text.push_str("%2F"),
            other => text.push(other),
        }
    }
}

fn unescape(piece: &str) -> Option<String> {
    let whole = piece.replace("%2F", "/").replace("%25", "%");
    let mut again = String::new();
    escape(&whole, &mut again);
    (again == piece).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(tenant: &str, owner: &str, task: &str, id: &str) -> ConfigKey {
        let task = TaskKey { scope: Scope::new(tenant, owner), task: task.into() };
        ConfigKey { task, id: id.into() }
    }

    #[test]
    fn a_key_is_read_back_whatever_is_in_it() {
        for key in [key("", "me", "t", "c"), key("a/b", "%2F", "t%", "c/d%25"), key("ä", "", "", "")] {
            assert_eq!(ConfigKey::parse(&key.text()), Some(key.clone()), "{key:?}");
        }
        for wrong in ["", "a/b/c", "a/b/c/d/e", "a/b/c/%41"] {
            assert_eq!(ConfigKey::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn no_task_has_a_prefix_that_covers_another_callers() {
        let mine = prefix(&key("", "me", "t", "").task);
        for other in [key("", "me", "t2", "c"), key("", "me/t", "x", "c"), key("t", "me", "t", "c")] {
            assert!(!other.text().starts_with(&mine), "{other:?}");
        }
    }

    #[test]
    fn stored_forms_stay_readable() {
        let config = br#"{"config":{"id":"c","url":"https://a.test","token":"t"},"shape":"whole_task"}"#;
        let config: StoredConfig = read("configuration", config).unwrap();
        assert_eq!((config.shape, config.config.token.as_deref()), (PushShape::WholeTask, Some("t")));
        let status: StoredPushStatus = read("status", br#"{"cursor":7,"delivered":5}"#).unwrap();
        assert_eq!((status.cursor, status.delivered, status.gave_up), (Seq(7), Seq(5), false));
    }
}
