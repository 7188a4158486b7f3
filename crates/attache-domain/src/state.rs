//! The states of a task and the transitions between them.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Message;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    Submitted,
    Working,
    Completed,
    Failed,
    Canceled,
    InputRequired,
    Rejected,
    AuthRequired,
}

impl TaskState {
    pub const ALL: [TaskState; 8] = [
        TaskState::Submitted,
        TaskState::Working,
        TaskState::Completed,
        TaskState::Failed,
        TaskState::Canceled,
        TaskState::InputRequired,
        TaskState::Rejected,
        TaskState::AuthRequired,
    ];

    /// Nothing changes any more.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Canceled | Self::Rejected)
    }

    /// For people: a task "is" this.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Submitted => "submitted",
            Self::Working => "working",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
            Self::InputRequired => "waiting for input",
            Self::Rejected => "rejected",
            Self::AuthRequired => "waiting for a credential",
        }
    }

    /// Waits for a client.
    pub fn is_interrupted(self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }

    /// The state of a task that asks about calls; `auth`: only for credentials.
    pub(crate) fn asked(auth: bool) -> Self {
        if auth { Self::AuthRequired } else { Self::InputRequired }
    }

    /// The state after a message that continues the task: open questions are dropped, and a finished task waits for its
    /// turn.
    pub(crate) fn after_message(self) -> Self {
        match self {
            Self::InputRequired | Self::AuthRequired => Self::Working,
            Self::Completed | Self::Failed | Self::Canceled | Self::Rejected => Self::Submitted,
            Self::Submitted | Self::Working => self,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskStatus {
    pub state: TaskState,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Arc<Message>>,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub at: Timestamp,
}
