//! The state of a task's latest prompt. Coarser than A2A's task states.

use crate::{Message, TaskState, TaskView, TurnPhase};

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
    /// `ended`: how the turn has ended; `None` while it goes on. A task that stays open for the next prompt is then completed,
    /// too, unless its turn failed.
    pub fn of(state: TaskState, ended: Option<TurnResult>) -> Self {
        match (state, ended) {
            (TaskState::Completed, _) | (TaskState::InputRequired, Some(TurnResult::Done)) => Self::Completed,
            (TaskState::Failed | TaskState::Rejected | TaskState::Canceled, _)
            | (TaskState::InputRequired | TaskState::AuthRequired, Some(_)) => Self::Failed,
            (TaskState::Submitted | TaskState::Working, _)
            | (TaskState::InputRequired | TaskState::AuthRequired, None) => Self::Running,
        }
    }

    pub fn of_view(view: &TaskView) -> Self {
        let is_over = view.progress.turn.phase == TurnPhase::Over;
        Self::of(view.status.state, is_over.then(|| TurnResult::of(view.status.message.as_deref())))
    }

    /// The states that a task may have then.
    pub fn task_states(self) -> impl Iterator<Item = TaskState> {
        let is_possible = move |state: &TaskState| ENDS.map(|ended| Self::of(*state, ended)).contains(&self);
        TaskState::ALL.into_iter().filter(is_possible)
    }
}

const ENDS: [Option<TurnResult>; 3] = [None, Some(TurnResult::Done), Some(TurnResult::Failed)];

/// How a turn has ended, where the state of the task may not show it: a session goes on after a turn that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnResult {
    Done,
    Failed,
}

impl TurnResult {
    /// By the last message of the turn.
    pub fn of(message: Option<&Message>) -> Self {
        let has_failed = message.is_some_and(Message::is_about_failure);
        if has_failed { Self::Failed } else { Self::Done }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_is_found_by_the_states_that_it_may_have() {
        let states = |prompt: PromptState| prompt.task_states().collect::<Vec<_>>();
        assert_eq!(states(PromptState::Completed), [TaskState::Completed, TaskState::InputRequired]);
        assert_eq!(states(PromptState::Failed).len(), 5);
        for state in TaskState::ALL {
            for ended in ENDS {
                assert!(states(PromptState::of(state, ended)).contains(&state), "{state:?}");
            }
        }
    }
}
