//! Measures the time without data: first a notice, then a timeout.

use std::future::Future;
use std::time::Duration;

use attache_model::AnswerPiece;
use attache_net::NetError;
use tokio::time::{Instant, sleep_until};

pub(super) struct SilenceTimer {
    since: Instant,
    timeout: Duration,
    /// When to notify people, if they have not been notified yet.
    notice_at: Option<Instant>,
}

pub(super) enum TimedOutcome<T> {
    This(T),
    /// The silence continues, and people should be notified.
    Nothing(AnswerPiece),
    /// The silence has lasted too long.
    TooLate(NetError),
}

/// After this time without data a notice says that the request is still waiting.
const NOTICE_DELAY: Duration = Duration::from_secs(20);

impl SilenceTimer {
    pub(super) fn new(timeout: Duration) -> Self {
        let since = Instant::now();
        Self { since, timeout, notice_at: (NOTICE_DELAY < timeout).then(|| since + NOTICE_DELAY) }
    }

    pub(super) async fn until<T>(&mut self, coming: impl Future<Output = T>) -> TimedOutcome<T> {
        let ends_at = self.since + self.timeout;
        tokio::select! {
            biased;
            this = coming => TimedOutcome::This(this),
            () = sleep_until(self.notice_at.unwrap_or(ends_at)), if self.notice_at.is_some() => {
                self.notice_at = None;
                TimedOutcome::Nothing(AnswerPiece::Waiting { silent: self.since.elapsed(), timeout: self.timeout })
            }
            () = sleep_until(ends_at) => TimedOutcome::TooLate(NetError::IdleTimeout { after: self.timeout }),
        }
    }
}
