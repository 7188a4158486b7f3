//! Push notifications: their configurations and the state of their delivery.
//!
//! Configurations are records, not facts: they can be deleted and hold secrets, which never enter the log.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{PushConfigId, Seq, TaskId};

/// Where to send notifications, and how to authenticate them.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushConfig {
    /// Chosen by the caller; if empty, the server chooses one.
    pub id: PushConfigId,
    pub url: String,
    /// Sent with every notification, so that the receiver can check it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authentication: Option<PushAuthentication>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushAuthentication {
    /// 0.3 allows several, of which one is used; 1.0 has exactly one.
    pub schemes: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<String>,
}

/// The content of a notification, which depends on the protocol version of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PushShape {
    /// The task after the event, as in 0.3.
    WholeTask,
    /// The event itself, as in 1.0.
    EachUpdate,
}

/// A requested configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPushConfig {
    pub config: PushConfig,
    pub shape: PushShape,
}

/// A stored configuration with its delivery status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPushConfig {
    pub task: TaskId,
    pub config: PushConfig,
    pub status: PushStatus,
}

/// The status of the delivery.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PushStatus {
    pub state: PushState,
    /// The last event that the receiver accepted.
    pub delivered: Seq,
    /// Failed attempts since then.
    pub failures: u32,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PushState {
    /// Everything is delivered or on its way.
    #[default]
    Delivering,
    /// The last attempt failed; the next is at this time.
    Waiting { until: Timestamp },
    /// Too many attempts failed. Setting the configuration again resumes the delivery.
    GaveUp,
}

/// An operation on configurations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PushConfigOperation {
    Create {
        task: TaskId,
        request: NewPushConfig,
    },
    /// 0.3 may leave out the id when there is only one.
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

/// Shows which secrets are set, but not their values.
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
