//! Makes up for events that were lost between a cut and the next subscription.
//!
//! An agent without event ids may begin a subscription with the next event and not with the task, as a2a-sdk 0.3 for Python
//! does. A reader that joins the pieces would then miss some in the middle. The status that ends the task or asks something is
//! held back until the whole task is fetched, which takes its place.

use super::{EventSource, EventStream, TaskPhase};
use crate::StreamEvent;

/// What an agent without event ids has not shown.
#[derive(Debug, Default)]
pub(super) struct LostEvents {
    /// Some events may be missing since the task was shown last.
    are_possible: bool,
    /// The status in whose place the task is given.
    held: Option<Box<StreamEvent>>,
}

impl LostEvents {
    /// Takes note of an event. `after_cut`: it is the first one of a new connection to an agent without event ids.
    pub(super) fn note(&mut self, event: &StreamEvent, after_cut: bool) {
        match event {
            StreamEvent::Task(_) | StreamEvent::Message(_) => self.are_possible = false,
            StreamEvent::StatusUpdate(_) | StreamEvent::ArtifactUpdate(_) => self.are_possible |= after_cut,
        }
    }

    /// Keeps the event back if the whole task has to be fetched first.
    pub(super) fn hold(&mut self, event: Option<StreamEvent>) -> Option<StreamEvent> {
        let settles = |event: &StreamEvent| {
            event.status().is_some_and(|status| status.is_terminal() || status.is_interrupted())
        };
        if !self.are_possible || !event.as_ref().is_some_and(settles) {
            return event;
        }
        self.held = event.map(Box::new);
        None
    }

    pub(super) fn has_held(&self) -> bool {
        self.held.is_some()
    }
}

impl EventStream {
    /// The whole task in place of the status that was held back. If it cannot be fetched, the status.
    pub(super) async fn fetch_lost(&mut self) -> Option<StreamEvent> {
        let fetched = match &self.task {
            Some(task) => Some(self.client.get(task.as_str(), None).await),
            None => None,
        };
        let status = self.lost.held.take()?;
        if self.phase == TaskPhase::Over {
            self.source = EventSource::Over;
        }
        match fetched {
            Some(Ok(task)) if task.status.state == status.status().and_then(|status| status.state) => {
                self.lost.are_possible = false;
                Some(StreamEvent::Task(Box::new(task)))
            }
            Some(Err(error)) => {
                tracing::warn!(%error, "events of a task are lost, and it cannot be fetched");
                Some(*status)
            }
            _ => Some(*status),
        }
    }
}
