//! Push notifications: where somebody wants to be told about a task, and how far the telling is.
//!
//! Configurations are records, not facts: they can be deleted and hold secrets, which never enter the log.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{PushConfigId, Seq, TaskId};

/// Where to tell, and how to show that it is us.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushConfig {
    /// Named by the caller; empty when it leaves the name to us.
    pub id: PushConfigId,
    pub url: String,
    /// Sent back with every notification, for the receiver to recognise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authentication: Option<PushAuthentication>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushAuthentication {
    /// As given: 0.3 takes several of which one is to be used, 1.0 exactly one.
    pub schemes: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<String>,
}

/// What a notification holds, after the habits of the protocol version that asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PushShape {
    /// The task as it is after the event, as 0.3 has it.
    WholeTask,
    /// The event itself, as 1.0 has it.
    EachUpdate,
}

/// A wish to be told, before it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPushConfig {
    pub config: PushConfig,
    pub shape: PushShape,
}

/// A configuration that is kept, and how it fares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPushConfig {
    pub task: TaskId,
    pub config: PushConfig,
    pub status: PushStatus,
}

/// How far the telling is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PushStatus {
    pub state: PushState,
    /// The last event that the receiver has taken.
    pub delivered: Seq,
    /// Tries since then that failed.
    pub failures: u32,
    /// Why the last try failed.
    pub last_error: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PushState {
    /// Whatever there is to tell has been told or is on its way.
    #[default]
    Delivering,
    /// The last try failed; the next comes at this time.
    Waiting { until: Timestamp },
    /// Too many tries failed. Setting the configuration again goes on where it stopped.
    GaveUp,
}

/// What a caller asks about configurations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PushConfigOperation {
    Create {
        task: TaskId,
        wish: NewPushConfig,
    },
    /// 0.3 may leave the name out when there is only one that can be meant.
    Get {
        task: TaskId,
        config: Option<PushConfigId>,
    },
    List(ListPushConfigs),
    Delete {
        task: TaskId,
        config: PushConfigId,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPushConfigs {
    pub task: TaskId,
    /// All of them when absent.
    pub page_size: Option<usize>,
    /// Opaque; empty for the first page.
    pub page_token: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushConfigPage {
    pub configs: Vec<StoredPushConfig>,
    /// Empty on the last page.
    pub next_page_token: String,
}

/// Says which secrets there are, and none of them.
impl fmt::Debug for PushConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PushConfig")
            .field("id", &self.id)
            .field("url", &self.url)
            .field("token", &self.token.as_ref().map(|_| "…"))
            .field("authentication", &self.authentication)
            .finish()
    }
}

impl fmt::Debug for PushAuthentication {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PushAuthentication")
            .field("schemes", &self.schemes)
            .field("credentials", &self.credentials.as_ref().map(|_| "…"))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_do_not_show_in_debug_text() {
        let config = PushConfig {
            id: "c".into(),
            url: "https://hooks.example/a".into(),
            token: Some("hush-token".into()),
            authentication: Some(PushAuthentication {
                schemes: vec!["Bearer".into()],
                credentials: Some("hush-credentials".into()),
            }),
        };
        let text = format!("{config:?}");
        assert!(!text.contains("hush"), "{text}");
        assert!(text.contains("Bearer"), "{text}");
    }
}
