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

/// Waits for `next`; `None` once the time after a question is over. An agent that always has another event gets no more time.
pub(super) async fn until_end_of_question<T>(phase: TaskPhase, next: impl Future<Output = T>) -> Option<T> {
    match phase {
        TaskPhase::Asks { until } if Instant::now() >= until => None,
        TaskPhase::Asks { until } => timeout_at(until, next).await.ok(),
        TaskPhase::Works | TaskPhase::Over => Some(next.await),
    }
}
