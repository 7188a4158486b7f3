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

    /// Waits for a client.
    pub fn is_interrupted(self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }

    /// The state once a message has arrived that the task goes on with: nobody is asked any more, and a task that was over
    /// waits for its turn.
    pub(crate) fn after_message(self) -> Self {
        match self {
            Self::InputRequired | Self::AuthRequired => Self::Working,
            Self::Completed | Self::Failed | Self::Canceled | Self::Rejected => Self::Submitted,
            Self::Submitted | Self::Working => self,
        }
    }

    /// May a task in this state move to `next`?
    pub fn may_become(self, next: TaskState) -> bool {
        match self {
            Self::Submitted => next != Self::Submitted,
            Self::Working => next != Self::Submitted,
            Self::InputRequired | Self::AuthRequired => next != Self::Submitted,
            Self::Completed | Self::Failed | Self::Canceled | Self::Rejected => false,
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

#[cfg(test)]
mod tests {
    use super::TaskState;

    #[test]
    fn the_state_graph_is_the_one_in_the_protocol_notes() {
        use TaskState::*;
        let allowed: [(TaskState, &[TaskState]); 8] = [
            (Submitted, &[Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected]),
            (Working, &[Working, InputRequired, AuthRequired, Completed, Failed, Canceled, Rejected]),
            (InputRequired, &[Working, Completed, Failed, Canceled, Rejected, AuthRequired, InputRequired]),
            (AuthRequired, &[Working, Completed, Failed, Canceled, Rejected, InputRequired, AuthRequired]),
            (Completed, &[]),
            (Failed, &[]),
            (Canceled, &[]),
            (Rejected, &[]),
        ];
        for (from, to) in allowed {
            for next in TaskState::ALL {
                assert_eq!(from.may_become(next), to.contains(&next), "{from:?} to {next:?}");
            }
        }
    }
}
