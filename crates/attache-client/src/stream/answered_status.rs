//! The question that a message answers, as the task showed it before.
//!
//! An agent that gives no stream responds with its task. While the agent begins to work, that may still have the status of the
//! question.

use std::time::Duration;

use tokio::time::Instant;

use crate::RemoteStatus;

/// How long a task may stay as it is, at an agent that tells the time of a status.
const DELAY: Duration = Duration::from_secs(5 * 60);
/// The same where another question with the same words cannot be told from it.
const DELAY_WITHOUT_TIME: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct AnsweredStatus {
    status: RemoteStatus,
    /// From then on it counts as a new question.
    until: Instant,
}

impl AnsweredStatus {
    /// `None` for a task that did not wait.
    pub(super) fn new(status: RemoteStatus) -> Option<Self> {
        let is_question = status.is_interrupted();
        let mut answered = Self { status, until: Instant::now() };
        answered.wait_on();
        is_question.then_some(answered)
    }

    /// The task changes, so the agent works.
    pub(super) fn wait_on(&mut self) {
        let delay = if self.status.timestamp.is_some() { DELAY } else { DELAY_WITHOUT_TIME };
        self.until = Instant::now() + delay;
    }

    pub(super) fn is_still(&self, status: &RemoteStatus) -> bool {
        self.status == *status && Instant::now() < self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TaskState;

    #[tokio::test(start_paused = true)]
    async fn an_old_question_counts_as_a_new_one_only_after_a_time_without_changes() {
        for (timestamp, delay) in [(Some("now".to_owned()), DELAY), (None, DELAY_WITHOUT_TIME)] {
            let status = RemoteStatus { state: Some(TaskState::InputRequired), message: None, timestamp };
            let mut answered = AnsweredStatus::new(status.clone()).unwrap();
            tokio::time::advance(delay / 2).await;
            answered.wait_on();
            tokio::time::advance(delay * 3 / 4).await;
            assert!(answered.is_still(&status));
            assert!(!answered.is_still(&RemoteStatus { timestamp: Some("later".into()), ..status.clone() }));
            tokio::time::advance(delay / 4).await;
            assert!(!answered.is_still(&status));
        }
    }

    #[test]
    fn only_a_task_that_waits_has_a_question() {
        let status = RemoteStatus { state: Some(TaskState::Working), message: None, timestamp: None };
        assert!(AnsweredStatus::new(status).is_none());
    }
}
