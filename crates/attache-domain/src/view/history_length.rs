//! How much of a task's history a client is shown: `historyLength`.

use super::TaskView;
use crate::approval::is_about_approval;
use crate::{AnswerLocation, Message};

impl TaskView {
    /// The newest `length` messages that a client is shown; all of them without a `length`.
    ///
    /// Clients that read answers in status messages take every message of the agent in the history for an answer. So a
    /// task with such answers leaves out what the agent said about approvals.
    pub fn shown_history(&self, length: Option<usize>) -> Vec<&Message> {
        let shows_approvals = self.progress.presentation.answer == AnswerLocation::Artifact;
        let is_shown = |message: &&Message| shows_approvals || !is_about_approval(message);
        let mut newest_first: Vec<&Message> = self.history.iter().rev().map(|message| &**message).collect();
        newest_first.retain(is_shown);
        newest_first.truncate(length.unwrap_or(usize::MAX));
        newest_first.reverse();
        newest_first
    }
}
