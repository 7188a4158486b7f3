//! The options of the session.

use std::time::Duration;

use attache_domain::DuplicateWindow;

use crate::PushSetup;
use crate::history::HistoryLimits;

/// Options of the session.
#[derive(Debug, Clone)]
pub struct SessionOptions {
    /// Media types taken in message parts; `image/*` and `*/*` work.
    pub input_modes: Vec<String>,
    /// Media types the agent may produce.
    pub output_modes: Vec<String>,
    /// How long a cancel call waits for the task to stop before it answers with the state that holds.
    pub cancel_patience: Duration,
    /// A message that names a context but no task is the answer to the one task of the context that waits for input.
    pub answer_by_context: bool,
    /// Who carries push notifications; without it there are none.
    pub push: Option<PushSetup>,
    /// How long a message that is sent again counts as the same, for callers to whom an id alone does not say it.
    pub duplicate_sends: DuplicateWindow,
    /// How long the history of a task may become.
    pub history: HistoryLimits,
    /// A cancel never ends a session: the person at whose terminal it is does.
    pub keeps_sessions: bool,
    /// How long a reserved id waits for its first message while no client reads it.
    pub reservation_timeout: Duration,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            input_modes: vec!["*/*".into()],
            output_modes: vec!["text/plain".into()],
            cancel_patience: Duration::from_secs(5),
            answer_by_context: true,
            duplicate_sends: DuplicateWindow::default(),
            push: None,
            history: HistoryLimits::default(),
            keeps_sessions: false,
            reservation_timeout: Duration::from_secs(24 * 3600),
        }
    }
}
