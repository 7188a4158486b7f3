//! How the protocol spells the words of a closed list; the names here make the spelling.

use serde::{Deserialize, Serialize};

use crate::{Role, TaskState};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(clippy::enum_variant_names, reason = "the protocol's names, from which the spelling follows")]
pub(crate) enum SpelledState {
    TaskStateSubmitted,
    TaskStateWorking,
    TaskStateCompleted,
    TaskStateFailed,
    TaskStateCanceled,
    TaskStateInputRequired,
    TaskStateRejected,
    TaskStateAuthRequired,
    #[serde(other)]
    TaskStateUnspecified,
}

impl From<SpelledState> for TaskState {
    fn from(spelled: SpelledState) -> Self {
        match spelled {
            SpelledState::TaskStateSubmitted => Self::Submitted,
            SpelledState::TaskStateWorking => Self::Working,
            SpelledState::TaskStateCompleted => Self::Completed,
            SpelledState::TaskStateFailed => Self::Failed,
            SpelledState::TaskStateCanceled => Self::Canceled,
            SpelledState::TaskStateInputRequired => Self::InputRequired,
            SpelledState::TaskStateRejected => Self::Rejected,
            SpelledState::TaskStateAuthRequired => Self::AuthRequired,
            SpelledState::TaskStateUnspecified => Self::Unknown,
        }
    }
}

impl From<TaskState> for SpelledState {
    fn from(state: TaskState) -> Self {
        match state {
            TaskState::Submitted => Self::TaskStateSubmitted,
            TaskState::Working => Self::TaskStateWorking,
            TaskState::Completed => Self::TaskStateCompleted,
            TaskState::Failed => Self::TaskStateFailed,
            TaskState::Canceled => Self::TaskStateCanceled,
            TaskState::InputRequired => Self::TaskStateInputRequired,
            TaskState::Rejected => Self::TaskStateRejected,
            TaskState::AuthRequired => Self::TaskStateAuthRequired,
            TaskState::Unknown => Self::TaskStateUnspecified,
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(clippy::enum_variant_names, reason = "the protocol's names, from which the spelling follows")]
pub(crate) enum SpelledRole {
    RoleUser,
    RoleAgent,
    #[serde(other)]
    RoleUnspecified,
}

impl From<SpelledRole> for Role {
    fn from(spelled: SpelledRole) -> Self {
        match spelled {
            SpelledRole::RoleUser => Self::User,
            SpelledRole::RoleAgent => Self::Agent,
            SpelledRole::RoleUnspecified => Self::Unknown,
        }
    }
}

impl From<Role> for SpelledRole {
    fn from(role: Role) -> Self {
        match role {
            Role::User => Self::RoleUser,
            Role::Agent => Self::RoleAgent,
            Role::Unknown => Self::RoleUnspecified,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(state: TaskState, spelled: &str) {
        let spelled = format!("\"{spelled}\"");
        assert_eq!(serde_json::to_string(&state).unwrap(), spelled);
        assert_eq!(serde_json::from_str::<TaskState>(&spelled).unwrap(), state);
    }

    #[test]
    fn states_are_spelled_as_the_protocol_does() {
        check(TaskState::Submitted, "TASK_STATE_SUBMITTED");
        check(TaskState::InputRequired, "TASK_STATE_INPUT_REQUIRED");
        check(TaskState::Unknown, "TASK_STATE_UNSPECIFIED");
        assert_eq!(serde_json::from_str::<TaskState>("\"TASK_STATE_DREAMING\"").unwrap(), TaskState::Unknown);
    }

    #[test]
    fn roles_are_spelled_as_the_protocol_does() {
        assert_eq!(serde_json::to_string(&Role::User).unwrap(), "\"ROLE_USER\"");
        assert_eq!(serde_json::from_str::<Role>("\"ROLE_AGENT\"").unwrap(), Role::Agent);
        assert_eq!(serde_json::from_str::<Role>("\"ROLE_MUSE\"").unwrap(), Role::Unknown);
    }
}
