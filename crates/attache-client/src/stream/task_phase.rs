//! Whether more events of a task are due.

use tokio::time::{Instant, timeout_at};

/// What the task's latest status says about further events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TaskPhase {
    Works,
    /// It waits for input or a credential. Events until then still count.
    Asks {
        until: Instant,
    },
    /// No event is due.
    Over,
}

/// Waits for `next`; `None` once the time after a question is over, or the time until `look` while the task works. An agent
/// that always has another event gets no more time after a question.
pub(super) async fn until_look<T>(
    phase: TaskPhase,
    look: Option<Instant>,
    next: impl Future<Output = T>,
) -> Option<T> {
    match (phase, look) {
        (TaskPhase::Asks { until }, _) if Instant::now() >= until => None,
        (TaskPhase::Asks { until }, _) => timeout_at(until, next).await.ok(),
        (TaskPhase::Works, Some(look)) => timeout_at(look, next).await.ok(),
        (TaskPhase::Works, None) | (TaskPhase::Over, _) => Some(next.await),
    }
}
