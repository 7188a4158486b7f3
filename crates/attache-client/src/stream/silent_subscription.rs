//! Looks at a task whose subscription brings nothing.
//!
//! Some agents accept a subscription to a task that is over, or that works no longer, and never send an event. An agent that
//! numbers its events is not looked at: its subscription begins where the last one ended.

use std::time::Duration;

use tokio::time::Instant;

use super::{EventSource, EventStream};
use crate::StreamEvent;

/// From the beginning of the subscription; the delay doubles with each look.
const INITIAL_LOOK_DELAY: Duration = Duration::from_secs(2);
const MAX_LOOK_DELAY: Duration = Duration::from_secs(30);

/// When to look next.
#[derive(Debug, Default)]
pub(super) struct LookSchedule {
    next: Option<Instant>,
    delay: Duration,
    has_looked: bool,
}

impl LookSchedule {
    /// A subscription begins.
    pub(super) fn begin() -> Self {
        let delay = INITIAL_LOOK_DELAY;
        Self { next: Some(Instant::now() + delay), delay, has_looked: false }
    }

    pub(super) fn next(&self) -> Option<Instant> {
        self.next
    }

    fn looked(&mut self) {
        self.has_looked = true;
        self.delay = self.delay.saturating_mul(2).min(MAX_LOOK_DELAY);
        self.next = Some(Instant::now() + self.delay);
    }
}

impl EventStream {
    /// The agent has accepted a subscription and sends nothing, so the task is fetched from time to time.
    pub fn is_silent(&self) -> bool {
        self.looks.has_looked && matches!(self.source, EventSource::Open(_))
    }

    /// Fetches the task, and goes on with it if it has settled.
    pub(super) async fn look_at_task(&mut self) {
        let Some(task) = self.task.clone() else {
            self.looks = LookSchedule::default();
            return;
        };
        match self.client.get(task.as_str(), None).await {
            Ok(task) if task.status.is_terminal() || task.status.is_interrupted() => {
                self.source = EventSource::First(Box::new(StreamEvent::Task(Box::new(task))));
            }
            Ok(_) => self.looks.looked(),
            Err(error) => {
                tracing::debug!(%error, "a task cannot be fetched beside its subscription");
                self.looks.looked();
            }
        }
    }
}
