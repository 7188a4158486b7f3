//! The state of a task's latest prompt. Coarser than A2A's task states.

use crate::{TaskState, TaskView, TurnPhase};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptState {
    /// The task waits for its first message, works, or waits for an answer.
    Running,
    /// The prompt is settled.
    Completed,
    /// It failed, was canceled or rejected, or needs a credential.
    Failed,
}

impl PromptState {
    /// `is_over`: the turn has ended. A task that stays open for the next prompt is then completed, too.
    pub fn of(state: TaskState, is_over: bool) -> Self {
        match state {
            TaskState::Completed => Self::Completed,
            TaskState::InputRequired if is_over => Self::Completed,
            TaskState::AuthRequired if is_over => Self::Failed,
            TaskState::Submitted
            | TaskState::Working
            | TaskState::InputRequired
            | TaskState::AuthRequired => Self::Running,
            TaskState::Failed | TaskState::Rejected | TaskState::Canceled => Self::Failed,
        }
    }

    pub fn of_view(view: &TaskView) -> Self {
        Self::of(view.status.state, view.progress.turn.phase == TurnPhase::Over)
    }

    /// The states that a task may have then.
    pub fn task_states(self) -> impl Iterator<Item = TaskState> {
        let is_possible =
            move |state: &TaskState| [true, false].map(|over| Self::of(*state, over)).contains(&self);
        TaskState::ALL.into_iter().filter(is_possible)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_is_found_by_the_states_that_it_may_have() {
        let states = |prompt: PromptState| prompt.task_states().collect::<Vec<_>>();
        assert_eq!(states(PromptState::Completed), [TaskState::Completed, TaskState::InputRequired]);
        assert_eq!(states(PromptState::Failed).len(), 4);
        for state in TaskState::ALL {
            for is_over in [true, false] {
                assert!(states(PromptState::of(state, is_over)).contains(&state), "{state:?}");
            }
        }
    }
}
