//! What should happen now? Nothing outside the task's progress decides it, so a restart is the same code path as running.

use crate::{Progress, TurnPhase};

/// What the runner should do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Begin the turn, then perform it.
    StartTurn { turn: u32 },
    /// Go on with a turn that was begun, here or before a restart.
    ContinueTurn { turn: u32 },
    /// Stop, because somebody asked for it.
    Cancel,
}

impl Progress {
    /// `None`: nothing to do until somebody outside acts.
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
