//! The inputs of a session.

use attache_domain::{CallId, CommandCall, Fault};

#[derive(Debug, Clone, PartialEq)]
pub enum SessionInput {
    /// For the model. It is queued while the session is busy.
    Prompt(String),
    /// For the agent itself.
    Command(CommandCall),
    /// The answer to the open question about a call.
    Answer { call: CallId, answer: TypedAnswer },
    /// Ends the running turn. The session stays.
    StopTurn,
    /// Cancels one running call. The turn goes on.
    CancelCall(CallId),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypedAnswer {
    /// The id of an offered choice.
    Choice(String),
    /// The words that answer a question of a tool.
    Words(String),
}

/// Why an input was not taken.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InputRefusal {
    /// There is no such command, or it cannot be given like this.
    #[error("{0}")]
    BadCommand(String),
    #[error(transparent)]
    Refused(#[from] Fault),
    #[error("nothing is being worked on")]
    NothingToStop,
}
