//! The names of roles and states in each JSON form.

use attache_domain::{Role, TaskState};

use crate::JsonForm;

pub(crate) fn role_name(json_form: JsonForm, role: Role) -> &'static str {
    match (json_form, role) {
        (JsonForm::V0_3Rpc, Role::User) => "user",
        (JsonForm::V0_3Rpc, Role::Agent) => "agent",
        (JsonForm::V1_0 | JsonForm::V0_3Rest, Role::User) => "ROLE_USER",
        (JsonForm::V1_0 | JsonForm::V0_3Rest, Role::Agent) => "ROLE_AGENT",
    }
}

pub(crate) fn state_name(json_form: JsonForm, state: TaskState) -> &'static str {
    match json_form {
        JsonForm::V0_3Rpc => match state {
            TaskState::Submitted => "submitted",
            TaskState::Working => "working",
            TaskState::Completed => "completed",
            TaskState::Failed => "failed",
            TaskState::Canceled => "canceled",
            TaskState::InputRequired => "input-required",
            TaskState::Rejected => "rejected",
            TaskState::AuthRequired => "auth-required",
        },
        JsonForm::V1_0 | JsonForm::V0_3Rest => match state {
            TaskState::Submitted => "TASK_STATE_SUBMITTED",
            TaskState::Working => "TASK_STATE_WORKING",
            TaskState::Completed => "TASK_STATE_COMPLETED",
            TaskState::Failed => "TASK_STATE_FAILED",
            // The only state whose name differs between the versions.
            TaskState::Canceled if json_form == JsonForm::V0_3Rest => "TASK_STATE_CANCELLED",
            TaskState::Canceled => "TASK_STATE_CANCELED",
            TaskState::InputRequired => "TASK_STATE_INPUT_REQUIRED",
            TaskState::Rejected => "TASK_STATE_REJECTED",
            TaskState::AuthRequired => "TASK_STATE_AUTH_REQUIRED",
        },
    }
}

pub(crate) fn state_named(json_form: JsonForm, name: &str) -> Option<TaskState> {
    TaskState::ALL.into_iter().find(|state| state_name(json_form, *state) == name)
}

/// The state that an agent means: the names of every version are read, in any case and with either spelling of "canceled".
pub(crate) fn state_meant(name: &str) -> Option<TaskState> {
    let name = name.trim().to_ascii_lowercase().replace('_', "-");
    let name = name.strip_prefix("task-state-").unwrap_or(&name);
    let name = if name == "cancelled" { "canceled" } else { name };
    state_named(JsonForm::V0_3Rpc, name)
}

/// The state with this protobuf number; `None` for zero, "unspecified".
pub(crate) fn state_from_number(number: i64) -> Option<TaskState> {
    let index = usize::try_from(number).ok()?.checked_sub(1)?;
    BY_NUMBER.get(index).copied()
}

/// Numbers 1 to 8 of the protobuf enum, the same in both versions.
const BY_NUMBER: [TaskState; 8] = [
    TaskState::Submitted,
    TaskState::Working,
    TaskState::Completed,
    TaskState::Failed,
    TaskState::Canceled,
    TaskState::InputRequired,
    TaskState::Rejected,
    TaskState::AuthRequired,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_states_of_agents_are_read_in_every_spelling() {
        for json_form in [JsonForm::V0_3Rpc, JsonForm::V1_0, JsonForm::V0_3Rest] {
            for state in TaskState::ALL {
                assert_eq!(state_meant(state_name(json_form, state)), Some(state));
                assert_eq!(state_meant(&state_name(json_form, state).to_lowercase()), Some(state));
            }
        }
        assert_eq!(state_meant("cancelled"), Some(TaskState::Canceled));
        assert_eq!(state_meant("INPUT_REQUIRED"), Some(TaskState::InputRequired));
        for unknown in ["unknown", "", "paused", "TASK_STATE_UNSPECIFIED", "task-state-"] {
            assert_eq!(state_meant(unknown), None);
        }
    }
}
