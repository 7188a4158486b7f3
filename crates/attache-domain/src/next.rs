//! The next step of a task. It depends only on the task's progress, so a restart takes the same code path.

use crate::{Progress, TurnPhase};

/// What the runner should do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Start the turn, then run it.
    StartTurn { turn: u32 },
    /// Continue a turn that was started here or before a restart.
    ContinueTurn { turn: u32 },
    /// Stop, because a client cancelled the task.
    Cancel,
    /// Stop the turn, because a client asked for it. Never from the log: a restart continues the turn.
    StopTurn { turn: u32 },
}

impl Progress {
    /// `None`: nothing to do until a client acts.
    pub fn next(&self) -> Option<Step> {
        let turn = self.turn.number;
        match self.turn.phase {
            TurnPhase::Over => None,
            TurnPhase::Due | TurnPhase::Running if self.cancel_requested => Some(Step::Cancel),
            TurnPhase::Due => Some(Step::StartTurn { turn }),
            TurnPhase::Running if self.waits_for_person() => None,
            TurnPhase::Running => Some(Step::ContinueTurn { turn }),
        }
    }
}
